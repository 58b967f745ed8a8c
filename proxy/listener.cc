#include "proxy/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/asio_await.h"
#include "base/spawn.h"
#include "proxy/plain_transport.h"
#include "proxy/session.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::Result;
using boost::system::error_code;

// Connections that wait are taken together, but those that are served get their turn in between.
constexpr int kBatch = 64;
constexpr int kMostWaiting = 4096;  // The backlog.
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
  Connection(std::shared_ptr<ListenerState> state, std::shared_ptr<const ListenerOptions> options,
             Core& core, Admission admission, std::unique_ptr<Transport> transport)
      : state_(std::move(state)),
        core_(core),
        admission_(admission),
        session_(std::in_place, std::move(transport), std::move(options), core.shared(),
                 admission) {
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
      (core_.shared().observer.*event)(state_->name);
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

ListenerState::ListenerState(std::string called, std::size_t max_connections, LiveConnections& all)
    : name(std::move(called)), live(all), connections(max_connections), refusals(kMaxRefusals) {}

Listener::Listener(Core& core, std::shared_ptr<ListenerState> state, ListenerSetup setup,
                   base::UniqueFd socket)
    : core_(core),
      state_(std::move(state)),
      setup_(std::move(setup)),
      // Asio keeps the protocol for opening sockets only: v4 fits v6 too.
      acceptor_(core.context(), boost::asio::ip::tcp::v4(), socket.get()),
      pause_(core.context()) {
  socket.release();
}

void Listener::start() {
  base::spawn(core_.context(), run(shared_from_this()),
              [core = &core_](const std::exception_ptr& thrown) { core->report(thrown); });
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::close_after_those_that_wait() {
  Next next = Next::kGoOn;
  for (int i = 0; i < kMostWaiting / kBatch && next == Next::kGoOn && acceptor_.is_open(); ++i) {
    next = accept_batch();
  }
  close();
}

Awaitable<void> Listener::run(std::shared_ptr<Listener> self) {
  co_await self->accept_until_closed();
}

Awaitable<void> Listener::accept_until_closed() {
  error_code error;
  auto token = base::await_into(error);
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
      return Next::kIdle;
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
  core_.shared().observer.accept_paused(state_->name, std::generic_category().message(reason));
  return Next::kPause;
}

void Listener::admit(base::UniqueFd fd, std::string peer) {
  if (state_->connections.take()) {
    serve(std::move(fd), std::move(peer), Admission::kServe);
    return;
  }
  core_.shared().observer.connection_refused(state_->name);
  if (state_->refusals.take()) {
    serve(std::move(fd), std::move(peer), Admission::kRefuse);
  }
}

void Listener::serve(base::UniqueFd fd, std::string peer, Admission admission) {
  TransportOptions options{.timers = core_.shared().timers,
                           .write_idle = setup_.options->timeouts.write_idle,
                           .peer = std::move(peer)};
  Result<std::unique_ptr<Transport>> transport =
      setup_.tls == nullptr
          ? make_plain_transport(core_.context(), std::move(fd), std::move(options))
          : make_tls_transport(core_.context(), std::move(fd), setup_.tls, std::move(options));
  if (!transport) {
    (admission == Admission::kServe ? state_->connections : state_->refusals).give_back();
    core_.shared().observer.accept_paused(state_->name, transport.error().detail);
    return;
  }
  auto connection =
      std::make_unique<Connection>(state_, setup_.options, core_, admission, std::move(*transport));
  base::spawn(core_.context(), run_session(std::move(connection)),
              [core = &core_](const std::exception_ptr& thrown) { core->report(thrown); });
}

}  // namespace fenceline::proxy
