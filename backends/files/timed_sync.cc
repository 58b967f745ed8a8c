#include "backends/files/timed_sync.h"

#include <chrono>

namespace fenceline::backends::files {

int TimedSync::operator()(int fd, SyncedObject object) const {
  if (!on_sync) {
    return calls.fsync(fd);
  }
  const auto began = std::chrono::steady_clock::now();
  const int code = calls.fsync(fd);
  on_sync(object, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return code;
}

}  // namespace fenceline::backends::files
