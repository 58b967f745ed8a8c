#include "proxy/signals.h"

#include <pthread.h>

#include <csignal>

namespace fenceline::proxy {
namespace {

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = waited_for();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int Signals::wait() const {
  const sigset_t set = waited_for();
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  return signal;
}

void Signals::end_at_next_signal() {
  sigset_t set = waited_for();
  sigdelset(&set, SIGHUP);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace fenceline::proxy
