#include "base/net/dial.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/asio_await.h"
#include "base/deadline.h"
#include "base/net/tls_client.h"

namespace fenceline::base::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Endpoints = std::vector<tcp::endpoint>;
using Resolver = boost::asio::ip::basic_resolver<tcp, Executor>;

/// What is left of the time for everything together.
class TimeLeft {
 public:
  explicit TimeLeft(Milliseconds all) : end_(std::chrono::steady_clock::now() + all) {}
  [[nodiscard]] Milliseconds left() const {
    const auto left =
        std::chrono::duration_cast<Milliseconds>(end_ - std::chrono::steady_clock::now());
    return std::max(left, Milliseconds(0));
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

Error late(const Upstream& upstream, std::string_view what) {
  return {.kind = ErrorKind::kUpstreamTimeout,
          .detail = fmt::format("The upstream {} {} within {} ms.", upstream.name, what,
                                upstream.options.connect.count())};
}

Error unreachable(const Upstream& upstream, std::string_view why) {
  return {.kind = ErrorKind::kUpstreamFailed,
          .detail = fmt::format("The upstream {} cannot be reached: {}.", upstream.name, why)};
}

Awaitable<Result<Endpoints>> look_up(boost::asio::io_context& context, const Upstream& upstream,
                                     TimerWheel& timers) {
  const HttpClientOptions& options = upstream.options;
  error_code no_address;
  const auto address = boost::asio::ip::make_address(options.host, no_address);
  if (!no_address) {
    Endpoints one(1, tcp::endpoint(address, options.port));
    co_return one;
  }
  auto resolver = std::make_shared<Resolver>(context);
  Error too_late = late(upstream, "was not found by its name");
  // What it captures is copied: the answer may come when nobody waits any more.
  const auto start = [resolver, &options, name = upstream.name](Done<Result<Endpoints>> done) {
    resolver->async_resolve(
        options.host, std::to_string(options.port), Resolver::numeric_service,
        [resolver, name, done = std::move(done)](const error_code& error,
                                                 const Resolver::results_type& results) {
          if (error) {
            done(fail(ErrorKind::kUpstreamFailed,
                      fmt::format("The upstream {} was not found by its name: {}.", name,
                                  error.message())));
            return;
          }
          Endpoints found;
          for (const auto& entry : results) {
            found.push_back(entry.endpoint());
          }
          done(std::move(found));
        });
  };
  auto found = co_await answer_within<Endpoints>(timers, options.connect, too_late, start);
  co_return found;
}

std::unique_ptr<Connection> make_connection(const Upstream& upstream, TcpSocket socket,
                                            ConnectionSlot slot, TimerWheel& timers) {
  return upstream.tls == nullptr
             ? make_plain_connection(std::move(socket), std::move(slot), timers)
             : upstream.tls->make_connection(std::move(socket), std::move(slot), timers);
}

/// One attempt at a TCP connection.
Awaitable<Result<TcpSocket>> connect_to(boost::asio::io_context& context, const Upstream& upstream,
                                        tcp::endpoint endpoint, TimerWheel& timers,
                                        Milliseconds patience) {
  TcpSocket socket(context);
  bool too_late = false;
  const auto give_up = [&socket, &too_late] {
    too_late = true;
    error_code ignored;
    socket.close(ignored);
  };
  Timer timer(timers, give_up);
  timer.arm(patience);
  error_code error;
  auto token = await_into(error);
  co_await socket.async_connect(endpoint, token);
  timer.disarm();
  if (too_late) {
    co_return tl::unexpected<Error>(late(upstream, "did not take a connection"));
  }
  if (error) {
    co_return tl::unexpected<Error>(unreachable(upstream, error.message()));
  }
  socket.set_option(tcp::no_delay(true), error);
  co_return std::move(socket);
}

}  // namespace

Awaitable<Result<std::unique_ptr<Connection>>> dial(boost::asio::io_context& context, Pool& pool,
                                                    TimerWheel& timers) {
  const Upstream& upstream = pool.upstream();
  const TimeLeft time(upstream.options.connect);
  ConnectionSlot slot(pool);
  auto endpoints = co_await look_up(context, upstream, timers);
  if (!endpoints) {
    co_return tl::unexpected<Error>(std::move(endpoints).error());
  }
  Error last = unreachable(upstream, "its name has no address");
  std::size_t left = endpoints->size();
  for (const tcp::endpoint& endpoint : *endpoints) {
    const Milliseconds patience = time.left() / static_cast<Milliseconds::rep>(left--);
    auto socket = co_await connect_to(context, upstream, endpoint, timers, patience);
    if (!socket) {
      last = std::move(socket).error();
      continue;
    }
    auto connection = make_connection(upstream, std::move(*socket), std::move(slot), timers);
    if (connection == nullptr) {
      co_return tl::unexpected<Error>(unreachable(upstream, "no memory for TLS"));
    }
    connection->start_deadline(time.left());
    const auto secured = co_await connection->secure();
    const bool was_late = connection->late();
    connection->stop_deadline();
    if (!secured) {
      co_return tl::unexpected<Error>(was_late ? late(upstream, "did not finish the TLS handshake")
                                               : unreachable(upstream, connection->why()));
    }
    co_return std::move(connection);
  }
  co_return tl::unexpected<Error>(std::move(last));
}

}  // namespace fenceline::base::net
