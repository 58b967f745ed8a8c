#include "client/sources/redlock_decide.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace fenceline::client::redlock {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using redis::Reply;
using What = LockAnswer::What;

LockAnswer read_lock(const Result<Reply>& reply) {
  if (!reply || reply->elements.empty()) {
    return {};
  }
  const auto& parts = reply->elements;
  const std::int64_t said = parts[0].integer;
  if (said == -1) {
    return {.what = What::kNoMember};
  }
  if (said == 1 && parts.size() == 2 && parts[1].integer >= 0) {
    return {.what = What::kGranted, .counter = parts[1].integer};
  }
  if (said == 0 && parts.size() == 4 && parts[1].integer >= 0) {
    return {.what = What::kHeld,
            .counter = parts[1].integer,
            .left = Milliseconds(parts[2].integer),
            .owner = parts[3].text};
  }
  return {};
}

LockRound::LockRound(const Replies& replies) {
  std::ranges::transform(replies, std::back_inserter(answers), read_lock);
}

std::size_t LockRound::count(What what) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(answers, [&](const auto& each) { return each.what == what; }));
}

bool LockRound::granted() const { return count(What::kGranted) >= quorum(answers.size()); }

bool LockRound::held() const {
  return answers.size() - count(What::kHeld) < quorum(answers.size());
}

Result<base::Token> LockRound::next_token() const {
  std::int64_t highest = 0;
  for (const LockAnswer& each : answers) {
    highest = std::max(highest, each.counter);
  }
  if (highest >= kMaxToken) {
    return base::fail(ErrorKind::kUpstreamFailed,
                      "The counters of this key are at the end of what Redis can count exactly, "
                      "2^53: use another prefix, and reset the fence (fenceline fences reset).");
  }
  return base::Token::of(highest + 1);
}

LockRound::Owner LockRound::owner() const {
  std::map<std::string, std::size_t> votes;
  for (const LockAnswer& each : answers) {
    votes[each.owner] += each.what == What::kHeld ? 1U : 0U;
  }
  const auto most =
      std::ranges::max_element(votes, std::less<>(), [](const auto& vote) { return vote.second; });
  Owner owner;
  bool first = true;
  for (const LockAnswer& each : answers) {
    if (each.what == What::kHeld && each.owner == most->first) {
      owner.value = each.owner;
      owner.left = first ? each.left : std::min(owner.left, each.left);
      first = false;
    }
  }
  return owner;
}

std::size_t said(const Replies& replies, std::int64_t value) {
  return static_cast<std::size_t>(std::ranges::count_if(replies, [&](const auto& reply) {
    return reply && reply->kind == Reply::Kind::kInteger && reply->integer == value;
  }));
}

Standing standing(const Replies& replies) {
  if (said(replies, 1) >= quorum(replies.size())) {
    return Standing::kHeld;
  }
  return replies.size() - said(replies, 0) < quorum(replies.size()) ? Standing::kLost
                                                                    : Standing::kUnknown;
}

Shown read_shown(const Replies& replies) {
  std::size_t answered = 0;
  std::map<std::string, std::vector<Milliseconds>> owners;
  for (const auto& reply : replies) {
    if (reply && reply->elements.size() == 2) {
      ++answered;
      if (!reply->elements[0].text.empty()) {
        owners[reply->elements[0].text].emplace_back(reply->elements[1].integer);
      }
    }
  }
  const std::size_t silent = replies.size() - answered;
  Shown shown{.known = answered >= quorum(replies.size())};
  std::size_t most = 0;
  for (auto& [owner, left] : owners) {
    // Those that are silent may have it too.
    if (left.size() > most && left.size() + silent >= quorum(replies.size())) {
      most = left.size();
      std::ranges::sort(left, std::greater<>());
      shown.owner = owner;
      shown.left = left[std::min(left.size(), quorum(replies.size())) - 1];
    }
  }
  shown.sure = shown.known && (most == 0 || most >= quorum(replies.size()));
  return shown;
}

}  // namespace fenceline::client::redlock
