#include "proxy/core.h"

#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "base/asio_await.h"
#include "base/spawn.h"

namespace fenceline::proxy {
namespace {

constexpr int kOneThread = 1;
constexpr base::Milliseconds kBetweenUpkeeps{1000};

void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

Core::Core(const ServerOptions& options, const base::Clock& clock, base::RequestIds& request_ids,
           ServerObserver& observer)
    : context_(kOneThread),
      work_(context_.get_executor()),
      wheel_(options.tick, clock.now()),
      shared_{.timers = wheel_,
              .clock = clock,
              .request_ids = request_ids,
              .observer = observer,
              .scratch = {},
              .date = {}},
      upkeep_(options.upkeep),
      next_upkeep_(wheel_, [this] { tidy_up(); }),
      tick_(context_) {}

void Core::start() {
  thread_ = std::thread([this] { run(); });
}

void Core::run() {
  block_signals();
  while (true) {
    // Whatever one coroutine throws, the others go on.
    try {
      context_.run();
      return;
    } catch (...) {
      report(std::current_exception());
    }
  }
}

void Core::post(std::function<void()> work) { boost::asio::post(context_, std::move(work)); }

void Core::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Core::add(Session& session) {
  sessions_.push_back(session);
  const bool stood_still = !turning_;
  if (stood_still) {
    turning_ = true;
    // Its time-outs count from the time it knows.
    wheel_.advance(shared_.clock.now());
  }
  if (upkeep_ && !next_upkeep_.armed()) {
    next_upkeep_.arm(kBetweenUpkeeps);
  }
  if (stood_still) {
    base::spawn(context_, turn_wheel(), [this](const std::exception_ptr& thrown) {
      turning_ = false;
      report(thrown);
    });
  }
}

/// Turns while there is somebody to time out; an idle server does not wake up.
base::Awaitable<void> Core::turn_wheel() {
  boost::system::error_code ignored;  // Nobody cancels it.
  auto token = base::await_into(ignored);
  bool needed = true;
  while (needed) {
    tick_.expires_after(wheel_.tick());
    co_await tick_.async_wait(token);
    try {
      wheel_.advance(shared_.clock.now());
    } catch (...) {
      report(std::current_exception());
    }
    needed = !sessions_.empty() || (wheel_.armed() > 0 && !shared_.draining);
  }
}

void Core::tidy_up() {
  if (upkeep_() || !sessions_.empty()) {
    next_upkeep_.arm(kBetweenUpkeeps);
  }
}

void Core::adopt(const std::shared_ptr<const ListenerOptions>& next) {
  for (Session& session : sessions_) {
    if (session.listener_name() == next->name) {
      session.adopt(next);
    }
  }
}

void Core::retire(std::string_view listener) {
  for (Session& session : sessions_) {
    if (session.listener_name() == listener) {
      session.retire();
    }
  }
}

void Core::drain() {
  shared_.draining = true;
  for (Session& session : sessions_) {
    session.drain();
  }
}

void Core::abort_sessions() {
  for (Session& session : sessions_) {
    session.abort();
  }
}

void Core::report(const std::exception_ptr& thrown) {
  if (thrown == nullptr) {
    return;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    shared_.observer.bug("core", error.what());
  } catch (...) {
    shared_.observer.bug("core", "not a std::exception");
  }
}

}  // namespace fenceline::proxy
