#pragma once

#include <string>

#include "backends/files/syscalls.h"
#include "base/error.h"

namespace fenceline::backends::files {

/// The private directories of a root whose lock is held.
struct PrivateDirectories {
  int root = -1;       ///< The root itself.
  int own = -1;        ///< `.fenceline`.
  int temporary = -1;  ///< `.fenceline/tmp`.
};

/// Checks that the files of a root were fenced by the ledger with this identity: by another one,
/// the marks that shut old writers out are unknown.
/// Does: compares it with `.fenceline/ledger`; reads only.
/// Success: true if it is the same, false if the root was used with no ledger yet.
/// Failure: `kStorageFailed` with a sentence that names the root and both ledgers. Blocks.
base::Result<bool> check_ledger(Syscalls& calls, const PrivateDirectories& directories,
                                const std::string& root, const std::string& identity);

/// Writes down that the root is used with the ledger `identity`; durable when it returns.
/// Failure: `kStorageFailed` or `kInsufficientStorage`; the root then has no ledger. Blocks.
base::Result<void> remember_ledger(Syscalls& calls, const PrivateDirectories& directories,
                                   const std::string& root, const std::string& identity);

/// Refuses a root inside another one, of whatever process: the same files would be behind two
/// fences. Does: looks for `.fenceline/lock` in each directory above `root`, which need not exist
/// yet; symlinks are resolved first.
/// Failure: `kStorageFailed` with a sentence that names both. Blocks.
base::Result<void> refuse_nested_root(const std::string& root);

}  // namespace fenceline::backends::files
