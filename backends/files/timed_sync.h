#pragma once

#include <functional>

#include "backends/files/files_backend.h"
#include "backends/files/syscalls.h"

namespace fenceline::backends::files {

/// fsync, with a report of how long it took. Copyable. Thread-safe if `on_sync` is.
struct TimedSync {
  Syscalls& calls;
  std::function<void(SyncedObject object, double seconds)> on_sync;  ///< May be empty.

  /// 0 or `-errno`. Reports also an fsync that failed: a disk that hangs and then fails is slow.
  int operator()(int fd, SyncedObject object) const;
};

}  // namespace fenceline::backends::files
