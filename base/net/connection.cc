#include "base/net/connection.h"

#include <boost/system/error_code.hpp>
#include <coroutine>

#include "base/net/connection_pool.h"
#include "base/resumption.h"

namespace fenceline::base::net {
namespace {

using boost::system::error_code;

/// Waits for the first of two events of a socket, then calls the other wait off.
class EitherWait {
 public:
  EitherWait(TcpSocket& socket, bool or_writable) : socket_(socket), or_writable_(or_writable) {}

  [[nodiscard]] bool await_ready() const noexcept { return !socket_.is_open(); }

  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    // Both waits hold it; dropped by both, at the end of an io_context, it drops the coroutine.
    auto pending = std::make_shared<Pending>(Resumption(waiting), &socket_, or_writable_ ? 2 : 1);
    socket_.async_wait(TcpSocket::wait_read, Ended{pending});
    if (or_writable_) {
      socket_.async_wait(TcpSocket::wait_write, Ended{pending});
    }
  }

  void await_resume() const noexcept {}

 private:
  struct Pending {
    Pending(Resumption coroutine, TcpSocket* of, int waits)
        : resumption(std::move(coroutine)), socket(of), left(waits) {}
    Resumption resumption;
    TcpSocket* socket;
    int left;
  };
  struct Ended {
    std::shared_ptr<Pending> pending;
    void operator()(const error_code& /*error*/) const {
      if (--pending->left == 0) {
        pending->resumption.resume();
      } else {
        error_code ignored;
        pending->socket->cancel(ignored);
      }
    }
  };

  TcpSocket& socket_;
  bool or_writable_;
};

}  // namespace

ConnectionSlot::ConnectionSlot(Pool& pool) : pool_(&pool) { pool.opened(); }

ConnectionSlot::~ConnectionSlot() {
  if (pool_ != nullptr) {
    pool_->closed();
  }
}

Awaitable<bool> Connection::wait(bool or_writable) {
  if (late_ || !socket_.is_open()) {
    co_return false;
  }
  EitherWait either(socket_, or_writable);
  co_await either;
  co_return !late_ && socket_.is_open();
}

void Connection::on_deadline() {
  late_ = true;
  if (idle_) {
    slot_.pool().expire(*this);  // Destroys this.
    return;
  }
  error_code ignored;
  socket_.cancel(ignored);
}

}  // namespace fenceline::base::net
