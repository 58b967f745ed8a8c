#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <coroutine>
#include <memory>
#include <utility>

#include "base/awaitable.h"

namespace fenceline::base {

/// A chain of coroutines that waits, in the hands of whoever will let it go on. Move-only. If it is
/// dropped instead, the chain is destroyed, on its own thread; so nothing leaks when an io_context
/// ends with operations under way, or when a callback is dropped.
class Resumption {
 public:
  template <typename Promise>
  explicit Resumption(std::coroutine_handle<Promise> waiting)
      : waiting_(waiting), link_(&waiting.promise()) {}
  Resumption(Resumption&& other) noexcept
      : waiting_(std::exchange(other.waiting_, nullptr)), link_(other.link_) {}
  Resumption& operator=(Resumption&& other) noexcept {
    std::swap(waiting_, other.waiting_);
    std::swap(link_, other.link_);
    return *this;
  }
  ~Resumption() {
    if (waiting_) {
      boost::asio::post(link_->context(), Destroy(link_->root()));
    }
  }

  [[nodiscard]] boost::asio::io_context& context() const { return link_->context(); }

  /// Goes on. On the thread of the chain, once.
  void resume() { std::exchange(waiting_, nullptr).resume(); }

 private:
  /// Destroys a chain when it is called, or destroyed uncalled.
  class Destroy {
   public:
    explicit Destroy(std::coroutine_handle<> root) : root_(root) {}
    Destroy(Destroy&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
    Destroy& operator=(Destroy&&) = delete;
    ~Destroy() { (*this)(); }
    void operator()() {
      if (root_) {
        std::exchange(root_, nullptr).destroy();
      }
    }

   private:
    std::coroutine_handle<> root_;
  };

  std::coroutine_handle<> waiting_;
  const CoroutineLink* link_;
};

}  // namespace fenceline::base
