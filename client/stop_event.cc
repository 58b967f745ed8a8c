#include "client/stop_event.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace fenceline::client {
namespace {

base::UniqueFd make_event() {
  base::UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  return event;
}

}  // namespace

StopEvent::StopEvent(std::stop_token stop)
    : stop_(std::move(stop)), event_(make_event()), callback_(stop_, [fd = event_.get()] {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);
      }) {}

Woken StopEvent::wait(int fd, short events, base::Milliseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (requested()) {
      return Woken::kStopped;
    }
    const auto left = std::chrono::ceil<base::Milliseconds>(end - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waited{pollfd{event_.get(), POLLIN, 0}, pollfd{fd, events, 0}};
    const int timeout = static_cast<int>(std::clamp<long>(left.count(), 0, 1'000'000));
    if (::poll(waited.data(), waited.size(), timeout) > 0) {
      return waited[0].revents != 0 ? Woken::kStopped : Woken::kReady;
    }
    if (left <= base::Milliseconds(0)) {
      return Woken::kLate;
    }
  }
}

}  // namespace fenceline::client
