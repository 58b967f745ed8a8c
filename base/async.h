#pragma once

// Waiting for something that answers by callback. g++ 12 miscompiles many forms of `co_await`; the
// only ones allowed are listed in CONTRIBUTING.md and enforced by scripts/lint.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/awaitable.h"
#include "base/resumption.h"

namespace fenceline::base {

using Executor = boost::asio::io_context::executor_type;

/// Called exactly once, from any thread, with the outcome of something that was started.
template <typename T>
using Done = std::function<void(T)>;

/// One wait for a callback; see `from_callback`. Lives in the frame of the coroutine that waits.
template <typename T, typename Start>
class CallbackWait {
 public:
  explicit CallbackWait(Start& start) : start_(start) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    // std::function needs a copyable target, a Resumption is move-only.
    auto pending = std::make_shared<Pending>(Resumption(waiting), &value_);
    start_(Done<T>([pending = std::move(pending)](T value) {
      boost::asio::post(pending->context(), [pending, value = std::move(value)]() mutable {
        pending->into->emplace(std::move(value));
        pending->resumption.resume();
      });
    }));
  }

  T await_resume() { return *std::move(value_); }

 private:
  struct Pending {
    Pending(Resumption waiting, std::optional<T>* result)
        : resumption(std::move(waiting)), work(resumption.context().get_executor()), into(result) {}
    [[nodiscard]] boost::asio::io_context& context() const { return resumption.context(); }

    Resumption resumption;
    /// Until whoever calls back has let go: the loop must not end, and its io_context with it,
    /// while another thread is still inside `post`.
    boost::asio::executor_work_guard<Executor> work;
    std::optional<T>* into;
  };

  Start& start_;
  std::optional<T> value_;
};

/// Suspends the caller until a callback has been called.
///
/// Does: calls `start(done)` at once on the caller's thread. `done` may be called from any thread,
/// also inside `start`; the coroutine goes on, on its own thread, with the value.
/// Failure: none of its own; if `done` is never called the coroutine never goes on, so whoever
/// takes the callback keeps a deadline. If `done` is dropped uncalled the coroutine, and whoever
/// awaits it, is destroyed.
/// Ownership: `start` is moved in; the io_context stays busy until every copy of `done` is dropped,
/// so drop it after the call.
template <typename T, typename Start>
Awaitable<T> from_callback(Start start) {
  CallbackWait<T, Start> wait(start);
  co_return co_await wait;
}

}  // namespace fenceline::base
