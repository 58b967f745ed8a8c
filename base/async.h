#pragma once

// The one coroutine type of the project. g++ 12 miscompiles many forms of `co_await`; the only
// ones allowed are listed in CONTRIBUTING.md and enforced by scripts/lint.

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace fenceline::base {

using Executor = boost::asio::io_context::executor_type;

/// A coroutine that runs on one core's `io_context`.
template <typename T>
using Awaitable = boost::asio::awaitable<T, Executor>;

inline constexpr boost::asio::use_awaitable_t<Executor> kAwait{};

/// Called exactly once, from any thread, with the outcome of something that was started.
template <typename T>
using Done = std::function<void(T)>;

/// Suspends the caller until a callback has been called.
///
/// Does: calls `start(done)` at once on the caller's thread. `done` may be called from any thread,
/// also inside `start`; the coroutine goes on, on its own executor, with the value.
/// Failure: none of its own; if `done` is never called the coroutine never goes on, so whoever
/// takes the callback keeps a deadline.
/// Ownership: `start` is moved in; `done` keeps the io_context busy until it is called or dropped.
template <typename T, typename Start>
Awaitable<T> from_callback(Start start) {
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<Executor>, void(T)>(
      [](auto handler, Start begin) {
        using Handler = decltype(handler);
        // std::function needs a copyable target, the handler is move-only.
        auto shared = std::make_shared<Handler>(std::move(handler));
        const auto executor = boost::asio::get_associated_executor(*shared);
        auto work = boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
        begin(Done<T>([shared = std::move(shared), work = std::move(work)](T value) {
          boost::asio::post(work, [shared, value = std::move(value)]() mutable {
            Handler resume = std::move(*shared);
            resume(std::move(value));
          });
        }));
      },
      kAwait, std::move(start));
}

}  // namespace fenceline::base
