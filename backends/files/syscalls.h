#pragma once

// The system calls of the files backend behind one seam, so that tests can fail the n-th of them.
// Each is one plain call that strace and LD_PRELOAD see too; nothing is retried or interpreted
// here.

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace fenceline::backends::files {

/// What every call returns: the call's result, 0 or more, or `-errno`.
/// All are thread-safe, and none throws.
class Syscalls {
 public:
  Syscalls() = default;
  Syscalls(const Syscalls&) = delete;
  Syscalls& operator=(const Syscalls&) = delete;
  virtual ~Syscalls() = default;

  /// `openat2` with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV; adds O_CLOEXEC.
  virtual int open_beneath(int dir, const char* path, int flags) = 0;

  /// `openat` with O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode 0644.
  virtual int create(int dir, const char* name) = 0;

  virtual ssize_t write(int fd, const void* data, std::size_t bytes) = 0;
  virtual ssize_t pread(int fd, void* data, std::size_t bytes, std::uint64_t offset_bytes) = 0;
  virtual int fsync(int fd) = 0;
  virtual int rename(int from_dir, const char* from, int to_dir, const char* to) = 0;

  /// `unlinkat` without AT_REMOVEDIR: never a directory.
  virtual int unlink(int dir, const char* name) = 0;

  /// `mkdirat`, mode 0755.
  virtual int mkdir(int dir, const char* name) = 0;
  virtual int set_xattr(int fd, const char* name, const void* value, std::size_t bytes) = 0;
  virtual ssize_t get_xattr(int fd, const char* name, void* value, std::size_t bytes) = 0;
  virtual int stat(int fd, struct stat& status) = 0;

  /// `fstatat` with AT_SYMLINK_NOFOLLOW; `name` is one path segment.
  virtual int stat_at(int dir, const char* name, struct stat& status) = 0;

  /// Wall clock in nanoseconds since 1970, to tell the age of a file's metadata. Never used for a
  /// decision of the protocol.
  virtual std::int64_t wall_clock_ns() = 0;
};

/// The calls of this machine; lives for the whole process.
Syscalls& real_syscalls();

/// Calls `call` again while a signal interrupts it. Not for fsync and rename, whose effect after a
/// failure is unsure.
template <typename Call>
auto uninterrupted(Call call) -> decltype(call()) {
  auto result = call();
  while (result == -EINTR) {
    result = call();
  }
  return result;
}

}  // namespace fenceline::backends::files
