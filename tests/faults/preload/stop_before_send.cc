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

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace fenceline::testing {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool begins_with(const msghdr* message, std::string_view beginning) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < message->msg_iovlen && at < beginning.size(); ++i) {
    const iovec& piece = message->msg_iov[i];
    const std::size_t bytes = std::min(piece.iov_len, beginning.size() - at);
    if (beginning.compare(at, bytes, static_cast<const char*>(piece.iov_base), bytes) != 0) {
      return false;
    }
    at += bytes;
  }
  return at == beginning.size() && at > 0;
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
