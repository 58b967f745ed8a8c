// A library for LD_PRELOAD that makes one system call of a process fail, and moves its wall clock.
//
//   FENCELINE_FAULT_UNDER=FOLDER   only calls on files below it count
//   FENCELINE_FAULT_LOG=FILE       gets a line for each of them: "<call> <n> <what> <path>"
//   FENCELINE_FAULT=CALL:N:WHAT    the N-th CALL does WHAT: the name of an error, or "short" (a
//                                  write that takes half)
//   FENCELINE_CLOCK=FILE           8 bytes, shared: nanoseconds added to CLOCK_REALTIME, at any
//   time
//
// It sees the calls of every library that goes through libc, so those of SQLite too. It does
// nothing without these variables.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "tests/faults/preload/calls.h"

namespace fenceline::testing {
namespace {

struct Fault {
  std::string call;
  std::uint64_t n = 0;
  int error = 0;  ///< 0: a short write.
};

int error_named(std::string_view name) {
  struct Named {
    std::string_view name;
    int error;
  };
  constexpr Named kErrors[] = {{"EIO", EIO},     {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE},
                               {"EINTR", EINTR}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT},
                               {"short", 0}};
  for (const Named& each : kErrors) {
    if (each.name == name) {
      return each.error;
    }
  }
  std::fprintf(stderr, "FENCELINE_FAULT: unknown error\n");
  std::abort();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The plan of this process; made at the first call.
class Plan {
 public:
  Plan() : under_(variable("FENCELINE_FAULT_UNDER")) {
    const std::string fault = variable("FENCELINE_FAULT");
    if (const std::size_t colon = fault.find(':'); colon != std::string::npos) {
      const std::size_t second = fault.find(':', colon + 1);
      fault_ = {fault.substr(0, colon), std::strtoul(fault.c_str() + colon + 1, nullptr, 10),
                error_named(std::string_view(fault).substr(second + 1))};
    }
    if (const std::string log = variable("FENCELINE_FAULT_LOG"); !log.empty()) {
      log_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, log.c_str(),
                                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    }
  }

  [[nodiscard]] bool counts(std::string_view path) const {
    return !under_.empty() && path.starts_with(under_);
  }

  /// Counts this call. Gives what it must do instead of its work: an error, or 0 for a short write.
  std::optional<int> next(Call call, std::string_view path) {
    const auto index = static_cast<std::size_t>(call);
    const std::uint64_t n = ++counts_[index];
    const bool fails = fault_.n == n && fault_.call == kCallNames[index];
    if (log_ >= 0) {
      std::string line(kCallNames[index]);
      line += " " + std::to_string(n) + (fails ? " fails " : " works ") + std::string(path) + "\n";
      ::syscall(SYS_write, log_, line.data(), line.size());
    }
    return fails ? std::optional(fault_.error) : std::nullopt;
  }

 private:
  const std::string under_;
  Fault fault_;
  int log_ = -1;
  std::atomic<std::uint64_t> counts_[kCalls] = {};
};

Plan& plan() {
  // Never destroyed: calls come until the process is gone.
  static auto* const the_plan = new Plan();
  return *the_plan;
}

std::string path_of(int fd) {
  char target[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof(target));
  return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
}

std::string path_at(int folder, const char* path) {
  if (*path == '/') {
    return path;
  }
  char current[4096];
  const std::string base = folder != AT_FDCWD                              ? path_of(folder)
                           : ::getcwd(current, sizeof(current)) == nullptr ? ""
                                                                           : current;
  return base + "/" + path;
}

/// Whether this call must fail, and if so how; `errno` is left alone.
std::optional<int> fault_of(Call call, const std::string& path) {
  const int before = errno;
  const std::optional<int> fault = plan().counts(path) ? plan().next(call, path) : std::nullopt;
  errno = before;
  return fault;
}

std::optional<int> fault_of(Call call, int fd) { return fault_of(call, path_of(fd)); }

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The result of a call that fails with `error`.
int failure(int error) {
  errno = error;
  return -1;
}

std::size_t half_of(std::size_t bytes) { return std::max<std::size_t>(1, bytes / 2); }

std::atomic<std::int64_t>* clock_offset() {
  static std::atomic<std::int64_t>* const offset = [] {
    const std::string file = variable("FENCELINE_CLOCK");
    const int fd =
        file.empty()
            ? -1
            : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file.c_str(), O_RDONLY | O_CLOEXEC));
    void* memory = fd < 0 ? MAP_FAILED : ::mmap(nullptr, 8, PROT_READ, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<std::int64_t>*>(memory);
  }();
  return offset;
}

}  // namespace
}  // namespace fenceline::testing

using fenceline::testing::Call;
using fenceline::testing::clock_offset;
using fenceline::testing::failure;
using fenceline::testing::fault_of;
using fenceline::testing::half_of;
using fenceline::testing::path_at;
using fenceline::testing::real;

/// What `syscall` takes and gives: a register.
using Word = decltype(::syscall(0));

extern "C" {

int fsync(int fd) {
  static auto* const next = real<int(int)>("fsync");
  const auto fault = fault_of(Call::kFsync, fd);
  return fault ? failure(*fault) : next(fd);
}

int fdatasync(int fd) {
  static auto* const next = real<int(int)>("fdatasync");
  const auto fault = fault_of(Call::kFdatasync, fd);
  return fault ? failure(*fault) : next(fd);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  const auto fault = fault_of(Call::kWrite, fd);
  if (fault && *fault != 0) {
    return failure(*fault);
  }
  return next(fd, data, fault ? half_of(bytes) : bytes);
}

ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  const auto fault = fault_of(Call::kPwrite, fd);
  if (fault && *fault != 0) {
    return failure(*fault);
  }
  return next(fd, data, fault ? half_of(bytes) : bytes, offset);
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return pwrite64(fd, data, bytes, offset);
}

int ftruncate64(int fd, off64_t bytes) noexcept {
  static auto* const next = real<int(int, off64_t)>("ftruncate64");
  const auto fault = fault_of(Call::kFtruncate, fd);
  return fault ? failure(*fault) : next(fd, bytes);
}

int ftruncate(int fd, off_t bytes) noexcept { return ftruncate64(fd, bytes); }

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const next = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
  const auto fault = fault_of(Call::kRename, path_at(to_folder, to));
  return fault ? failure(*fault) : next(from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char* from, const char* to) noexcept {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const next = real<int(int, const char*, int, const char*, int)>("linkat");
  const auto fault = fault_of(Call::kLink, path_at(to_folder, to));
  return fault ? failure(*fault) : next(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) noexcept {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const next = real<int(int, const char*, int)>("unlinkat");
  const auto fault = fault_of(Call::kUnlink, path_at(folder, path));
  return fault ? failure(*fault) : next(folder, path, flags);
}

int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(int, const char*, mode_t)>("mkdirat");
  const auto fault = fault_of(Call::kMkdir, path_at(folder, path));
  return fault ? failure(*fault) : next(folder, path, mode);
}

int mkdir(const char* path, mode_t mode) noexcept { return mkdirat(AT_FDCWD, path, mode); }

int fsetxattr(int fd, const char* name, const void* value, size_t bytes, int flags) noexcept {
  static auto* const next = real<int(int, const char*, const void*, size_t, int)>("fsetxattr");
  const auto fault = fault_of(Call::kSetxattr, fd);
  return fault ? failure(*fault) : next(fd, name, value, bytes, flags);
}

int openat64(int folder, const char* path, int flags, ...) {
  static auto* const next = real<int(int, const char*, int, ...)>("openat64");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  const auto fault = fault_of(Call::kOpen, path_at(folder, path));
  return fault ? failure(*fault) : next(folder, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return openat64(folder, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return openat64(AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return openat64(AT_FDCWD, path, flags, mode);
}

// openat2 has no wrapper in glibc 2.36.
Word syscall(Word number, ...) noexcept {
  static auto* const next = real<Word(Word, ...)>("syscall");
  va_list list;
  va_start(list, number);
  Word arguments[6];
  for (Word& argument : arguments) {
    argument = va_arg(list, Word);
  }
  va_end(list);
  if (number == SYS_openat2) {
    const auto* const path = std::bit_cast<const char*>(arguments[1]);
    const auto fault = fault_of(Call::kOpen, path_at(static_cast<int>(arguments[0]), path));
    if (fault) {
      return failure(*fault);
    }
  }
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const next = real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, now);
  const std::atomic<std::int64_t>* offset =
      clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? clock_offset() : nullptr;
  if (result == 0 && offset != nullptr) {
    const std::int64_t ns = now->tv_sec * 1'000'000'000 + now->tv_nsec + offset->load();
    now->tv_sec = ns / 1'000'000'000;
    now->tv_nsec = ns % 1'000'000'000;
  }
  return result;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec precise{};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t* now) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) {
    *now = precise.tv_sec;
  }
  return precise.tv_sec;
}

}  // extern "C"
