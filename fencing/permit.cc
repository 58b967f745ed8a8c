#include <algorithm>
#include <mutex>
#include <utility>

#include "fencing/gate.h"
#include "fencing/gate_impl.h"

namespace fenceline::fencing {

Ticket::Ticket(Ticket&& other) noexcept
    : gate_(other.gate_),
      state_(std::exchange(other.state_, nullptr)),
      token_(other.token_),
      previous_(other.previous_),
      took_over_(other.took_over_),
      id_(other.id_),
      resets_(other.resets_) {}

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  std::swap(gate_, other.gate_);
  std::swap(state_, other.state_);
  std::swap(token_, other.token_);
  std::swap(previous_, other.previous_);
  std::swap(took_over_, other.took_over_);
  std::swap(id_, other.id_);
  std::swap(resets_, other.resets_);
  return *this;
}

Ticket::~Ticket() {
  if (state_ == nullptr) {
    return;
  }
  Shard& shard = state_->shard;
  // Dropped after the lock is gone: a callback may own things whose destructors come back here.
  EnterWaiter dropped;
  const std::lock_guard lock(shard.mutex);
  const auto found = std::ranges::find(state_->waiters, id_, &EnterWaiter::id);
  if (found != state_->waiters.end()) {
    dropped = std::move(*found);
    state_->waiters.erase(found);
  }
  gate_->impl_->unpin(shard, *state_);
}

Permit::Permit(Permit&& other) noexcept
    : gate_(other.gate_), state_(std::exchange(other.state_, nullptr)), token_(other.token_) {}

Permit& Permit::operator=(Permit&& other) noexcept {
  std::swap(gate_, other.gate_);
  std::swap(state_, other.state_);
  std::swap(token_, other.token_);
  return *this;
}

Permit::~Permit() { settle(Settlement::kInDoubt); }

base::Token Permit::settle(Settlement outcome) {
  if (state_ == nullptr) {
    return {};
  }
  Shard& shard = state_->shard;
  Afterwards afterwards;
  base::Token mark;
  {
    const std::lock_guard lock(shard.mutex);
    mark = state_->announced.token;
    state_->count_out(token_, outcome);
    gate_->impl_->wake(shard, *state_, afterwards);
    gate_->impl_->unpin(shard, *std::exchange(state_, nullptr));
  }
  run(afterwards);
  return mark;
}

}  // namespace fenceline::fencing
