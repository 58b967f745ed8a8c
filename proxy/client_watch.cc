#include "proxy/client_watch.h"

#include <poll.h>

#include <utility>

namespace fenceline::proxy {

struct ClientWatch::Watching {
  Watching(base::TimerWheel& timers, std::function<void()> look, std::function<void()> then)
      : again(timers, std::move(look)), tell(std::move(then)) {}

  base::Timer again;
  std::function<void()> tell;
};

void ClientWatch::start(std::function<void()> gone) {
  watching_ = std::make_shared<Watching>(
      timers_, [this] { look(); }, std::move(gone));
  wait();
}

void ClientWatch::stop() {
  if (watching_ != nullptr) {
    watching_.reset();
    transport_.stop_waiting();
  }
}

bool ClientWatch::gone() {
  const int fd = transport_.descriptor();
  if (known_gone_ || fd < 0) {
    known_gone_ = true;
    return true;
  }
  pollfd looked{.fd = fd, .events = POLLRDHUP, .revents = 0};
  known_gone_ = ::poll(&looked, 1, 0) > 0 &&
                (looked.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
  return known_gone_;
}

void ClientWatch::wait() {
  // The wait may end after the watch: the pointer tells.
  const std::weak_ptr<Watching> still = watching_;
  transport_.when_readable([this, still] {
    if (!still.expired()) {
      look();
    }
  });
}

void ClientWatch::look() {
  if (!gone()) {
    // Bytes that nobody reads now: waiting for readability would end at once, again and again.
    watching_->again.arm(kLookAgain);
    return;
  }
  const std::shared_ptr<Watching> ended = std::exchange(watching_, nullptr);
  ended->tell();
}

}  // namespace fenceline::proxy
