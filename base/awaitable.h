#pragma once

// The one coroutine type of the project. It costs a few dozen instructions for each call, a tenth
// of what Asio's own does (docs/performance.md), because a call that does not wait never leaves the
// caller's stack.

#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/frame_memory.h"

namespace fenceline::base {

template <typename T>
class Awaitable;

/// What every coroutine knows about its place in the chain of calls.
class CoroutineLink {
 public:
  CoroutineLink() = default;
  CoroutineLink(const CoroutineLink&) = delete;
  CoroutineLink& operator=(const CoroutineLink&) = delete;

  // NOLINTNEXTLINE(misc-new-delete-overloads): the sized one below is its partner.
  static void* operator new(std::size_t bytes) { return take_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    give_back_frame(memory, bytes);
  }

  /// Where the chain runs. Valid from its first step on.
  [[nodiscard]] boost::asio::io_context& context() const { return *context_; }

  /// The coroutine at the other end of the chain: destroying it destroys all of it.
  [[nodiscard]] std::coroutine_handle<> root() const {
    const CoroutineLink* link = this;
    while (link->caller_ != nullptr) {
      link = link->caller_;
    }
    return link->self_;
  }

 protected:
  void be_called_by(const CoroutineLink& caller) {
    caller_ = &caller;
    context_ = caller.context_;
  }
  void be_root(std::coroutine_handle<> self, boost::asio::io_context& context) {
    self_ = self;
    context_ = &context;
  }

  /// Goes on with the caller, if it had to wait.
  struct AtEnd {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      // The caller destroys the finished frame; nothing in it may be touched afterwards.
      const std::coroutine_handle<> waiting = finished.promise().waiting_;
      if (waiting) {
        waiting.resume();
      }
    }
    void await_resume() const noexcept {}
  };

  std::coroutine_handle<> waiting_;  ///< The caller, from the moment it really waits.

 private:
  const CoroutineLink* caller_ = nullptr;
  std::coroutine_handle<> self_;  ///< Only of the root.
  boost::asio::io_context* context_ = nullptr;
};

/// The result of a coroutine, until its caller takes it.
template <typename T>
class AwaitablePromise : public CoroutineLink {
 public:
  template <typename Value>
  void return_value(Value&& value) {
    value_.emplace(std::forward<Value>(value));
  }
  T take() {
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
    return std::move(*value_);
  }

 protected:
  std::exception_ptr thrown_;

 private:
  std::optional<T> value_;
};

template <>
class AwaitablePromise<void> : public CoroutineLink {
 public:
  void return_void() {}
  void take() {
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
  }

 protected:
  std::exception_ptr thrown_;
};

/// A result that may have to be awaited: a call of a coroutine, which begins when it is awaited and
/// gives its result or throws what it threw; or (`ready`) a result that is there already.
///
/// Does: runs on the caller's thread and stack until it first waits. Whoever awaits it goes on at
/// once if it never did.
/// Concurrency: all of a chain runs on the one thread of its io_context.
/// Ownership: move-only; destroying it before it was awaited runs nothing of it.
template <typename T>
class [[nodiscard]] Awaitable {
  /// `void` has no value, but a place to keep one is needed.
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the language's name.
  class promise_type final : public AwaitablePromise<T> {
   public:
    Awaitable get_return_object() { return Awaitable(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    CoroutineLink::AtEnd final_suspend() const noexcept { return {}; }
    void unhandled_exception() { this->thrown_ = std::current_exception(); }

   private:
    friend class Awaitable;
  };

  /// For a function that knows its result without waiting: it needs no coroutine then.
  static Awaitable ready(Value value) {
    Awaitable made((Handle()));
    made.ready_.emplace(std::move(value));
    return made;
  }

  Awaitable(Awaitable&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), ready_(std::move(other.ready_)) {}
  Awaitable& operator=(Awaitable&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(ready_, other.ready_);
    return *this;
  }
  ~Awaitable() {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// True if awaiting it would not wait; then `take` gives the result.
  [[nodiscard]] bool is_ready() const { return ready_.has_value(); }
  T take() {
    if constexpr (!std::is_void_v<T>) {
      return *std::move(ready_);
    }
  }

  [[nodiscard]] bool await_ready() const noexcept { return ready_.has_value(); }

  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) {
    promise_type& promise = handle_.promise();
    promise.be_called_by(caller.promise());
    handle_.resume();
    if (handle_.done()) {
      return false;
    }
    // It can only go on from the event loop of this thread, so this is not too late.
    promise.waiting_ = caller;
    return true;
  }

  T await_resume() { return ready_ ? take() : handle_.promise().take(); }

 private:
  using Handle = std::coroutine_handle<promise_type>;

  explicit Awaitable(Handle handle) : handle_(handle) {}

  Handle handle_;
  std::optional<Value> ready_;
};

}  // namespace fenceline::base
