#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/redis/command.h"
#include "client/redis/failures.h"
#include "client/redis/round.h"
#include "client/sources/redis_health.h"
#include "client/sources/redis_lease.h"
#include "client/sources/redis_url.h"
#include "client/sources/sources.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using redis::Reply;

// Lock and counter in one step. The token is read as text: Lua's numbers end at 2^53. A repetition
// by the same owner gets the same token; the counter cannot have moved while its lock stood. What
// cannot be counted leaves no lock behind.
constexpr std::string_view kAcquire = R"(
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local counted = redis.pcall('INCR', KEYS[2])
  if type(counted) == 'table' and counted.err then
    redis.call('DEL', KEYS[1])
    return counted
  end
  redis.call('PERSIST', KEYS[2])
  return {1, redis.call('GET', KEYS[2])}
end
local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, redis.call('GET', KEYS[2]) or ''}
end
return {0, owner, redis.call('PTTL', KEYS[1])})";

constexpr std::string_view kRenew =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

constexpr std::string_view kRelease =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

constexpr std::string_view kShow =
    "return {redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]), "
    "redis.call('GET', KEYS[2]) or ''}";

constexpr Milliseconds kLongestAnswer{4'000};

class RedisSource final : public TokenSource {
 public:
  RedisSource(RedisUrl url, const base::Clock& clock)
      : clock_(clock),
        prefix_(std::move(url.prefix)),
        peer_(redis::make_peer(std::move(url.servers.front()))) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override {
    if (auto right = check_redis_order(order); !right) {
      return base::pass_on(right.error());
    }
    const base::MonotonicTime end = clock_.now() + order.wait;
    const std::string owner = owner_value(order.holder, order.attempt);
    Backoff backoff;
    while (true) {
      std::optional<Milliseconds> held_for;
      auto outcome = try_once(order, owner, held_for, stop);
      if (outcome || outcome.error().kind != ErrorKind::kLeaseHeld) {
        return outcome;
      }
      const auto left = std::chrono::ceil<Milliseconds>(end - clock_.now());
      if (left <= Milliseconds(0)) {
        return outcome;
      }
      redis::wait_or_stop(std::min(left, backoff.next(held_for)), stop);
    }
  }

  Result<Grant> renew(const Grant& grant, std::stop_token stop) override {
    const auto sent = clock_.now();
    auto reply = ask(redis::eval(kRenew, {lock_name(prefix_, grant.keys.front())},
                                 {grant.lease, std::to_string(grant.ttl.count())}),
                     std::clamp<Milliseconds>(grant.ttl / 2, Milliseconds(500), kLongestAnswer),
                     std::move(stop));
    auto done = was_mine(reply);
    if (!done) {
      return base::pass_on(done.error());
    }
    Grant renewed = grant;
    renewed.valid_until = valid_until(sent, grant.ttl);
    return renewed;
  }

  Result<void> release(const Grant& grant) override {
    auto reply = ask(release_command(grant.keys.front(), grant.lease), kLongestAnswer, {});
    return was_mine(reply);
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    auto reply = ask(redis::eval(kShow, {lock_name(prefix_, key), token_name(prefix_, key)}, {}),
                     kLongestAnswer, {});
    if (!reply) {
      return base::pass_on(reply.error());
    }
    if (reply->elements.size() != 3) {
      return strange();
    }
    const std::string& owner = reply->elements[0].text;
    if (owner.empty()) {
      return std::nullopt;
    }
    HeldBy held;
    held.holder = holder_in(owner);
    if (const std::int64_t left = reply->elements[1].integer; left >= 0) {
      held.left = Milliseconds(left);
    }
    if (const auto token = base::Token::parse(reply->elements[2].text)) {
      held.token = *token;
    }
    return held;
  }

  Result<std::vector<std::string>> warnings() override {
    auto setup = ask_for_setup(*peer_);
    if (!setup) {
      return base::pass_on(setup.error());
    }
    return warnings_of(*setup, peer_->name());
  }

  [[nodiscard]] std::string_view scheme() const override { return "redis"; }

 private:
  Result<Reply> ask(std::string command, Milliseconds deadline, std::stop_token stop) {
    redis::RoundRules rules;
    rules.deadline = deadline;
    auto answers = redis::ask_round({{peer_.get(), std::move(command)}}, rules, std::move(stop));
    if (answers.front() && answers.front()->is_error()) {
      return tl::unexpected<base::Error>(redis::error_of(*answers.front(), peer_->name()));
    }
    return std::move(answers.front());
  }

  [[nodiscard]] tl::unexpected<base::Error> strange() const {
    return tl::unexpected<base::Error>(redis::strange_answer(peer_->name()));
  }

  [[nodiscard]] std::string release_command(const base::FenceKey& key,
                                            std::string_view owner) const {
    return redis::eval(kRelease, {lock_name(prefix_, key)}, {owner});
  }

  /// What `kRenew` and `kRelease` say.
  [[nodiscard]] Result<void> was_mine(Result<Reply>& reply) const {
    if (!reply) {
      return base::pass_on(reply.error());
    }
    if (reply->kind != Reply::Kind::kInteger) {
      return strange();
    }
    if (reply->integer != 1) {
      return base::fail(ErrorKind::kLeaseEnded,
                        "The lease is not held any more: it has expired, or was released.");
    }
    return {};
  }

  Result<Grant> try_once(const LeaseOrder& order, const std::string& owner,
                         std::optional<Milliseconds>& held_for, const std::stop_token& stop) {
    if (stop.stop_requested()) {
      return base::fail(ErrorKind::kClientGone, "Stopped while waiting for the lease.");
    }
    const base::FenceKey& key = order.keys.front();
    const auto sent = clock_.now();
    auto reply = ask(redis::eval(kAcquire, {lock_name(prefix_, key), token_name(prefix_, key)},
                                 {owner, std::to_string(order.ttl.count())}),
                     kLongestAnswer, stop);
    auto outcome = reply ? read_acquired(*reply, order, held_for)
                         : Result<Grant>(base::pass_on(reply.error()));
    if (outcome) {
      outcome->lease = owner;
      outcome->valid_until = valid_until(sent, order.ttl);
      if (outcome->valid_until <= clock_.now()) {
        outcome = base::fail(
            ErrorKind::kUpstreamTimeout,
            fmt::format("Redis at {} took longer to answer than the ttl of {} ms: take a longer "
                        "one.",
                        peer_->name(), order.ttl.count()));
      }
    }
    if (!outcome && outcome.error().kind != ErrorKind::kLeaseHeld) {
      peer_->give_up(release_command(key, owner));
    }
    return outcome;
  }

  /// Without what only the caller knows.
  [[nodiscard]] Result<Grant> read_acquired(const Reply& reply, const LeaseOrder& order,
                                            std::optional<Milliseconds>& held_for) const {
    const auto& parts = reply.elements;
    if (parts.size() == 3 && parts[0].integer == 0) {
      held_for = Milliseconds(parts[2].integer);
      return tl::unexpected<base::Error>(
          held_error(order.keys.front(), holder_in(parts[1].text), held_for));
    }
    if (parts.size() != 2 || parts[0].integer != 1) {
      return strange();
    }
    const auto token = base::Token::parse(parts[1].text);
    if (!token) {
      return base::fail(
          ErrorKind::kUpstreamFailed,
          fmt::format("The counter of '{}' in Redis at {} is not 1 to 2^63-1: somebody else writes "
                      "it. Use another prefix.",
                      order.keys.front().text(), peer_->name()));
    }
    Grant grant;
    grant.keys = order.keys;
    grant.token = *token;
    grant.ttl = order.ttl;
    return grant;
  }

  const base::Clock& clock_;
  std::string prefix_;
  std::unique_ptr<redis::Peer> peer_;
};

}  // namespace

MadeSource make_redis_source(SourceUrl url, const base::Clock& clock) {
  auto read = read_redis_url(std::move(url), "rediss", "fenceline:");
  if (!read) {
    return base::pass_on(read.error());
  }
  if (read->servers.size() != 1) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        "A source of the kind redis is one server; for several independent ones write "
        "redlock://a,b,c.");
  }
  return std::make_unique<RedisSource>(std::move(*read), clock);
}

}  // namespace fenceline::client
