#pragma once

// A core for backends that keep connections and time-outs, on a thread of its own.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/async.h"
#include "base/spawn.h"
#include "base/timer_wheel.h"
#include "tests/support/coroutine.h"

namespace fenceline::testing {

/// An io_context with its wheel of time-outs, on a thread of its own.
class TestCore {
 public:
  TestCore();
  ~TestCore();
  TestCore(const TestCore&) = delete;
  TestCore& operator=(const TestCore&) = delete;

  base::TimerWheel& timers() { return wheel_; }

  /// Runs a coroutine there to its end, and gives its result; throws if it takes too long.
  template <typename T>
  T run(base::Awaitable<T> work) {
    auto promise = std::make_shared<std::promise<T>>();
    auto future = promise->get_future();
    base::spawn(context_, keep(std::move(work), promise), nothing_thrown);
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      throw std::runtime_error("a coroutine did not end in time");
    }
    return future.get();
  }

  /// Runs a function there, and waits for it.
  void call(std::function<void()> work);

 private:
  template <typename T>
  static base::Awaitable<void> keep(base::Awaitable<T> work,
                                    std::shared_ptr<std::promise<T>> promise) {
    auto value = co_await std::move(work);
    promise->set_value(std::move(value));
  }
  base::Awaitable<void> turn_wheel();

  base::TimerWheel wheel_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<base::Executor> work_;
  std::thread thread_;
};

}  // namespace fenceline::testing
