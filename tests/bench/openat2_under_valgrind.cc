// Preloaded into fenceline by the counting of instructions, and only there: valgrind 3.19 of Debian
// 12 does not know openat2 and answers ENOSYS, so the server would refuse to start. What openat2
// checks beyond O_NOFOLLOW is not checked here; the kernel's part is not counted anyway.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cstdarg>

extern "C" long syscall(long number, ...) noexcept {
  using Syscall = long (*)(long, ...);
  static const auto real = reinterpret_cast<Syscall>(::dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  if (number == SYS_openat2) {
    const auto* how = reinterpret_cast<const open_how*>(arguments[2]);
    return ::openat(static_cast<int>(arguments[0]), reinterpret_cast<const char*>(arguments[1]),
                    static_cast<int>(how->flags) | O_NOFOLLOW, static_cast<mode_t>(how->mode));
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}
