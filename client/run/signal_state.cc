#include "client/run/signal_state.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace fenceline::client {
namespace {

/// What is told to the command, and the end of children.
constexpr std::array kTaken = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                               SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};
/// Would stop or end `run` for what is a plain error of a write to it.
constexpr std::array kIgnored = {SIGPIPE, SIGTTIN, SIGTTOU};

}  // namespace

SignalState::SignalState() {
  for (const int signal : kIgnored) {
    Saved saved{signal, {}};
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(signal, &ignore, &saved.action);
    saved_.push_back(saved);
  }
  // A parent that ignores SIGCHLD would make the end of children invisible.
  Saved child{SIGCHLD, {}};
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &normal, &child.action);
  saved_.push_back(child);

  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : kTaken) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    // What nohup and the like ignore stays ignored, here and in the command.
    if (now.sa_handler != SIG_IGN) {
      sigaddset(&taken, signal);
    }
  }
  ::pthread_sigmask(SIG_BLOCK, &taken, &mask_);
  fd_ = base::UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.valid()) {
    throw std::system_error(errno, std::generic_category(), "signalfd");
  }
}

int SignalState::next() const {
  signalfd_siginfo info{};
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                              : 0;
}

void SignalState::restore() const {
  for (const Saved& saved : saved_) {
    ::sigaction(saved.signal, &saved.action, nullptr);
  }
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace fenceline::client
