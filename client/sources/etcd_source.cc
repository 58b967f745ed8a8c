#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <random>
#include <utility>

#include "client/sources/etcd/etcd_cluster.h"
#include "client/sources/etcd/etcd_requests.h"
#include "client/sources/one_key.h"
#include "client/sources/sources.h"
#include "client/stop_event.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;

constexpr std::string_view kService = "etcd";
constexpr Milliseconds kSecond{1'000};
constexpr Milliseconds kNetwork{8'000};
constexpr Milliseconds kGiveBack{1'000};
constexpr Milliseconds kGiveBackStopped{400};
constexpr int kEntries = 3;
constexpr Milliseconds kFirstPause{30};
constexpr Milliseconds kLongestPause{250};

/// A place in the queue of a key.
struct Place {
  EtcdNames names;
  std::int64_t lease = 0;
  std::int64_t revision = 0;
  Milliseconds ttl{0};
  base::MonotonicTime alive;  ///< Before the last request that the lease is known to have survived.
  bool is_first = false;
  EtcdEntry holder;
};

tl::unexpected<base::Error> unexpected_answer(const EtcdCluster& cluster,
                                              const EtcdAnswer& answer) {
  return base::fail(
      ErrorKind::kUpstreamFailed,
      answer.message.empty()
          ? fmt::format("etcd at {} gave an answer that makes no sense.", cluster.address())
          : fmt::format("etcd at {} said: {}.", cluster.address(), answer.message),
      Applied::kUnknown);
}

class EtcdSource final : public TokenSource {
 public:
  EtcdSource(std::string prefix, std::unique_ptr<EtcdCluster> cluster, const base::Clock& clock)
      : prefix_(std::move(prefix)), cluster_(std::move(cluster)), clock_(clock) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override {
    if (auto fits = check_one_key(order, kService, kSecond); !fits) {
      return base::pass_on(fits.error());
    }
    if (order.ttl % kSecond != Milliseconds(0)) {
      return base::fail(
          ErrorKind::kMalformedRequest,
          fmt::format("etcd counts a ttl in whole seconds, and {} ms are none; take {} s.",
                      order.ttl.count(), order.ttl / kSecond + 1));
    }
    if (stop.stop_requested()) {
      return tl::unexpected(stopped_error(Applied::kNo));
    }
    const std::int64_t lease = etcd_lease_of(order.attempt, order.keys.front());
    auto grant = queue_up(order, lease, stop);
    if (!grant) {
      // With the lease goes the place in the queue.
      (void)cluster_->call("/v3/lease/revoke", etcd_lease_request(lease),
                           stop.stop_requested() ? kGiveBackStopped : kGiveBack, {});
    }
    return grant;
  }

  Result<Grant> renew(const Grant& grant, std::stop_token stop) override {
    const auto lease = parse_etcd_lease(grant.lease);
    if (!lease) {
      return tl::unexpected(ended_error(grant));
    }
    const base::MonotonicTime before = clock_.now();
    auto ttl = keep_alive(*lease, stop);
    if (!ttl) {
      return base::pass_on(ttl.error());
    }
    // Somebody may have deleted the key, which leaves the lease as it is.
    auto own = cluster_->call(
        "/v3/kv/range", etcd_own_request(make_etcd_names(prefix_, grant.keys.front(), *lease)),
        kNetwork, stop);
    if (!own) {
      return base::pass_on(own.error());
    }
    if (own->code != EtcdCode::kOk) {
      return unexpected_answer(*cluster_, *own);
    }
    const auto entries = etcd_entries(own->body);
    if (*ttl == Milliseconds(0) || entries.empty() ||
        entries.front().create_revision != grant.token.value()) {
      return tl::unexpected(ended_error(grant));
    }
    Grant renewed = grant;
    renewed.ttl = *ttl;
    renewed.valid_until = before + *ttl - drift_of(*ttl);
    return renewed;
  }

  Result<void> release(const Grant& grant) override {
    const auto lease = parse_etcd_lease(grant.lease);
    if (!lease) {
      return tl::unexpected(ended_error(grant));
    }
    const EtcdNames names = make_etcd_names(prefix_, grant.keys.front(), *lease);
    auto left =
        cluster_->call("/v3/kv/txn", etcd_leave_request(names, grant.token.value()), kNetwork, {});
    if (!left) {
      return base::pass_on(left.error());
    }
    if (left->code != EtcdCode::kOk) {
      return unexpected_answer(*cluster_, *left);
    }
    // A lease without a key stands in nobody's way, so the answer does not matter.
    (void)cluster_->call("/v3/lease/revoke", etcd_lease_request(*lease), kGiveBack, {});
    if (!etcd_succeeded(left->body) && !left->repeated) {
      return tl::unexpected(ended_error(grant));
    }
    return {};
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    auto range = cluster_->call("/v3/kv/range",
                                etcd_first_request(make_etcd_names(prefix_, key, 0)), kNetwork, {});
    if (!range) {
      return base::pass_on(range.error());
    }
    if (range->code != EtcdCode::kOk) {
      return unexpected_answer(*cluster_, *range);
    }
    const auto entries = etcd_entries(range->body);
    if (entries.empty()) {
      return std::nullopt;
    }
    HeldBy held{.holder = entries.front().value,
                .token = base::Token::of(entries.front().create_revision),
                .left = {}};
    auto left = cluster_->call("/v3/lease/timetolive", etcd_lease_request(entries.front().lease),
                               kNetwork, {});
    if (left && left->code == EtcdCode::kOk && etcd_number(left->body, "TTL") >= 0) {
      held.left = std::chrono::seconds(etcd_number(left->body, "TTL"));
    }
    return held;
  }

  Result<std::vector<std::string>> warnings() override {
    auto answer = cluster_->call("/v3/maintenance/alarm", {{"action", "GET"}}, kNetwork, {});
    if (!answer) {
      return base::pass_on(answer.error());
    }
    std::vector<std::string> found;
    const auto* const alarms = answer->body.if_contains("alarms");
    const std::string text = alarms == nullptr ? "" : boost::json::serialize(*alarms);
    if (text.find("CORRUPT") != std::string::npos) {
      found.emplace_back(
          "The alarm CORRUPT is on: members have different data, so tokens can fall. Replace the "
          "damaged member, then run etcdctl alarm disarm.");
    }
    if (text.find("NOSPACE") != std::string::npos) {
      found.emplace_back(
          "The alarm NOSPACE is on: etcd takes no new leases. Compact and defragment it, then run "
          "etcdctl alarm disarm.");
    }
    return found;
  }

  [[nodiscard]] std::string_view scheme() const override { return "etcd"; }

 private:
  Result<Grant> queue_up(const LeaseOrder& order, std::int64_t lease, const std::stop_token& stop) {
    const StopEvent stopped(stop);
    const base::MonotonicTime end = clock_.now() + order.wait;
    Place place{.names = make_etcd_names(prefix_, order.keys.front(), lease),
                .lease = lease,
                .revision = 0,
                .ttl = order.ttl,
                .alive = {},
                .is_first = false,
                .holder = {}};
    Milliseconds longest = kFirstPause;
    while (true) {
      auto looked = place.revision == 0 ? enter(order, place, stop) : look(place, stop);
      if (!looked) {
        return base::pass_on(looked.error());
      }
      if (stopped.requested()) {
        return tl::unexpected(stopped_error(Applied::kNo));
      }
      if (place.is_first) {
        return Grant{.keys = order.keys,
                     .lease = etcd_lease_text(lease),
                     .token = base::Token::of(place.revision),
                     .ttl = place.ttl,
                     .valid_until = place.alive + place.ttl - drift_of(place.ttl)};
      }
      const auto left = std::chrono::ceil<Milliseconds>(end - clock_.now());
      if (left <= Milliseconds(0)) {
        return tl::unexpected(held_error(order.keys.front(), place.holder.value,
                                         base::Token::of(place.holder.create_revision)));
      }
      if (stopped.wait(-1, 0, std::min(left, jittered(longest))) == Woken::kStopped) {
        return tl::unexpected(stopped_error(Applied::kNo));
      }
      longest = std::min(longest * 2, kLongestPause);
    }
  }

  /// Gets the lease and the place in the queue; both again if they are there.
  Result<void> enter(const LeaseOrder& order, Place& place, const std::stop_token& stop) {
    for (int i = 0; i < kEntries; ++i) {
      place.alive = clock_.now();
      if (auto leased = get_lease(order, place, stop); !leased) {
        return leased;
      }
      auto entered = cluster_->call(
          "/v3/kv/txn", etcd_enter_request(place.names, place.lease, order.holder), kNetwork, stop);
      if (!entered) {
        return base::pass_on(entered.error());
      }
      if (entered->code == EtcdCode::kNotFound) {
        continue;  // The lease has just ended.
      }
      const auto ranges = etcd_ranges(entered->body);
      if (entered->code != EtcdCode::kOk || ranges.size() != 2 || ranges[0].empty() ||
          ranges[1].empty() || ranges[0].front().create_revision <= 0) {
        return unexpected_answer(*cluster_, *entered);
      }
      place.revision = ranges[0].front().create_revision;
      place.holder = ranges[1].front();
      place.is_first = place.holder.create_revision == place.revision;
      return {};
    }
    return base::fail(ErrorKind::kUpstreamTimeout,
                      fmt::format("etcd at {} ends leases of {} s before they are used.",
                                  cluster_->address(), order.ttl / kSecond));
  }

  Result<void> get_lease(const LeaseOrder& order, Place& place, const std::stop_token& stop) {
    auto answer = cluster_->call(
        "/v3/lease/grant", etcd_lease_request(place.lease, order.ttl / kSecond), kNetwork, stop);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->code == EtcdCode::kOk) {
      place.ttl = std::chrono::seconds(etcd_number(answer->body, "TTL"));
      return {};
    }
    if (answer->code != EtcdCode::kPrecondition) {
      return unexpected_answer(*cluster_, *answer);
    }
    // It exists: this attempt was here before.
    auto ttl = keep_alive(place.lease, stop);
    if (!ttl) {
      return base::pass_on(ttl.error());
    }
    place.ttl = *ttl;  // 0 if it has ended: then the next request does not find it.
    return {};
  }

  /// Keeps the place, and looks who stands before it.
  Result<void> look(Place& place, const std::stop_token& stop) {
    auto ahead = cluster_->call("/v3/kv/txn", etcd_ahead_request(place.names, place.revision),
                                kNetwork, stop);
    if (!ahead) {
      return base::pass_on(ahead.error());
    }
    if (ahead->code != EtcdCode::kOk) {
      return unexpected_answer(*cluster_, *ahead);
    }
    if (!etcd_succeeded(ahead->body)) {
      place.revision = 0;  // Lost, as after a long pause: to the end of the queue.
      return {};
    }
    const auto ranges = etcd_ranges(ahead->body);
    const bool is_first = !ranges.empty() && ranges.front().empty();
    const base::MonotonicTime now = clock_.now();
    if (is_first || now - place.alive > place.ttl / 3) {
      auto ttl = keep_alive(place.lease, stop);
      if (!ttl) {
        return base::pass_on(ttl.error());
      }
      if (*ttl == Milliseconds(0)) {
        place.revision = 0;
        return {};
      }
      place.ttl = *ttl;
      place.alive = now;
    }
    place.is_first = is_first;
    return {};
  }

  /// Success: the ttl; 0 if the lease has ended.
  Result<Milliseconds> keep_alive(std::int64_t lease, const std::stop_token& stop) {
    auto answer = cluster_->call("/v3/lease/keepalive", etcd_lease_request(lease), kNetwork, stop);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->code == EtcdCode::kNotFound) {
      return Milliseconds(0);
    }
    if (answer->code != EtcdCode::kOk || etcd_number(answer->body, "ID") != lease) {
      return unexpected_answer(*cluster_, *answer);
    }
    return std::max(Milliseconds(0),
                    Milliseconds(std::chrono::seconds(etcd_number(answer->body, "TTL"))));
  }

  Milliseconds jittered(Milliseconds longest) {
    std::uniform_int_distribution<int> part(static_cast<int>(longest.count()) / 2,
                                            static_cast<int>(longest.count()));
    return Milliseconds(part(random_));
  }

  std::string prefix_;
  std::unique_ptr<EtcdCluster> cluster_;
  const base::Clock& clock_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

MadeSource make_etcd_source(SourceUrl url, const base::Clock& clock) {
  EtcdOptions options;
  options.members = url.hosts;
  options.tls = url.scheme == "etcds";
  options.user = url.user.value_or("");
  options.password = url.password.value_or("");
  const auto prefix = url.take("prefix").value_or("fenceline/");
  const auto ca_file = url.take("ca");
  if (auto taken = url.check_all_taken(); !taken) {
    return base::pass_on(taken.error());
  }
  if (ca_file && !options.tls) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "The option 'ca' is for TLS: write the source's URL with etcds://.");
  }
  if (url.path.size() > 1) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The path '{}' of an etcd URL says nothing; choose where the "
                                  "leases are with ?prefix=….",
                                  url.path));
  }
  options.ca_file = ca_file.value_or("");
  auto cluster = make_etcd_cluster(options);
  if (!cluster) {
    return base::pass_on(cluster.error());
  }
  return std::make_unique<EtcdSource>(prefix, std::move(*cluster), clock);
}

}  // namespace fenceline::client
