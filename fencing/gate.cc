#include "fencing/gate.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "fencing/gate_impl.h"

namespace fenceline::fencing {

base::Error too_many_keys() {
  return base::Error{base::ErrorKind::kOverloaded,
                     "Too many fence keys are in use at once. Try again later, or raise "
                     "ledger.cache_keys.",
                     base::Applied::kNo,
                     {}};
}

Gate::Gate(Ledger& ledger, GateOptions options)
    : impl_(std::make_unique<Impl>(*this, ledger, std::move(options))) {}

Gate::~Gate() = default;

std::optional<base::Result<Ticket>> Gate::try_admit(const base::FenceKey& key, const Claim& claim,
                                                    Announce announce) {
  const HashedKey hashed(key.text());
  Shard& shard = impl_->shard_of(hashed);
  Afterwards afterwards;
  std::optional<base::Result<Ticket>> outcome;
  {
    const std::lock_guard lock(shard.mutex);
    KeyState* const state = impl_->find(shard, key, hashed);
    if (state == nullptr || !state->loaded) {
      return std::nullopt;
    }
    outcome = impl_->decide_locked(shard, *state, claim, announce, afterwards);
  }
  run(afterwards);
  return outcome;
}

void Gate::admit(const base::FenceKey& key, const Claim& claim, Announce announce,
                 base::Done<base::Result<Ticket>> done) {
  const HashedKey hashed(key.text());
  Shard& shard = impl_->shard_of(hashed);
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    KeyState* state = impl_->find_or_create(shard, key, hashed);
    if (state == nullptr) {
      afterwards.emplace_back([&done] { done(tl::unexpected<base::Error>(too_many_keys())); });
    } else if (state->loaded) {
      auto outcome = std::make_shared<base::Result<Ticket>>(
          impl_->decide_locked(shard, *state, claim, announce, afterwards));
      afterwards.emplace_back([&done, outcome] { done(std::move(*outcome)); });
    } else {
      state->admits.push_back(
          {claim.token, std::string(claim.holder), claim.max_jump, announce, std::move(done)});
      impl_->load_if_needed(shard, *state, afterwards);
    }
  }
  run(afterwards);
}

std::optional<base::Result<Permit>> Gate::try_enter(Ticket& ticket) {
  KeyState& state = *ticket.state_;
  Shard& shard = state.shard;
  const std::lock_guard lock(shard.mutex);
  if (ticket.resets_ != state.resets) {
    return tl::unexpected<base::Error>(reset_meanwhile());
  }
  const Entry entry = decide_entry(state.facts(), ticket.token_);
  if (entry == Entry::kWait) {
    return std::nullopt;
  }
  base::Result<Permit> outcome = impl_->outcome_of(shard, state, entry, ticket.token_);
  if (entry == Entry::kEnter) {
    state.count_in(ticket.token_);
    ticket.state_ = nullptr;
    impl_->unpin(shard, state);
  }
  return outcome;
}

void Gate::enter(Ticket& ticket, base::Done<base::Result<Permit>> done) {
  KeyState& state = *ticket.state_;
  Shard& shard = state.shard;
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    if (ticket.resets_ != state.resets) {
      afterwards.emplace_back([&done] { done(tl::unexpected<base::Error>(reset_meanwhile())); });
    } else {
      state.waiters.push_back({ticket.id_, ticket.token_, std::move(done)});
      impl_->wake(shard, state, afterwards);
      // A raise that failed while the body was staged gets one more attempt per request.
      impl_->raise_if_needed(shard, state, afterwards);
    }
  }
  run(afterwards);
}

void Gate::abandon(Ticket& ticket) {
  KeyState& state = *ticket.state_;
  Shard& shard = state.shard;
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = std::ranges::find(state.waiters, ticket.id_, &EnterWaiter::id);
    if (found == state.waiters.end()) {
      return;
    }
    auto outcome = std::make_shared<base::Result<Permit>>(
        impl_->outcome_of(shard, state, Entry::kWait, ticket.token_));
    afterwards.emplace_back(
        [done = std::move(found->done), outcome] { done(std::move(*outcome)); });
    state.waiters.erase(found);
  }
  run(afterwards);
}

bool Gate::resolve(const base::FenceKey& key, base::Token token) {
  const HashedKey hashed(key.text());
  Shard& shard = impl_->shard_of(hashed);
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.states.find(hashed);
    if (found == shard.states.end()) {
      return false;
    }
    KeyState& state = *found->second;
    const auto doubt = std::ranges::find(state.unsettled, token);
    if (doubt == state.unsettled.end()) {
      return false;
    }
    state.unsettled.erase(doubt);
    // Pinned so that waking and forgetting follow the same path as everywhere else.
    impl_->pin(shard, state);
    impl_->wake(shard, state, afterwards);
    impl_->unpin(shard, state);
  }
  run(afterwards);
  return true;
}

std::optional<KeyView> Gate::view(const base::FenceKey& key) {
  const HashedKey hashed(key.text());
  Shard& shard = impl_->shard_of(hashed);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.states.find(hashed);
  KeyView view;
  if (found == shard.states.end()) {
    auto idle = shard.marks.find(hashed);
    if (!idle) {
      return std::nullopt;
    }
    view.announced = std::move(*idle);
    view.durable = true;
    return view;
  }
  const KeyState& state = *found->second;
  if (!state.loaded) {
    return std::nullopt;
  }
  view.announced = state.announced;
  view.durable = state.durable == state.announced;
  view.waiting = state.waiters.size();
  view.unsettled = state.unsettled;
  for (const auto& [token, count] : state.inside) {
    view.inside += count;
  }
  return view;
}

base::Token Gate::highest(const base::FenceKey& key) {
  const HashedKey hashed(key.text());
  Shard& shard = impl_->shard_of(hashed);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.states.find(hashed);
  if (found != shard.states.end()) {
    return found->second->announced.token;
  }
  const auto idle = shard.marks.find(hashed);
  return idle ? idle->token : base::Token();
}

std::size_t Gate::cached_keys() const {
  std::size_t count = 0;
  for (Shard& shard : impl_->shards()) {
    const std::lock_guard lock(shard.mutex);
    count += shard.keys();
  }
  return count;
}

}  // namespace fenceline::fencing
