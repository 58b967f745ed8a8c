#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <exception>
#include <utility>

#include "base/awaitable.h"
#include "base/resumption.h"

namespace fenceline::base {

/// The coroutine at the beginning of a chain; owns itself.
class RootCoroutine {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the language's name.
  class promise_type final : public CoroutineLink {
   public:
    RootCoroutine get_return_object() { return RootCoroutine(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }

   private:
    friend class RootCoroutine;
  };

  /// Runs it on the thread of `context`: now, if this is that thread.
  void start(boost::asio::io_context& context) {
    handle_.promise().be_root(handle_, context);
    boost::asio::dispatch(context, [first = Resumption(std::exchange(handle_, nullptr))]() mutable {
      first.resume();
    });
  }

 private:
  using Handle = std::coroutine_handle<promise_type>;

  explicit RootCoroutine(Handle handle) : handle_(handle) {}

  Handle handle_;
};

template <typename Done>
RootCoroutine run_as_root(Awaitable<void> work, Done done) {
  std::exception_ptr thrown;
  try {
    // NOLINTNEXTLINE(bugprone-use-after-move): it is moved once.
    co_await std::move(work);
  } catch (...) {
    thrown = std::current_exception();
  }
  done(thrown);
}

/// Starts a coroutine that nobody awaits.
/// Does: runs it on the thread of `context`, at once if this is that thread; calls `done` there
/// with what it threw, or with null. `done` must not throw.
/// Ownership: the coroutine owns itself; if the context ends first, it is destroyed with it and
/// `done` is never called. Thread-safe.
template <typename Done>
void spawn(boost::asio::io_context& context, Awaitable<void> work, Done done) {
  run_as_root(std::move(work), std::move(done)).start(context);
}

}  // namespace fenceline::base
