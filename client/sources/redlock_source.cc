#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/digits.h"
#include "client/redis/command.h"
#include "client/redis/failures.h"
#include "client/redis/round.h"
#include "client/sources/redis_health.h"
#include "client/sources/redis_lease.h"
#include "client/sources/redis_url.h"
#include "client/sources/redlock_nodes.h"
#include "client/sources/redlock_scripts.h"
#include "client/sources/sources.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using redlock::LockAnswer;
using redlock::LockRound;
using redlock::Replies;
using redlock::Standing;
using What = LockAnswer::What;

constexpr Milliseconds kLongestAnswer{2'000};

/// How long one node may take: a part of the ttl, so that those that do answer can be heard in
/// time.
Milliseconds patience(Milliseconds ttl) {
  return std::clamp<Milliseconds>(ttl / 4, Milliseconds(50), kLongestAnswer);
}

tl::unexpected<base::Error> stopped() {
  return base::fail(ErrorKind::kClientGone, "Stopped while waiting for the lease.");
}

class RedlockSource final : public TokenSource {
 public:
  RedlockSource(redlock::Nodes nodes, const base::Clock& clock)
      : clock_(clock), nodes_(std::move(nodes)) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override {
    if (auto right = check_redis_order(order); !right) {
      return base::pass_on(right.error());
    }
    const base::MonotonicTime end = clock_.now() + order.wait;
    Backoff backoff;
    while (true) {
      std::optional<Milliseconds> held_for;
      auto outcome = try_once(order, held_for, stop);
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
    const Replies replies =
        nodes_.ask(redis::eval(redlock::kRenew, {lock_name(nodes_.prefix(), grant.keys.front())},
                               {grant.lease, std::to_string(grant.ttl.count())}),
                   patience(grant.ttl), decided, stop);
    if (auto held = expect_held(replies, stop); !held) {
      return base::pass_on(held.error());
    }
    Grant renewed = grant;
    renewed.valid_until = valid_until(sent, grant.ttl);
    if (renewed.valid_until <= clock_.now()) {
      return too_slow(grant.ttl);
    }
    return renewed;
  }

  Result<void> release(const Grant& grant) override {
    const std::string command = release_command(grant.keys.front(), grant.lease);
    const std::vector<bool> reachable = leave_the_silent(command);
    const Replies replies = nodes_.ask(command, kLongestAnswer, decided, {}, reachable);
    // Less than a majority that keeps it until it expires stands in nobody's way.
    const std::size_t answered = redlock::said(replies, 0) + redlock::said(replies, 1);
    if (redlock::standing(replies) == Standing::kUnknown && redlock::said(replies, 1) > 0 &&
        nodes_.size() - answered < nodes_.quorum()) {
      return {};
    }
    return expect_held(replies, {});
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    const Replies replies = nodes_.ask(
        redis::eval(redlock::kShow, {lock_name(nodes_.prefix(), key)}, {}), kLongestAnswer,
        [](const Replies& so_far) { return redlock::read_shown(so_far).sure; }, {});
    const redlock::Shown shown = redlock::read_shown(replies);
    if (!shown.known) {
      return base::fail(ErrorKind::kUpstreamFailed, shortage(replies, {}));
    }
    if (shown.owner.empty()) {
      return std::nullopt;
    }
    // The counters may be one behind while an attempt is under way: no token is told.
    HeldBy held;
    held.holder = holder_in(shown.owner);
    if (shown.left >= Milliseconds(0)) {
      held.left = shown.left;
    }
    return held;
  }

  Result<std::vector<std::string>> warnings() override;

  [[nodiscard]] std::string_view scheme() const override { return "redlock"; }

 private:
  /// What one attempt asks everybody. Its owner is its own: what is on its way for an attempt that
  /// was given up cannot be taken for this one.
  struct Attempt {
    const LeaseOrder& order;
    std::string owner;
    base::MonotonicTime sent;
  };

  /// True once no more answers can change what they mean.
  static bool decided(const Replies& so_far) {
    return redlock::standing(so_far) != Standing::kUnknown;
  }

  [[nodiscard]] std::string release_command(const base::FenceKey& key,
                                            std::string_view owner) const {
    return redis::eval(redlock::kRelease, {lock_name(nodes_.prefix(), key)}, {owner});
  }

  [[nodiscard]] std::vector<std::string> names(const base::FenceKey& key) const {
    return {lock_name(nodes_.prefix(), key), token_name(nodes_.prefix(), key),
            nodes_.member_name()};
  }

  [[nodiscard]] std::string shortage(const Replies& replies, std::vector<bool> no_member) const {
    no_member.resize(nodes_.size());
    return redlock::shortage(nodes_, replies, no_member);
  }

  static tl::unexpected<base::Error> too_slow(Milliseconds ttl) {
    return base::fail(
        ErrorKind::kUpstreamTimeout,
        fmt::format("The nodes of the Redlock took longer to answer than the ttl of {} ms allows: "
                    "take a longer one.",
                    ttl.count()));
  }

  Result<void> expect_held(const Replies& replies, const std::stop_token& stop) const {
    switch (redlock::standing(replies)) {
      case Standing::kHeld:
        return {};
      case Standing::kLost:
        return base::fail(ErrorKind::kLeaseEnded,
                          "The lease is not held any more: it has expired, or was released.");
      case Standing::kUnknown:
        break;
    }
    return stop.stop_requested()
               ? Result<void>(stopped())
               : base::fail(ErrorKind::kUpstreamFailed, shortage(replies, {}), Applied::kUnknown);
  }

  /// Who owes an answer gets `command` behind it, and is not waited for. The others.
  std::vector<bool> leave_the_silent(const std::string& command) {
    std::vector<bool> silent(nodes_.size());
    std::vector<bool> others(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      silent[node] = nodes_.is_silent(node);
      others[node] = !silent[node];
    }
    nodes_.last_words(command, silent);
    return others;
  }

  /// Gives back whatever an attempt may have got.
  void give_back(const Attempt& attempt, const LockRound& round, const Replies& replies,
                 const std::stop_token& stop) {
    const std::string command = release_command(attempt.order.keys.front(), attempt.owner);
    std::vector<bool> whom =
        stop.stop_requested() ? std::vector<bool>(nodes_.size(), true) : leave_the_silent(command);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const What what = round.answers[node].what;
      const bool reached = replies[node] || replies[node].error().applied != Applied::kNo;
      whom[node] = whom[node] && reached && (what == What::kGranted || what == What::kFailed);
    }
    if (stop.stop_requested()) {
      nodes_.last_words(command, whom);
    } else if (std::ranges::count(whom, true) > 0) {
      nodes_.ask(command, patience(attempt.order.ttl), {}, stop, whom);
    }
  }

  Result<Grant> try_once(const LeaseOrder& order, std::optional<Milliseconds>& held_for,
                         const std::stop_token& stop) {
    if (stop.stop_requested()) {
      return stopped();
    }
    const Attempt attempt{order, owner_value(order.holder, order.attempt + "-" + nonce()),
                          clock_.now()};
    const Replies replies = nodes_.ask(
        redis::eval(redlock::kLock, names(order.keys.front()),
                    {attempt.owner, std::to_string(order.ttl.count())}),
        patience(order.ttl),
        [](const Replies& so_far) {
          const LockRound round(so_far);
          return round.granted() || round.held();
        },
        stop);
    const LockRound round(replies);
    auto outcome = round.granted() ? commit(attempt, round, stop)
                                   : Result<Grant>(refusal(order, round, replies, held_for, stop));
    if (!outcome) {
      give_back(attempt, round, replies, stop);
    }
    return outcome;
  }

  Result<Grant> commit(const Attempt& attempt, const LockRound& round,
                       const std::stop_token& stop) {
    const LeaseOrder& order = attempt.order;
    auto token = round.next_token();
    if (!token) {
      return base::pass_on(token.error());
    }
    std::vector<bool> whom(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      whom[node] = round.answers[node].what == What::kGranted;
    }
    const Replies replies = nodes_.ask(
        redis::eval(redlock::kCommit, names(order.keys.front()), {attempt.owner, token->text()}),
        patience(order.ttl),
        [this](const Replies& so_far) { return redlock::said(so_far, 1) >= nodes_.quorum(); }, stop,
        whom);
    if (redlock::said(replies, 1) < nodes_.quorum()) {
      if (stop.stop_requested()) {
        return stopped();
      }
      return base::fail(ErrorKind::kLeaseHeld,
                        fmt::format("The lease of '{}' was lost again while it was taken: nodes of "
                                    "the Redlock are slow, or went away.",
                                    order.keys.front().text()));
    }
    Grant grant;
    grant.keys = order.keys;
    grant.lease = attempt.owner;
    grant.token = *token;
    grant.ttl = order.ttl;
    grant.valid_until = valid_until(attempt.sent, order.ttl);
    if (grant.valid_until <= clock_.now()) {
      return too_slow(order.ttl);
    }
    return grant;
  }

  tl::unexpected<base::Error> refusal(const LeaseOrder& order, const LockRound& round,
                                      const Replies& replies, std::optional<Milliseconds>& held_for,
                                      const std::stop_token& stop) const {
    if (stop.stop_requested()) {
      return stopped();
    }
    const std::size_t absent = round.count(What::kFailed) + round.count(What::kNoMember);
    if (nodes_.size() - absent < nodes_.quorum()) {
      std::vector<bool> no_member;
      for (const LockAnswer& answer : round.answers) {
        no_member.push_back(answer.what == What::kNoMember);
      }
      return base::fail(ErrorKind::kUpstreamFailed, shortage(replies, no_member));
    }
    const LockRound::Owner owner = round.owner();
    // Others that only try, too, are gone in a moment.
    if (round.held()) {
      held_for = owner.left;
    }
    return tl::unexpected<base::Error>(
        held_error(order.keys.front(), holder_in(owner.value),
                   owner.value.empty() ? std::nullopt : std::optional(owner.left)));
  }

  std::string nonce() {
    std::string text;
    base::append_hex(text, (std::uint64_t{entropy_()} << 32) | entropy_(), 16);
    return text;
  }

  const base::Clock& clock_;
  redlock::Nodes nodes_;
  std::random_device entropy_;
};

Result<std::vector<std::string>> RedlockSource::warnings() {
  std::vector<std::string> all;
  if (nodes_.size() % 2 == 0) {
    all.push_back(
        fmt::format("The Redlock has {} nodes, and bears no more failures than {}: use an "
                    "odd number.",
                    nodes_.size(), nodes_.size() - 1));
  }
  const Replies members =
      nodes_.ask(redis::command({"EXISTS", nodes_.member_name()}), kLongestAnswer, {}, {});
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto setup = members[node]
                     ? ask_for_setup(nodes_.peer(node))
                     : Result<RedisSetup>(tl::unexpected<base::Error>(members[node].error()));
    if (!setup) {
      all.push_back(fmt::format("{} Its setup could not be checked.", setup.error().detail));
      continue;
    }
    if (members[node]->integer != 1) {
      all.push_back(
          fmt::format("{} is no member of the Redlock: run `fenceline lease redlock-init` if none "
                      "ever was one, "
                      "`fenceline lease redlock-resync` if it has lost its data.",
                      nodes_.name(node)));
    }
    std::ranges::move(warnings_of(*setup, nodes_.name(node)), std::back_inserter(all));
  }
  if (redlock::said(members, 0) + redlock::said(members, 1) < nodes_.quorum()) {
    return base::fail(ErrorKind::kUpstreamFailed,
                      redlock::shortage(nodes_, members, std::vector<bool>(nodes_.size())));
  }
  return all;
}

}  // namespace

MadeSource make_redlock_source(SourceUrl url, const base::Clock& clock) {
  auto nodes = redlock::make_nodes(std::move(url));
  if (!nodes) {
    return base::pass_on(nodes.error());
  }
  return std::make_unique<RedlockSource>(std::move(*nodes), clock);
}

}  // namespace fenceline::client
