#pragma once

#include <optional>
#include <string>

#include "backends/files/store.h"
#include "backends/files/syscalls.h"
#include "base/error.h"

namespace fenceline::backends::files {

/// Prepares a root for serving, as `open_files_backend` says: makes it, takes its lock, sweeps its
/// temporary files, tries out the file system and, unless `ledger_identity` is empty, checks or
/// writes down with which ledger the root is used. `durable` as with `SyncMode::kFull`.
/// Failure: `kStorageFailed` (`kInsufficientStorage` on a full disk) with the path, the reason and
/// what to do; nothing but directories and the lock is left behind. Blocks.
base::Result<RootDirectory> open_root(Syscalls& calls, const std::string& path, bool durable,
                                      const std::string& ledger_identity);

/// Whether `path` still leads to the root that was opened through it.
/// Success: nothing. Otherwise a sentence with the path: it is gone, or something else is there.
/// One metadata lookup.
std::optional<std::string> displaced_root(const std::string& path, const RootDirectory& opened);

}  // namespace fenceline::backends::files
