#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/source_url.h"
#include "client/sources/zookeeper/zk_wire.h"
#include "client/stop_event.h"

namespace fenceline::client {

/// What a session can be taken up again by.
struct ZkIdentity {
  std::int64_t id = 0;  ///< 0: a new session.
  std::string password;
};

struct ZkEnsemble {
  std::vector<SourceHost> servers;  ///< At least one.
  std::string login;                ///< `user:password` of the scheme digest; empty: none.
};

struct ZkAnswer {
  ZkError error = ZkError::kOk;
  std::string body;
  /// The request was sent before, and that answer was lost: it may have been done already.
  bool repeated = false;
};

/// A session without threads of its own: it is alive as long as its owner calls. That is why this
/// is not ZooKeeper's C client, which sends heartbeats while the process lives, also for a holder
/// that is stuck and has not renewed.
class ZkSession {
 public:
  ZkSession() = default;
  ZkSession(const ZkSession&) = delete;
  ZkSession& operator=(const ZkSession&) = delete;
  /// Leaves the session to its timeout.
  virtual ~ZkSession() = default;

  /// Sends one request. Connects first, to the server that worked last or the next one, if there is
  /// no connection; begins the session, or takes it up again.
  ///
  /// Does: repeats a request whose connection broke, if `may_repeat`. After `stop` nothing more is
  /// waited for.
  /// Success: the server's answer; `kSessionExpired` if the session is over. Failure:
  /// `kUpstreamFailed`, `kUpstreamTimeout`, `kUnauthorized`, `kClientGone`; `applied` is `kNo` if
  /// the request cannot have been sent.
  /// Concurrency: one call at a time. Looking up a host name blocks beyond limit and stop.
  virtual base::Result<ZkAnswer> call(ZkOp op, const std::string& body, bool may_repeat,
                                      base::Milliseconds limit, const StopEvent& stop) = 0;

  /// Waits until a watch was triggered since the last `wait_for_event`, or the connection broke.
  virtual Woken wait_for_event(base::Milliseconds limit, const StopEvent& stop) = 0;

  /// Ends the session, and with it what belongs to it; also for a request that is under way. Waits
  /// for the answer up to `limit`.
  virtual void close(base::Milliseconds limit) = 0;

  /// As the server has said; 0 and empty before.
  [[nodiscard]] virtual const ZkIdentity& identity() const = 0;

  /// The timeout that the server has agreed to.
  [[nodiscard]] virtual base::Milliseconds timeout() const = 0;

  /// The server that was asked last, for messages.
  [[nodiscard]] virtual std::string address() const = 0;
};

/// Connects nowhere yet. `seen_zxid`: a server that has not come that far refuses.
std::unique_ptr<ZkSession> make_zk_session(const ZkEnsemble& ensemble, base::Milliseconds timeout,
                                           ZkIdentity identity = {}, std::int64_t seen_zxid = 0);

}  // namespace fenceline::client
