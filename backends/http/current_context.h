#pragma once

#include <boost/asio/io_context.hpp>
#include <coroutine>

#include "base/awaitable.h"

namespace fenceline::backends::http {

/// Gives the io_context that the caller runs on, without waiting:
///
///     auto* context = co_await current_context();
class CurrentContext {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    context_ = &caller.promise().context();
    return false;
  }
  [[nodiscard]] boost::asio::io_context* await_resume() const noexcept { return context_; }

 private:
  boost::asio::io_context* context_ = nullptr;
};

inline CurrentContext current_context() { return {}; }

}  // namespace fenceline::backends::http
