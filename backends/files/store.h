#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "backends/files/directory_sync.h"
#include "backends/files/files_backend.h"
#include "backends/files/service_state.h"
#include "backends/files/syscalls.h"
#include "backends/files/timed_sync.h"
#include "base/unique_fd.h"
#include "base/worker_pool.h"

namespace fenceline::backends::files {

/// The directories of one root while the backend is open; see `root_directory.h`.
struct RootDirectory {
  SharedFd root;
  base::UniqueFd temporary;  ///< `.fenceline/tmp`.
  base::UniqueFd lock;       ///< Holds the lock until it is closed.
  dev_t device = 0;          ///< The only file system that is served.
};

/// What every part of an open files backend shares. Held by the backend and by each effect that is
/// under way, so that an effect never outlives what it works on. All members are thread-safe.
struct Store {
  /// `nonce`: 64 random bits that no other run of the process has.
  Store(const FilesOptions& options, RootDirectory opened, std::uint64_t nonce);

  /// A text that no other call, on no run of the process, has given: for temporary files and
  /// entity tags. Hexadecimal digits and `-`.
  std::string fresh_nonce();

  /// The mutex that serialises commits on this resource. Some resources share one. Taken only on a
  /// thread that does the commit, never across a suspension.
  std::mutex& stripe(std::string_view name);

  [[nodiscard]] bool durable() const { return sync == SyncMode::kFull; }

  Syscalls& calls;
  base::WorkerPool& pool;
  const SyncMode sync;
  const TimedSync timed_sync;
  const RootDirectory directory;
  ServiceState service;
  DirectorySync directory_sync;

  /// Held exclusively while directories are made and their entries made durable, shared while
  /// looking for one: who finds a directory may then rely on it being durable.
  std::shared_mutex making_directories;

 private:
  static constexpr std::size_t kStripes = 256;

  std::string nonce_;  ///< As text, with `-`.
  std::atomic<std::uint64_t> counter_ = 0;
  std::array<std::mutex, kStripes> stripes_;
};

}  // namespace fenceline::backends::files
