#include "client/run/guard.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "client/run/child_tree.h"
#include "client/run/guard_process.h"

namespace fenceline::client {

Guard::Guard(GuardSetup setup, const SignalState& signals, const Terminal& terminal) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  socket_ = base::UniqueFd(ends[0]);
  base::UniqueFd theirs(ends[1]);
  // If the guard is killed, what is left of the command comes here.
  adopt_orphans();
  children_before_ = children();
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid_ == 0) {
    socket_.reset();
    guard_command(std::move(setup), std::move(theirs), signals, terminal);
  }
  ::setpgid(pid_, pid_);
}

void Guard::clean_up() {
  if (pid_ < 0) {
    return;
  }
  socket_.reset();  // It kills the command, and goes.
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    kill_all_children(children_before_);
  }
}

void Guard::tell(const GuardOrder& order) const {
  const std::string packet = encode(order);
  // A guard that takes nothing is stopped, and ends the command at the last deadline it got.
  (void)::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<GuardReport> Guard::next() {
  std::array<char, 256> packet{};
  ssize_t size = ::recv(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (size < 0 && errno == ECONNRESET) {
    // It went with orders of ours unread. That is told once, in front of what it has still said.
    size = ::recv(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  }
  if (size > 0) {
    return decode_report({packet.data(), static_cast<std::size_t>(size)});
  }
  is_gone_ = is_gone_ || size == 0 || (errno != EAGAIN && errno != EINTR);
  return std::nullopt;
}

}  // namespace fenceline::client
