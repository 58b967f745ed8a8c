#pragma once

// A directory tree behind a route (design, 8): staged uploads, commit by rename, extended
// attributes for content type, entity tag and stamp.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "base/error.h"
#include "base/worker_pool.h"

namespace fenceline::backends {

namespace files {
class Syscalls;
}

/// How durable an answered write is.
enum class SyncMode : std::uint8_t {
  kFull,  ///< fsync of the file before the rename, of its directory before the answer. Strict.
  kNone,  ///< No fsync: a power cut may take back answered writes. The fence stays durable.
};

/// What `open_files_backend` needs.
/// What an fsync makes durable.
enum class SyncedObject : std::uint8_t {
  kFile,       ///< The content of a new file.
  kDirectory,  ///< Names: of renamed, removed and made entries.
};

struct FilesOptions {
  /// The directory whose content is served; made (mode 0755) if it is missing. May itself be
  /// reached through symlinks; inside it none is followed.
  std::string root;

  /// Runs what blocks: fsync, directory listings and, with `kFull`, commits. Must outlive the
  /// backend.
  base::WorkerPool& pool;

  SyncMode sync = SyncMode::kFull;

  /// Names the marks that fence this root; opaque. Kept durably in `.fenceline/ledger`: a root that
  /// was used with other marks is refused, since they shut writers out that these let pass. Empty:
  /// not looked at and not kept (for tests).
  std::string ledger_identity = {};

  /// Called once, from any thread, when a failed fsync takes the backend out of service for writes
  /// until restart. Must not block and not throw. May be empty.
  std::function<void(const std::string& message)> on_failure = {};

  /// Called after each fsync of a commit, from any thread, with the seconds that it took, also if
  /// it failed. Must not block and not throw. May be empty.
  std::function<void(SyncedObject object, double seconds)> on_sync = {};

  /// Nothing for the machine's own system calls; tests inject failing ones. Must outlive the
  /// backend.
  files::Syscalls* syscalls = nullptr;
};

/// Opens a directory as a backend.
///
/// Does: makes the root and its private directory `.fenceline` (mode 0700), takes the lock there
/// until the backend and every effect that it has begun have ended, removes temporary files that an
/// earlier process left, and tries out what is needed: openat2 (Linux 5.6) and extended attributes
/// of users. With `SyncMode::kFull` it also makes durable what an earlier process may have left in
/// memory. The name `.fenceline` at the top of the root is reserved: `kForbiddenName`, and not
/// listed.
///
/// Success: the backend. Its entity tags are strong and never repeat for different content, except
/// that files put there by others, changed less than two seconds ago, get weak ones; content that
/// others change in place gets a new tag by its modification time and size.
/// Failure: `kStorageFailed` with a sentence that names the path and says what to do: no directory,
/// no permission, locked by another process, inside another root, used with another ledger,
/// unsuitable file system.
/// Concurrency: blocks; for the start of the process. The result is thread-safe.
base::Result<std::unique_ptr<Backend>> open_files_backend(FilesOptions options);

}  // namespace fenceline::backends
