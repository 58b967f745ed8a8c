#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "client/sources/one_key.h"
#include "client/sources/sources.h"
#include "client/sources/zookeeper/zk_names.h"
#include "client/sources/zookeeper/zk_session.h"
#include "client/stop_event.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;

constexpr std::string_view kService = "ZooKeeper";
constexpr Milliseconds kShortestTtl{100};
constexpr Milliseconds kNetwork{8'000};
constexpr Milliseconds kClose{2'000};
constexpr Milliseconds kCloseStopped{400};
constexpr Milliseconds kReader{10'000};
constexpr Milliseconds kCloseReader{200};
constexpr int kRepeats = 5;

/// Where an order stands in line.
struct Place {
  std::string queue;          ///< The path of the key's node.
  std::string name;           ///< Empty until there is a place.
  std::string ahead;          ///< Who stands before it; empty if it is the first.
  base::MonotonicTime alive;  ///< Before the last request that the session has survived.
};

class ZooKeeperSource final : public TokenSource {
 public:
  ZooKeeperSource(ZkEnsemble ensemble, std::string root, const base::Clock& clock)
      : ensemble_(std::move(ensemble)), root_(std::move(root)), clock_(clock) {}

  ~ZooKeeperSource() override {
    if (reader_ != nullptr) {
      reader_->close(kCloseReader);
    }
  }
  ZooKeeperSource(const ZooKeeperSource&) = delete;
  ZooKeeperSource& operator=(const ZooKeeperSource&) = delete;

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop_token) override {
    if (auto fits = check_one_key(order, kService, kShortestTtl); !fits) {
      return base::pass_on(fits.error());
    }
    const StopEvent stop(std::move(stop_token));
    auto session = make_zk_session(ensemble_, order.ttl);
    auto grant = queue_up(order, *session, stop);
    if (grant) {
      sessions_[grant->lease] = std::move(session);
    } else {
      session->close(stop.requested() ? kCloseStopped : kClose);
    }
    return grant;
  }

  Result<Grant> renew(const Grant& grant, std::stop_token stop_token) override {
    const auto lease = parse_zk_lease(grant.lease);
    if (!lease) {
      return tl::unexpected(ended_error(grant));
    }
    const StopEvent stop(std::move(stop_token));
    ZkSession& session = session_of(grant, *lease);
    const std::string path = queue_of(grant.keys.front()) + '/' + lease->place;
    const base::MonotonicTime before = clock_.now();
    // A follower may lag behind the leader, who has ended the session; it catches up first.
    auto answer = session.call(ZkOp::kSync, ZkWriter().text(path).bytes(), true, kNetwork, stop);
    if (answer && answer->error == ZkError::kOk) {
      answer = session.call(ZkOp::kExists, zk_read_body(path, false), true, kNetwork, stop);
    }
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->error == ZkError::kNoNode || answer->error == ZkError::kSessionExpired) {
      sessions_.erase(grant.lease);
      return tl::unexpected(ended_error(grant));
    }
    ZkReader reader(answer->body);
    const ZkStat stat = read_zk_stat(reader);
    if (answer->error != ZkError::kOk || !reader.good()) {
      return tl::unexpected(said(session, *answer));
    }
    if (stat.czxid != grant.token.value() || stat.owner != lease->session.id) {
      return tl::unexpected(ended_error(grant));
    }
    Grant renewed = grant;
    renewed.ttl = session.timeout();
    renewed.valid_until = before + renewed.ttl - drift_of(renewed.ttl);
    return renewed;
  }

  Result<void> release(const Grant& grant) override {
    const auto lease = parse_zk_lease(grant.lease);
    if (!lease) {
      return tl::unexpected(ended_error(grant));
    }
    const StopEvent never{std::stop_token()};
    ZkSession& session = session_of(grant, *lease);
    auto answer = session.call(ZkOp::kDelete,
                               zk_delete_body(queue_of(grant.keys.front()) + '/' + lease->place),
                               true, kNetwork, never);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    const bool was_there =
        answer->error == ZkError::kOk || (answer->error == ZkError::kNoNode && answer->repeated);
    if (!was_there && answer->error != ZkError::kNoNode &&
        answer->error != ZkError::kSessionExpired) {
      return tl::unexpected(said(session, *answer));
    }
    if (answer->error != ZkError::kSessionExpired) {
      session.close(kClose);
    }
    sessions_.erase(grant.lease);
    if (!was_there) {
      return tl::unexpected(ended_error(grant));
    }
    return {};
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    const std::string queue = queue_of(key);
    for (int i = 0; i < kRepeats; ++i) {
      auto names = read(ZkOp::kGetChildren, queue);
      if (!names) {
        return base::pass_on(names.error());
      }
      ZkReader reader(names->body);
      const auto places = zk_in_order(reader.texts());
      if (names->error == ZkError::kNoNode || places.empty()) {
        return std::nullopt;
      }
      auto data = read(ZkOp::kGetData, queue + '/' + places.front());
      if (!data) {
        return base::pass_on(data.error());
      }
      if (data->error == ZkError::kNoNode) {
        continue;  // It has just gone.
      }
      ZkReader read_data(data->body);
      HeldBy held;
      held.holder = read_data.text();
      held.token = base::Token::of(std::max<std::int64_t>(0, read_zk_stat(read_data).czxid));
      return held;
    }
    return base::fail(ErrorKind::kUpstreamTimeout,
                      fmt::format("The holder of '{}' changes too fast to be shown.", key.text()));
  }

  Result<std::vector<std::string>> warnings() override {
    // Nothing that makes tokens fall can be asked for here (docs/sources.md); that it answers, can.
    auto answer = read(ZkOp::kExists, "/");
    if (!answer) {
      return base::pass_on(answer.error());
    }
    return std::vector<std::string>();
  }

  [[nodiscard]] std::string_view scheme() const override { return "zookeeper"; }

 private:
  [[nodiscard]] std::string queue_of(const base::FenceKey& key) const {
    return root_ + '/' + zk_node_name(key);
  }

  [[nodiscard]] base::Error said(const ZkSession& session, const ZkAnswer& answer) const {
    if (answer.error == ZkError::kNoAuth || answer.error == ZkError::kInvalidAcl) {
      return {.kind = ErrorKind::kUnauthorized,
              .detail = fmt::format("ZooKeeper at {} forbids it ({}): this user needs the "
                                    "permissions to read, create and "
                                    "delete below {}; name it as zookeeper://user:password@….",
                                    session.address(), static_cast<int>(answer.error), root_)};
    }
    return {.kind = ErrorKind::kUpstreamFailed,
            .detail = fmt::format("ZooKeeper at {} said error {}{}.", session.address(),
                                  static_cast<int>(answer.error),
                                  answer.error == ZkError::kSessionExpired
                                      ? ": the session ended while the lease was being taken"
                                      : ""),
            .applied = Applied::kUnknown};
  }

  /// The session of the lease, taken up again if another process or source began it.
  ZkSession& session_of(const Grant& grant, const ZkLease& lease) {
    auto& session = sessions_[grant.lease];
    if (session == nullptr) {
      session = make_zk_session(ensemble_, grant.ttl, lease.session, grant.token.value());
    }
    return *session;
  }

  Result<ZkAnswer> read(ZkOp op, const std::string& path) {
    const StopEvent never{std::stop_token()};
    for (int i = 0;; ++i) {
      if (reader_ == nullptr) {
        reader_ = make_zk_session(ensemble_, kReader);
      }
      auto answer = reader_->call(op, zk_read_body(path, false), true, kNetwork, never);
      const bool is_over = answer && answer->error == ZkError::kSessionExpired;
      if (is_over || !answer) {
        reader_.reset();
      }
      if (is_over && i < kRepeats) {
        continue;
      }
      if (answer && answer->error != ZkError::kOk && answer->error != ZkError::kNoNode) {
        return tl::unexpected(is_over ? base::Error{.kind = ErrorKind::kUpstreamFailed,
                                                    .detail = "ZooKeeper ends every session."}
                                      : said(*reader_, *answer));
      }
      return answer;
    }
  }

  Result<Grant> queue_up(const LeaseOrder& order, ZkSession& session, const StopEvent& stop) {
    const base::MonotonicTime end = clock_.now() + order.wait;
    Place place{.queue = queue_of(order.keys.front()), .name = {}, .ahead = {}, .alive = {}};
    int lost = 0;
    while (true) {
      auto looked = look(order, place, session, stop);
      if (!looked) {
        return base::pass_on(looked.error());
      }
      if (!*looked) {
        // As after a long pause: a new session, to the end of the queue.
        if (++lost > kRepeats) {
          return base::fail(ErrorKind::kUpstreamFailed,
                            fmt::format("ZooKeeper at {} ends sessions of {} ms before they are "
                                        "used; take a longer ttl.",
                                        session.address(), order.ttl.count()));
        }
        session.close(Milliseconds(0));
        place.name.clear();
        continue;
      }
      if (stop.requested()) {
        return tl::unexpected(stopped_error(Applied::kNo));
      }
      if (place.ahead.empty()) {
        return granted(order, place, session, stop);
      }
      const auto left = std::chrono::ceil<Milliseconds>(end - clock_.now());
      if (left <= Milliseconds(0)) {
        const auto holder = show(order.keys.front());
        const bool is_known = holder && holder->has_value();
        return tl::unexpected(held_error(order.keys.front(), is_known ? (*holder)->holder : "",
                                         is_known ? (*holder)->token : base::Token()));
      }
      // Watches the one ahead only, so that a release wakes one waiter; looking is also what keeps
      // the session alive.
      auto watched = session.call(
          ZkOp::kExists, zk_read_body(place.queue + '/' + place.ahead, true), true, kNetwork, stop);
      if (!watched) {
        return base::pass_on(watched.error());
      }
      if (watched->error == ZkError::kOk &&
          session.wait_for_event(std::min(left, session.timeout() / 3), stop) == Woken::kStopped) {
        return tl::unexpected(stopped_error(Applied::kNo));
      }
    }
  }

  /// Finds the own place and the one ahead; makes the place if there is none. Success: false if the
  /// session is over.
  Result<bool> look(const LeaseOrder& order, Place& place, ZkSession& session,
                    const StopEvent& stop) {
    base::Error last{
        .kind = ErrorKind::kUpstreamFailed,
        .detail = fmt::format("ZooKeeper at {}: the node {} vanishes as often as it is "
                              "made.",
                              session.address(), place.queue)};
    for (int i = 0; i < kRepeats; ++i) {
      place.alive = clock_.now();
      auto children =
          session.call(ZkOp::kGetChildren, zk_read_body(place.queue, false), true, kNetwork, stop);
      if (!children) {
        return base::pass_on(children.error());
      }
      if (children->error == ZkError::kSessionExpired) {
        return false;
      }
      if (children->error != ZkError::kOk && children->error != ZkError::kNoNode) {
        return tl::unexpected(said(session, *children));
      }
      if (children->error == ZkError::kOk && find_place(order, place, session, children->body)) {
        return true;
      }
      if (auto made = make_place(order, place, session, stop); !made) {
        if (made.error().applied != Applied::kUnknown ||
            made.error().kind == ErrorKind::kClientGone) {
          return base::pass_on(made.error());
        }
        last = std::move(made.error());  // It may be there: look again.
      }
    }
    return tl::unexpected(std::move(last));
  }

  static bool find_place(const LeaseOrder& order, Place& place, const ZkSession& session,
                         const std::string& children) {
    ZkReader reader(children);
    const auto names = zk_in_order(reader.texts());
    const std::string begin = zk_attempt_name(order.attempt, session.identity().id);
    const auto own = std::ranges::find_if(
        names, [&](const std::string& name) { return name.starts_with(begin); });
    if (own == names.end()) {
      return false;
    }
    place.name = *own;
    place.ahead = own == names.begin() ? "" : *(own - 1);
    return true;
  }

  Result<void> make_place(const LeaseOrder& order, const Place& place, ZkSession& session,
                          const StopEvent& stop) {
    const std::string path =
        place.queue + '/' + zk_attempt_name(order.attempt, session.identity().id);
    const std::string body =
        zk_create_body(path, order.holder, !ensemble_.login.empty(), ZkMode::kEphemeralSequential);
    auto made = session.call(ZkOp::kCreate2, body, false, kNetwork, stop);
    if (!made) {
      return base::pass_on(made.error());
    }
    if (made->error == ZkError::kNoNode) {
      return make_queue(place.queue, session, stop);
    }
    if (made->error != ZkError::kOk) {
      return tl::unexpected(said(session, *made));
    }
    return {};
  }

  /// The nodes on the way, which stay, and the key's, which the server deletes some time after it
  /// has become empty.
  Result<void> make_queue(const std::string& queue, ZkSession& session, const StopEvent& stop) {
    for (std::size_t end = queue.find('/', 1);; end = queue.find('/', end + 1)) {
      const bool is_last = end == std::string::npos;
      const std::string body =
          zk_create_body(queue.substr(0, end), {}, is_last && !ensemble_.login.empty(),
                         is_last ? ZkMode::kContainer : ZkMode::kPersistent);
      auto made = session.call(is_last ? ZkOp::kCreateContainer : ZkOp::kCreate2, body, true,
                               kNetwork, stop);
      if (!made) {
        return base::pass_on(made.error());
      }
      if (made->error != ZkError::kOk && made->error != ZkError::kNodeExists &&
          (is_last || made->error != ZkError::kNoAuth)) {  // It may exist and be closed to us.
        return tl::unexpected(said(session, *made));
      }
      if (is_last) {
        return {};
      }
    }
  }

  Result<Grant> granted(const LeaseOrder& order, const Place& place, ZkSession& session,
                        const StopEvent& stop) {
    auto answer = session.call(ZkOp::kExists, zk_read_body(place.queue + '/' + place.name, false),
                               true, kNetwork, stop);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    ZkReader reader(answer->body);
    const ZkStat stat = read_zk_stat(reader);
    if (answer->error != ZkError::kOk || !reader.good() || stat.czxid <= 0) {
      return tl::unexpected(said(session, *answer));
    }
    return Grant{.keys = order.keys,
                 .lease = zk_lease_text({session.identity(), place.name}),
                 .token = base::Token::of(stat.czxid),
                 .ttl = session.timeout(),
                 .valid_until = place.alive + session.timeout() - drift_of(session.timeout())};
  }

  ZkEnsemble ensemble_;
  std::string root_;
  const base::Clock& clock_;
  std::map<std::string, std::unique_ptr<ZkSession>> sessions_;  ///< By lease.
  std::unique_ptr<ZkSession> reader_;                           ///< For `show`.
};

}  // namespace

MadeSource make_zookeeper_source(SourceUrl url, const base::Clock& clock) {
  const std::string prefix = url.take("prefix").value_or("fenceline");
  if (auto taken = url.check_all_taken(); !taken) {
    return base::pass_on(taken.error());
  }
  std::string root = url.path + '/' + prefix;
  std::string clean;  // One slash between two names, none at the end.
  for (const char c : root) {
    if (c != '/' || clean.empty() || clean.back() != '/') {
      clean += c;
    }
  }
  while (clean.ends_with('/')) {
    clean.pop_back();
  }
  if (clean.find("/./") != std::string::npos || clean.find("/../") != std::string::npos ||
      clean.ends_with("/.") || clean.ends_with("/..") || base::has_control_byte(clean)) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The path '{}' of the source's URL and its prefix '{}' make no "
                                  "path of ZooKeeper.",
                                  url.path, prefix));
  }
  ZkEnsemble ensemble{.servers = url.hosts, .login = {}};
  if (url.user) {
    ensemble.login = *url.user + ':' + url.password.value_or("");
  }
  return std::make_unique<ZooKeeperSource>(std::move(ensemble), std::move(clean), clock);
}

}  // namespace fenceline::client
