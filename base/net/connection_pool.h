#pragma once

#include <atomic>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/net/connection.h"
#include "base/net/http_client.h"

namespace fenceline::base::net {

class TlsClient;

/// What all cores share about one upstream. Thread-safe: constant but for the two atomics.
struct Upstream {
  HttpClientOptions options;
  std::string name;                  ///< "host:port", for messages.
  std::shared_ptr<TlsClient> tls;    ///< Null: plain.
  std::atomic<std::size_t> open{0};  ///< Connections of all cores.
  std::atomic<bool> retired{false};  ///< The client is gone: keep nothing.
};

/// A piece of memory to read into.
struct Buffer {
  std::unique_ptr<char[]> memory;
  std::size_t bytes = 0;
};

/// Buffers that no exchange uses at the moment; an idle connection has none. One per core.
class BufferShelf {
 public:
  Buffer take(std::size_t bytes);
  void give_back(Buffer buffer);

 private:
  std::vector<Buffer> free_;
  std::size_t free_bytes_ = 0;
};

/// The connections of one core to one upstream.
class Pool {
 public:
  Pool(std::shared_ptr<Upstream> upstream, BufferShelf& buffers)
      : upstream_(std::move(upstream)), buffers_(buffers) {}

  /// The idle connection that was used last and is still good; null if there is none.
  std::unique_ptr<Connection> take();

  /// True if one more connection may be opened; closes an idle one for that, if need be.
  bool make_room();

  /// Keeps it for the next request, or closes it.
  void give_back(std::unique_ptr<Connection> connection);

  /// The time of an idle connection is over: destroys it.
  void expire(const Connection& connection);

  /// Closes all that are idle, and keeps none from now on.
  void shut_down();

  void opened() {
    ++open_;
    upstream_->open.fetch_add(1, std::memory_order_relaxed);
  }
  void closed() {
    --open_;
    upstream_->open.fetch_sub(1, std::memory_order_relaxed);
  }

  [[nodiscard]] bool unused() const { return open_ == 0 && upstream_->retired; }
  [[nodiscard]] const Upstream& upstream() const { return *upstream_; }
  [[nodiscard]] BufferShelf& buffers() { return buffers_; }

 private:
  std::shared_ptr<Upstream> upstream_;
  BufferShelf& buffers_;
  std::vector<std::unique_ptr<Connection>> idle_;  ///< The one used last is at the end.
  std::size_t open_ = 0;                           ///< Idle, in use, and being dialled.
  bool shut_ = false;
};

/// All pools of one core. A service of its io_context, so that idle sockets close before it ends.
class Pools final : public boost::asio::execution_context::service {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the name that Asio wants.
  static inline boost::asio::execution_context::id id;

  explicit Pools(boost::asio::execution_context& context) : service(context) {}

  /// Those of this core. On its thread.
  static Pools& of(boost::asio::io_context& context) {
    return boost::asio::use_service<Pools>(static_cast<boost::asio::execution_context&>(context));
  }

  /// The pool of this upstream; made at the first call.
  Pool& pool(const std::shared_ptr<Upstream>& upstream);

 private:
  void shutdown() override;

  BufferShelf buffers_;
  std::map<const Upstream*, std::unique_ptr<Pool>> pools_;
};

}  // namespace fenceline::base::net
