#include "fencing/gate_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fenceline::fencing {
namespace {

using base::ErrorKind;

tl::unexpected<base::Error> refusal(const KeyState& state, Verdict verdict, const Claim& claim) {
  const std::string mark = state.announced.token.text();
  const std::string token = claim.token.text();
  switch (verdict) {
    case Verdict::kStale:
      return base::fail(ErrorKind::kStaleToken,
                        fmt::format("Token {} is older than {}, the highest seen for this key: the "
                                    "lease was lost. Stop, and take it again before writing.",
                                    token, mark));
    case Verdict::kHolderConflict:
      return base::fail(ErrorKind::kHolderConflict,
                        fmt::format("Token {} is bound to another holder. Two holders with one "
                                    "token mean that the token source gave it out twice.",
                                    token));
    default:
      return base::fail(ErrorKind::kTokenTooFarAhead,
                        fmt::format("Token {} is more than {} above {}, the highest seen for this "
                                    "key. If the source is right, raise the route's max_jump.",
                                    token, claim.max_jump, mark));
  }
}

}  // namespace

void run(const Afterwards& afterwards) {
  for (const auto& step : afterwards) {
    step();
  }
}

Gate::Impl::Impl(Gate& gate, Ledger& ledger, GateOptions options)
    : gate_(gate),
      ledger_(ledger),
      max_keys_per_shard_(std::max<std::size_t>(options.max_cached_keys / kShards, 16)),
      max_warm_per_shard_(options.max_warm_keys / kShards),
      unsettled_on_record_(std::move(options.unsettled_on_record)) {}

std::uint64_t Gate::Impl::next_id() { return ++last_id_; }

KeyState* Gate::Impl::find(Shard& shard, const base::FenceKey& key, const HashedKey& hashed) {
  const auto found = shard.states.find(hashed);
  if (found != shard.states.end()) {
    return found->second.get();
  }
  const auto mark = shard.marks.take(hashed);
  if (!mark) {
    return nullptr;
  }
  KeyState* const state = add_state(shard, key, hashed);
  state->became_durable(*mark);
  // The others first, so that the caller gets a state that stays. Nobody has pinned it yet, and if
  // the claim is refused, nobody will.
  demote_all_but(shard, max_warm_per_shard_);
  shard.idle.push_back(*state);
  return state;
}

KeyState* Gate::Impl::find_or_create(Shard& shard, const base::FenceKey& key,
                                     const HashedKey& hashed) {
  if (KeyState* const known = find(shard, key, hashed)) {
    return known;
  }
  forget_idle(shard);
  return shard.keys() < max_keys_per_shard_ ? add_state(shard, key, hashed) : nullptr;
}

KeyState* Gate::Impl::add_state(Shard& shard, const base::FenceKey& key, const HashedKey& hashed) {
  auto state = std::make_unique<KeyState>(key, shard);
  KeyState* raw = state.get();
  HashedKey own = hashed;
  own.text = raw->key.text();
  shard.states.emplace(own, std::move(state));
  return raw;
}

void Gate::Impl::forget_idle(Shard& shard) const {
  while (shard.keys() >= max_keys_per_shard_ && shard.marks.forget_oldest()) {
  }
  while (shard.keys() >= max_keys_per_shard_ && !shard.idle.empty()) {
    const HashedKey key(shard.idle.front().key.text());
    shard.idle.pop_front();
    shard.states.erase(shard.states.find(key));
  }
}

void Gate::Impl::demote_all_but(Shard& shard, std::size_t kept) {
  while (shard.idle.size() > kept) {
    KeyState& state = shard.idle.front();
    const HashedKey key(state.key.text());
    shard.idle.pop_front();
    shard.marks.put(key, state.durable);
    shard.states.erase(shard.states.find(key));
  }
}

void Gate::Impl::pin(Shard& shard, KeyState& state) {
  if (state.pins++ == 0 && state.is_linked()) {
    shard.idle.erase(shard.idle.iterator_to(state));
  }
}

void Gate::Impl::unpin(Shard& shard, KeyState& state) {
  --state.pins;
  if (!state.forgettable()) {
    return;
  }
  if (!state.loaded) {
    shard.states.erase(shard.states.find(HashedKey(state.key.text())));
    return;
  }
  shard.idle.push_back(state);
  demote_all_but(shard, max_warm_per_shard_);
}

base::Result<Ticket> Gate::Impl::decide_locked(Shard& shard, KeyState& state, const Claim& claim,
                                               Announce announce, Afterwards& afterwards) {
  const Verdict verdict = decide(state.announced, claim);
  if (verdict != Verdict::kCurrent && verdict != Verdict::kRaises) {
    return refusal(state, verdict, claim);
  }
  Ticket ticket;
  ticket.gate_ = &gate_;
  ticket.state_ = &state;
  ticket.token_ = claim.token;
  ticket.previous_ = state.announced.token;
  ticket.id_ = next_id();
  ticket.resets_ = state.resets;
  pin(shard, state);
  if (verdict == Verdict::kRaises && announce == Announce::kYes) {
    ticket.took_over_ = claim.token > state.announced.token;
    state.announced = Mark{claim.token, std::string(claim.holder)};
    // Whoever staged with a lower token and waits to enter is fenced by this.
    wake(shard, state, afterwards);
  }
  if (announce == Announce::kYes) {
    raise_if_needed(shard, state, afterwards);
  }
  return ticket;
}

void Gate::Impl::raise_if_needed(Shard& shard, KeyState& state, Afterwards& afterwards) {
  if (!state.needs_raise()) {
    return;
  }
  state.raising = true;
  pin(shard, state);
  afterwards.emplace_back([this, &state, key = state.key, mark = state.announced] {
    ledger_.raise(key, mark, [this, &state](base::Result<Mark> stored) {
      on_raised(state, std::move(stored));
    });
  });
}

void Gate::Impl::load_if_needed(Shard& shard, KeyState& state, Afterwards& afterwards) {
  if (state.loaded || state.loading) {
    return;
  }
  state.loading = true;
  pin(shard, state);
  afterwards.emplace_back([this, &state, key = state.key] {
    ledger_.find(key,
                 [this, &state](base::Result<Mark> found) { on_loaded(state, std::move(found)); });
  });
}

void Gate::Impl::on_loaded(KeyState& state, base::Result<Mark> found) {
  Shard& shard = state.shard;
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    state.loading = false;
    if (found) {
      state.became_durable(*found);
    }
    const std::vector<AdmitWaiter> admits = std::move(state.admits);
    state.admits.clear();
    for (const AdmitWaiter& waiter : admits) {
      base::Result<Ticket> outcome = tl::unexpected<base::Error>(base::Error{});
      if (found) {
        const Claim claim{waiter.token, waiter.holder, waiter.max_jump};
        outcome = decide_locked(shard, state, claim, waiter.announce, afterwards);
      } else {
        outcome = tl::unexpected<base::Error>(found.error());
      }
      auto shared = std::make_shared<base::Result<Ticket>>(std::move(outcome));
      afterwards.emplace_back([done = waiter.done, shared] { done(std::move(*shared)); });
    }
    unpin(shard, state);
  }
  run(afterwards);
}

void Gate::Impl::on_raised(KeyState& state, base::Result<Mark> stored) {
  Shard& shard = state.shard;
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    state.raising = false;
    if (stored) {
      state.became_durable(*stored);
    }
    wake(shard, state, afterwards);
    if (stored) {
      raise_if_needed(shard, state, afterwards);
    } else {
      for (EnterWaiter& waiter : state.waiters) {
        afterwards.emplace_back([done = std::move(waiter.done), error = stored.error()] {
          done(tl::unexpected<base::Error>(error));
        });
      }
      state.waiters.clear();
    }
    unpin(shard, state);
  }
  run(afterwards);
}

void Gate::Impl::wake(Shard& shard, KeyState& state, Afterwards& afterwards) {
  for (auto& [waiter, entry] : state.take_ready()) {
    auto outcome =
        std::make_shared<base::Result<Permit>>(outcome_of(shard, state, entry, waiter.token));
    afterwards.emplace_back(
        [done = std::move(waiter.done), outcome] { done(std::move(*outcome)); });
  }
}

base::Result<Permit> Gate::Impl::outcome_of(Shard& shard, KeyState& state, Entry entry,
                                            base::Token token) {
  switch (entry) {
    case Entry::kEnter: {
      Permit permit;
      permit.gate_ = &gate_;
      permit.state_ = &state;
      permit.token_ = token;
      pin(shard, state);
      return permit;
    }
    case Entry::kFenced:
      return base::fail(ErrorKind::kStaleToken,
                        fmt::format("Token {} was overtaken by {} before the write took effect: "
                                    "the lease was lost and nothing was written. Stop, and take it "
                                    "again before writing.",
                                    token.text(), state.announced.token.text()));
    case Entry::kUnsettled:
      return base::fail(ErrorKind::kDraining,
                        "An older write on this key has an unknown outcome. It must be settled "
                        "before a newer token is let in; try again later.");
    case Entry::kWait:
      break;
  }
  const bool durable = state.loaded && state.durable == state.announced;
  return durable ? base::fail(ErrorKind::kDraining,
                              "An older write on this key is still committing. Try again later.")
                 : base::fail(ErrorKind::kLedgerUnavailable,
                              "The ledger did not confirm the token in time. Try again later.");
}

}  // namespace fenceline::fencing
