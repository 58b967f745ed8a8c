#include "proxy/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "proxy/plain_transport.h"
#include "proxy/session.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::kAwait;
using base::Result;
using boost::system::error_code;

// Connections that wait are taken together, but those that are served get their turn in between.
constexpr int kBatch = 64;
constexpr std::chrono::milliseconds kPause{200};
// Clients that are read a 503 to, each for up to the linger time; a flood above that is cut off.
constexpr std::size_t kMaxRefusals = 64;

/// "address:port"; empty if it is neither IPv4 nor IPv6.
std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(v6.sin6_port));
  }
  return {};
}

/// One connection with its place in the counts; the place is given back last.
class Connection {
 public:
  Connection(std::shared_ptr<ListenerState> state, Core& core, Admission admission,
             std::unique_ptr<Transport> transport)
      : state_(std::move(state)),
        core_(core),
        admission_(admission),
        session_(std::in_place, std::move(transport), state_->options, core.shared(), admission) {
    state_->live.enter();
    observe(&ServerObserver::connection_opened);
    core_.add(*session_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    session_.reset();
    (admission_ == Admission::kServe ? state_->connections : state_->refusals).give_back();
    observe(&ServerObserver::connection_closed);
    state_->live.leave();
  }

  Session& session() { return *session_; }

 private:
  void observe(void (ServerObserver::*event)(std::string_view)) {
    if (admission_ == Admission::kServe) {
      (core_.shared().observer.*event)(state_->options.name);
    }
  }

  std::shared_ptr<ListenerState> state_;
  Core& core_;
  Admission admission_;
  std::optional<Session> session_;
};

Awaitable<void> run_session(std::unique_ptr<Connection> connection) {
  co_await connection->session().run();
}

}  // namespace

ListenerState::ListenerState(ListenerOptions wanted, std::shared_ptr<TlsContext> identity,
                             LiveConnections& all)
    : options(std::move(wanted)),
      tls(std::move(identity)),
      live(all),
      connections(options.max_connections),
      refusals(kMaxRefusals) {}

Listener::Listener(Core& core, std::shared_ptr<ListenerState> state, base::UniqueFd socket)
    : core_(core),
      state_(std::move(state)),
      // Asio keeps the protocol for opening sockets only: v4 fits v6 too.
      acceptor_(core.context(), boost::asio::ip::tcp::v4(), socket.get()),
      pause_(core.context()) {
  socket.release();
}

void Listener::start() {
  boost::asio::co_spawn(core_.context(), run(), [core = &core_](const std::exception_ptr& thrown) {
    core->report(thrown);
  });
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

Awaitable<void> Listener::run() {
  error_code error;
  auto token = boost::asio::redirect_error(kAwait, error);
  while (acceptor_.is_open()) {
    co_await acceptor_.async_wait(Acceptor::wait_read, token);
    if (!acceptor_.is_open()) {
      break;
    }
    const Next next = error ? refused(error.value()) : accept_batch();
    if (next == Next::kPause) {
      pause_.expires_after(kPause);
      co_await pause_.async_wait(token);
    }
  }
}

Listener::Next Listener::accept_batch() {
  for (int i = 0; i < kBatch; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    base::UniqueFd fd(::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&address),
                                &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      admit(std::move(fd), text_of(address));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Next::kGoOn;
    }
    // Errors of the connection itself are its own affair (accept(2)); the next one may be fine.
    const int reason = errno;
    constexpr std::array kOfTheConnection = {EINTR,       ECONNABORTED, EPROTO,       ENETDOWN,
                                             ENOPROTOOPT, EHOSTDOWN,    EHOSTUNREACH, ENETUNREACH,
                                             EOPNOTSUPP,  ENONET};
    if (std::ranges::find(kOfTheConnection, reason) == kOfTheConnection.end()) {
      return refused(reason);
    }
  }
  return Next::kGoOn;
}

Listener::Next Listener::refused(int reason) {
  core_.shared().observer.accept_paused(state_->options.name,
                                        std::generic_category().message(reason));
  return Next::kPause;
}

void Listener::admit(base::UniqueFd fd, std::string peer) {
  if (state_->connections.take()) {
    serve(std::move(fd), std::move(peer), Admission::kServe);
    return;
  }
  core_.shared().observer.connection_refused(state_->options.name);
  if (state_->refusals.take()) {
    serve(std::move(fd), std::move(peer), Admission::kRefuse);
  }
}

void Listener::serve(base::UniqueFd fd, std::string peer, Admission admission) {
  TransportOptions options{.timers = core_.shared().timers,
                           .write_idle = state_->options.timeouts.write_idle,
                           .peer = std::move(peer)};
  Result<std::unique_ptr<Transport>> transport =
      state_->tls == nullptr
          ? make_plain_transport(core_.context(), std::move(fd), std::move(options))
          : make_tls_transport(core_.context(), std::move(fd), state_->tls, std::move(options));
  if (!transport) {
    (admission == Admission::kServe ? state_->connections : state_->refusals).give_back();
    core_.shared().observer.accept_paused(state_->options.name, transport.error().detail);
    return;
  }
  auto connection = std::make_unique<Connection>(state_, core_, admission, std::move(*transport));
  boost::asio::co_spawn(
      core_.context(), run_session(std::move(connection)),
      [core = &core_](const std::exception_ptr& thrown) { core->report(thrown); });
}

}  // namespace fenceline::proxy
