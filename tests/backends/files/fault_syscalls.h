#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "backends/files/syscalls.h"

namespace fenceline::testing {

/// The calls that can be made to fail.
enum class Call : std::uint8_t {
  kOpen,
  kCreate,
  kWrite,
  kRead,
  kFsync,
  kRename,
  kUnlink,
  kMkdir,
  kSetXattr,
  kGetXattr,
  kStat,
  kStatAt,
};

/// The machine's system calls, of which the n-th of one kind fails once.
class FaultSyscalls final : public backends::files::Syscalls {
 public:
  /// The `nth` call of this kind from now on (1 is the next) fails with `error`. With
  /// `after_the_fact` it does its work first and then says that it failed.
  void fail(Call call, int nth, int error, bool after_the_fact = false) {
    call_ = call;
    error_ = error;
    after_the_fact_ = after_the_fact;
    hit_ = false;
    left_ = nth;
  }

  void disarm() { left_ = 0; }

  /// True if the failure has been given out since `fail`.
  [[nodiscard]] bool hit() const { return hit_; }

  /// The number of fsyncs that were tried.
  [[nodiscard]] int fsyncs() const { return fsyncs_; }

  /// No write takes more than this.
  void limit_writes(std::size_t bytes) { max_write_bytes_ = bytes; }

  int open_beneath(int dir, const char* path, int flags) override {
    return guard(Call::kOpen, [&] { return real_.open_beneath(dir, path, flags); });
  }
  int create(int dir, const char* name) override {
    return guard(Call::kCreate, [&] { return real_.create(dir, name); });
  }
  ssize_t write(int fd, const void* data, std::size_t bytes) override {
    const std::size_t some = std::min(bytes, max_write_bytes_.load());
    return guard(Call::kWrite, [&] { return real_.write(fd, data, some); });
  }
  ssize_t pread(int fd, void* data, std::size_t bytes, std::uint64_t offset_bytes) override {
    return guard(Call::kRead, [&] { return real_.pread(fd, data, bytes, offset_bytes); });
  }
  int fsync(int fd) override {
    ++fsyncs_;
    return guard(Call::kFsync, [&] { return real_.fsync(fd); });
  }
  int rename(int from_dir, const char* from, int to_dir, const char* to) override {
    return guard(Call::kRename, [&] { return real_.rename(from_dir, from, to_dir, to); });
  }
  int unlink(int dir, const char* name) override {
    return guard(Call::kUnlink, [&] { return real_.unlink(dir, name); });
  }
  int mkdir(int dir, const char* name) override {
    return guard(Call::kMkdir, [&] { return real_.mkdir(dir, name); });
  }
  int set_xattr(int fd, const char* name, const void* value, std::size_t bytes) override {
    return guard(Call::kSetXattr, [&] { return real_.set_xattr(fd, name, value, bytes); });
  }
  ssize_t get_xattr(int fd, const char* name, void* value, std::size_t bytes) override {
    return guard(Call::kGetXattr, [&] { return real_.get_xattr(fd, name, value, bytes); });
  }
  int stat(int fd, struct stat& status) override {
    return guard(Call::kStat, [&] { return real_.stat(fd, status); });
  }
  int stat_at(int dir, const char* name, struct stat& status) override {
    return guard(Call::kStatAt, [&] { return real_.stat_at(dir, name, status); });
  }
  std::int64_t wall_clock_ns() override { return real_.wall_clock_ns(); }

 private:
  template <typename Work>
  auto guard(Call call, Work work) -> decltype(work()) {
    if (call != call_ || left_ <= 0 || --left_ > 0) {
      return work();
    }
    hit_ = true;
    if (after_the_fact_) {
      work();
    }
    return -error_;
  }

  backends::files::Syscalls& real_ = backends::files::real_syscalls();
  std::atomic<Call> call_ = Call::kOpen;
  std::atomic<int> left_ = 0;
  std::atomic<int> error_ = 0;
  std::atomic<bool> after_the_fact_ = false;
  std::atomic<bool> hit_ = false;
  std::atomic<int> fsyncs_ = 0;
  std::atomic<std::size_t> max_write_bytes_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace fenceline::testing
