#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/async.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {

/// An open directory that several commits may hold at once.
using SharedFd = std::shared_ptr<const base::UniqueFd>;

/// Makes renames durable in groups: one fsync of a directory serves everything that was renamed in
/// it before that fsync began. Thread-safe.
class DirectorySync {
 public:
  /// `fsync`: returns 0 or `-errno`; may block. `post`: runs its argument on another thread, where
  /// blocking is allowed; must run it.
  DirectorySync(std::function<int(int fd)> fsync, std::function<void(std::function<void()>)> post);

  /// Makes durable what the caller has changed in `directory` before this call.
  /// Does: runs an fsync now, on the caller's thread, or joins the next one if one of this
  /// directory is running. `inode` says which calls mean the same directory. Success and failure:
  /// `done` is called exactly once, on some thread, with 0 or `-errno`. After the first failure
  /// nothing is tried any more and every later call gets that error: a failed fsync is never
  /// repeated (facts, "Files").
  void sync(std::uint64_t inode, SharedFd directory, base::Done<int> done);

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< Also held by rounds that are still running.
};

}  // namespace fenceline::backends::files
