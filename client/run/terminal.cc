#include "client/run/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace fenceline::client {

Terminal::Terminal() {
  base::UniqueFd fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (fd.valid() && ::tcgetpgrp(fd.get()) == ::getpgrp()) {
    fd_ = std::move(fd);
  }
}

bool Terminal::is_in_front() const { return fd_.valid() && ::tcgetpgrp(fd_.get()) == ::getpgrp(); }

void Terminal::give_to(pid_t group) const {
  if (fd_.valid()) {
    ::tcsetpgrp(fd_.get(), group);  // SIGTTOU is ignored.
  }
}

void Terminal::take_back() const { give_to(::getpgrp()); }

}  // namespace fenceline::client
