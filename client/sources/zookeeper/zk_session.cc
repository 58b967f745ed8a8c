#include "client/sources/zookeeper/zk_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "client/sources/one_key.h"
#include "client/sources/zookeeper/zk_connection.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using std::chrono::steady_clock;

constexpr std::int32_t kEvent = -1;  // Instead of the number of a request.
constexpr std::int32_t kAuthXid = -4;
constexpr std::size_t kPasswordBytes = 16;
constexpr Milliseconds kMaxTimeout{std::numeric_limits<std::int32_t>::max()};

struct Reply {
  std::int32_t xid = 0;
  std::int64_t zxid = 0;
  ZkError error = ZkError::kOk;
  std::string body;
};

Reply read_reply(const std::string& frame) {
  constexpr std::size_t kHeadBytes = 16;
  ZkReader reader(frame);
  Reply reply;
  reply.xid = reader.number();
  reply.zxid = reader.large();
  reply.error = static_cast<ZkError>(reader.number());
  reply.body = frame.substr(std::min(frame.size(), kHeadBytes));
  return reply;
}

std::string request(std::int32_t xid, ZkOp op, const std::string& body) {
  return ZkWriter().number(xid).number(static_cast<std::int32_t>(op)).bytes() + body;
}

class SocketSession final : public ZkSession {
 public:
  SocketSession(ZkEnsemble ensemble, Milliseconds timeout, ZkIdentity identity, std::int64_t zxid)
      : ensemble_(std::move(ensemble)),
        wanted_(std::min(timeout, kMaxTimeout)),
        identity_(std::move(identity)),
        zxid_(zxid) {}

  Result<ZkAnswer> call(ZkOp op, const std::string& body, bool may_repeat, Milliseconds limit,
                        const StopEvent& stop) override {
    // Each server once, and the first one again: its connection may have been broken before.
    const std::size_t tries = ensemble_.servers.size() + 1;
    const Milliseconds share = limit / static_cast<int>(tries);
    bool repeated = false;
    for (std::size_t i = 0;; ++i) {
      if (stop.requested()) {
        return tl::unexpected(stopped_error(repeated ? Applied::kUnknown : Applied::kNo));
      }
      auto answer = ask(op, body, share, stop);
      if (answer && answer->error != ZkError::kSessionMoved) {
        answer->repeated = repeated;
        return answer;
      }
      // Moved: this server is not the one that has the session now, so nothing was done.
      const bool was_sent = !answer && answer.error().applied != Applied::kNo;
      if (!answer && (answer.error().kind == ErrorKind::kClientGone ||
                      answer.error().kind == ErrorKind::kUnauthorized)) {
        return answer;  // The connection stays, for `close`.
      }
      connection_.reset();
      repeated |= was_sent;
      if ((was_sent && !may_repeat) || i + 1 >= tries) {
        base::Error error = answer ? zk_late(address()) : std::move(answer.error());
        error.applied = repeated ? Applied::kUnknown : Applied::kNo;
        return tl::unexpected(std::move(error));
      }
      current_ = (current_ + (i == 0 && was_sent ? 0 : 1)) % ensemble_.servers.size();
    }
  }

  Woken wait_for_event(Milliseconds limit, const StopEvent& stop) override {
    const auto end = steady_clock::now() + limit;
    while (!triggered_) {
      if (!connection_) {
        return stop.requested() ? Woken::kStopped : Woken::kReady;
      }
      auto frame = connection_->receive(left(end), stop);
      if (frame) {
        triggered_ |= read_reply(*frame).xid == kEvent;
      } else if (frame.error().kind == ErrorKind::kClientGone) {
        return Woken::kStopped;
      } else if (frame.error().kind == ErrorKind::kUpstreamTimeout) {
        return Woken::kLate;
      } else {
        connection_.reset();
      }
    }
    triggered_ = false;
    return Woken::kReady;
  }

  void close(Milliseconds limit) override {
    const StopEvent never{std::stop_token()};
    const auto end = steady_clock::now() + limit;
    if (!connection_ && identity_.id != 0) {
      (void)connect(limit / 2, never);
    }
    if (connection_ &&
        connection_->send(request(++xid_, ZkOp::kCloseSession, {}), left(end), never)) {
      // The server closes when it is done; what was under way before is answered first.
      while (connection_->receive(left(end), never)) {
      }
    }
    connection_.reset();
    identity_ = {};
  }

  [[nodiscard]] const ZkIdentity& identity() const override { return identity_; }
  [[nodiscard]] Milliseconds timeout() const override { return timeout_; }
  [[nodiscard]] std::string address() const override {
    return zk_address(ensemble_.servers[current_]);
  }

 private:
  static Milliseconds left(steady_clock::time_point end) {
    return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(end - steady_clock::now()));
  }

  Result<ZkAnswer> ask(ZkOp op, const std::string& body, Milliseconds limit,
                       const StopEvent& stop) {
    const auto end = steady_clock::now() + limit;
    if (!connection_) {
      auto alive = connect(limit, stop);
      if (!alive) {
        alive.error().applied = Applied::kNo;
        return base::pass_on(alive.error());
      }
      if (!*alive) {
        return ZkAnswer{.error = ZkError::kSessionExpired, .body = {}};
      }
    }
    ++xid_;
    return exchange(xid_, request(xid_, op, body), left(end), stop);
  }

  Result<ZkAnswer> exchange(std::int32_t xid, const std::string& frame, Milliseconds limit,
                            const StopEvent& stop) {
    const auto end = steady_clock::now() + limit;
    if (auto sent = connection_->send(frame, limit, stop); !sent) {
      sent.error().applied = Applied::kUnknown;
      return base::pass_on(sent.error());
    }
    while (true) {
      auto came = connection_->receive(left(end), stop);
      if (!came) {
        came.error().applied = Applied::kUnknown;
        return base::pass_on(came.error());
      }
      Reply reply = read_reply(*came);
      triggered_ |= reply.xid == kEvent;
      if (reply.xid == xid) {
        zxid_ = std::max(zxid_, reply.zxid);
        return ZkAnswer{.error = reply.error, .body = std::move(reply.body)};
      }
    }
  }

  /// Success: false if the session is over.
  Result<bool> connect(Milliseconds limit, const StopEvent& stop) {
    const auto end = steady_clock::now() + limit;
    auto opened = ZkConnection::open(ensemble_.servers[current_], limit, stop);
    if (!opened) {
      return base::pass_on(opened.error());
    }
    std::string password = identity_.password;
    password.resize(kPasswordBytes);
    ZkWriter hello;
    hello.number(0).large(zxid_).number(static_cast<std::int32_t>(wanted_.count()));
    hello.large(identity_.id).text(password).flag(false);
    if (auto sent = opened->send(hello.bytes(), left(end), stop); !sent) {
      return base::pass_on(sent.error());
    }
    auto welcome = opened->receive(left(end), stop);
    if (!welcome) {
      return base::pass_on(welcome.error());
    }
    ZkReader reader(*welcome);
    (void)reader.number();
    const std::int32_t timeout = reader.number();
    const std::int64_t id = reader.large();
    password = reader.text();
    if (!reader.good()) {
      return base::fail(ErrorKind::kUpstreamFailed,
                        fmt::format("What answers at {} is no ZooKeeper.", address()));
    }
    if (timeout <= 0 || id == 0) {
      return false;
    }
    timeout_ = Milliseconds(timeout);
    identity_ = {.id = id, .password = password};
    connection_ = std::move(*opened);
    triggered_ = true;  // Watches of another connection are not here.
    if (auto logged_in = log_in(left(end), stop); !logged_in) {
      connection_.reset();
      return base::pass_on(logged_in.error());
    }
    return true;
  }

  Result<void> log_in(Milliseconds limit, const StopEvent& stop) {
    if (ensemble_.login.empty()) {
      return {};
    }
    const std::string body = ZkWriter().number(0).text("digest").text(ensemble_.login).bytes();
    auto answer = exchange(kAuthXid, request(kAuthXid, ZkOp::kAuth, body), limit, stop);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->error != ZkError::kOk) {
      return base::fail(ErrorKind::kUnauthorized,
                        fmt::format("ZooKeeper at {} does not take this user and password "
                                    "(scheme digest).",
                                    address()));
    }
    return {};
  }

  ZkEnsemble ensemble_;
  Milliseconds wanted_;
  Milliseconds timeout_{0};
  ZkIdentity identity_;
  std::int64_t zxid_;
  std::int32_t xid_ = 0;
  std::optional<ZkConnection> connection_;
  std::size_t current_ = 0;
  bool triggered_ = false;
};

}  // namespace

std::unique_ptr<ZkSession> make_zk_session(const ZkEnsemble& ensemble, Milliseconds timeout,
                                           ZkIdentity identity, std::int64_t seen_zxid) {
  return std::make_unique<SocketSession>(ensemble, timeout, std::move(identity), seen_zxid);
}

}  // namespace fenceline::client
