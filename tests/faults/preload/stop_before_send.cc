// A library for LD_PRELOAD that stops a process right before it sends a certain message.
//
//   FENCELINE_STOP_AT=BYTES    the message begins so
//   FENCELINE_STOP_WHEN=FILE   only while this file exists; it is removed, so once for each time
//
// SIGSTOP stops all threads: whoever started the process sees it stopped with nothing of that
// message sent, and everything that came before it done.

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace fenceline::testing {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool begins_with(const msghdr* message, std::string_view beginning) {
  if (beginning.empty() || message->msg_iovlen == 0) {
    return false;
  }
  const iovec& first = message->msg_iov[0];
  return std::string_view(static_cast<const char*>(first.iov_base), first.iov_len)
      .starts_with(beginning);
}

}  // namespace
}  // namespace fenceline::testing

extern "C" ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  using fenceline::testing::variable;
  static auto* const next =
      reinterpret_cast<ssize_t (*)(int, const msghdr*, int)>(::dlsym(RTLD_NEXT, "sendmsg"));
  if (fenceline::testing::begins_with(message, variable("FENCELINE_STOP_AT"))) {
    const int before = errno;
    if (::unlink(variable("FENCELINE_STOP_WHEN").data()) == 0) {
      ::raise(SIGSTOP);
    }
    errno = before;
  }
  return next(fd, message, flags);
}
