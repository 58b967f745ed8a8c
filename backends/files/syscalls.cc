#include "backends/files/syscalls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

namespace fenceline::backends::files {
namespace {

template <typename Result>
Result checked(Result result) {
  return result < 0 ? static_cast<Result>(-errno) : result;
}

class RealSyscalls final : public Syscalls {
 public:
  int open_beneath(int dir, const char* path, int flags) override {
    struct open_how how {};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    // glibc 2.36 has no wrapper.
    return static_cast<int>(checked(::syscall(SYS_openat2, dir, path, &how, sizeof(how))));
  }

  int create(int dir, const char* name) override {
    constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
    return checked(::openat(dir, name, kFlags, 0644));
  }

  ssize_t write(int fd, const void* data, std::size_t bytes) override {
    return checked(::write(fd, data, bytes));
  }

  ssize_t pread(int fd, void* data, std::size_t bytes, std::uint64_t offset_bytes) override {
    return checked(::pread(fd, data, bytes, static_cast<off_t>(offset_bytes)));
  }

  int fsync(int fd) override { return checked(::fsync(fd)); }

  int rename(int from_dir, const char* from, int to_dir, const char* to) override {
    return checked(::renameat(from_dir, from, to_dir, to));
  }

  int unlink(int dir, const char* name) override { return checked(::unlinkat(dir, name, 0)); }

  int mkdir(int dir, const char* name) override { return checked(::mkdirat(dir, name, 0755)); }

  int set_xattr(int fd, const char* name, const void* value, std::size_t bytes) override {
    return checked(::fsetxattr(fd, name, value, bytes, 0));
  }

  ssize_t get_xattr(int fd, const char* name, void* value, std::size_t bytes) override {
    return checked(::fgetxattr(fd, name, value, bytes));
  }

  int stat(int fd, struct stat& status) override { return checked(::fstat(fd, &status)); }

  int stat_at(int dir, const char* name, struct stat& status) override {
    return checked(::fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW));
  }

  std::int64_t wall_clock_ns() override {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  }
};

}  // namespace

Syscalls& real_syscalls() {
  static RealSyscalls calls;
  return calls;
}

}  // namespace fenceline::backends::files
