#include "fencing/lease/lease_timer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace fenceline::fencing {
namespace {

base::UniqueFd checked(int fd, const char* what) {
  if (fd < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return base::UniqueFd(fd);
}

/// Sets the timer; without a time it never goes off.
void arm(int timer, std::optional<base::MonotonicTime> at) {
  itimerspec when{};
  if (at) {
    const auto since = at->time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
    // All zero would stop it.
    if (when.it_value.tv_sec <= 0 && when.it_value.tv_nsec == 0) {
      when.it_value.tv_nsec = 1;
    }
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
}

void drain(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof(count));
}

}  // namespace

LeaseTimer::LeaseTimer()
    : timer_(checked(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
      woken_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

LeaseTimer::~LeaseTimer() { stop(); }

void LeaseTimer::start(std::function<std::optional<base::MonotonicTime>()> run) {
  thread_ = std::jthread(
      [this, run = std::move(run)](const std::stop_token& stopping) { serve(run, stopping); });
}

void LeaseTimer::serve(const std::function<std::optional<base::MonotonicTime>()>& run,
                       const std::stop_token& stopping) {
  while (!stopping.stop_requested()) {
    arm(timer_.get(), run());
    std::array<pollfd, 2> waiting{pollfd{timer_.get(), POLLIN, 0}, pollfd{woken_.get(), POLLIN, 0}};
    // A signal, or an error that cannot be, only means one more look.
    ::poll(waiting.data(), waiting.size(), -1);
    drain(timer_.get());
    drain(woken_.get());
  }
}

void LeaseTimer::wake() {
  const std::uint64_t one = 1;
  // Full means that it wakes anyway.
  [[maybe_unused]] const ssize_t put = ::write(woken_.get(), &one, sizeof(one));
}

void LeaseTimer::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    wake();
    thread_.join();
  }
}

}  // namespace fenceline::fencing
