// Setting a mark back: the gate's part. It is read like a load whose answer also changes the
// ledger.

#include <memory>
#include <mutex>
#include <utility>

#include "fencing/gate.h"
#include "fencing/gate_impl.h"
#include "fencing/reset.h"

namespace fenceline::fencing {
namespace {

ResetObstacles obstacles_in(const KeyState& state) {
  ResetObstacles found;
  found.inside.assign(state.inside.begin(), state.inside.end());
  found.unsettled = state.unsettled;
  found.announced_not_durable = state.raising || (state.loaded && state.durable != state.announced);
  found.ledger_busy = state.loading;
  found.waiting = state.waiters.size();
  return found;
}

/// The mark that the ledger holds after it has answered.
base::Result<Mark> stored_after(const base::Result<ResetOutcome>& outcome) {
  return outcome.map([](const ResetOutcome& known) { return known.after; });
}

}  // namespace

base::Error reset_meanwhile() {
  return base::Error{base::ErrorKind::kDraining,
                     "An operator set the mark of this key back while the request was under way, "
                     "and nothing was written. Send it again: the mark of then decides.",
                     base::Applied::kNo,
                     {}};
}

void Gate::reset(const base::FenceKey& key, const ResetOrder& order,
                 base::Done<base::Result<ResetOutcome>> done) {
  impl_->reset(key, order, std::move(done));
}

void Gate::Impl::reset(const base::FenceKey& key, const ResetOrder& order,
                       base::Done<base::Result<ResetOutcome>> done) {
  const HashedKey hashed(key.text());
  Shard& shard = shard_of(hashed);
  Afterwards afterwards;
  {
    const std::lock_guard lock(shard.mutex);
    KeyState* const state = find_or_create(shard, key, hashed);
    ResetObstacles found;
    if (state != nullptr) {
      found = obstacles_in(*state);
      // Who left in doubt was on record as unsettled before it left.
      found.on_record =
          unsettled_on_record_ ? unsettled_on_record_(key) : std::vector<base::Token>();
    }
    if (state == nullptr) {
      afterwards.emplace_back([&done] { done(tl::unexpected<base::Error>(too_many_keys())); });
    } else if (auto obstacle = obstacle_to_reset(found)) {
      // A mark that was announced and whose raise failed would stand in the way for ever.
      raise_if_needed(shard, *state, afterwards);
      afterwards.emplace_back(
          [&done, error = std::move(*obstacle)] { done(tl::unexpected<base::Error>(error)); });
    } else {
      // Like a key whose mark nobody has read yet: admissions wait, and if the ledger does not know
      // what it has stored, the next admission asks it.
      ++state->resets;
      state->loaded = false;
      state->loading = true;
      state->announced = state->durable = Mark{};
      pin(shard, *state);
      afterwards.emplace_back([this, state, &key, &order, &done] {
        ledger_.reset(
            key, order,
            [this, state, order, done = std::move(done)](base::Result<ResetOutcome> outcome) {
              on_loaded(*state, stored_after(outcome));
              done(outcome.and_then(
                  [&order](const ResetOutcome& known) { return answer_of(known, order); }));
            });
      });
    }
  }
  run(afterwards);
}

}  // namespace fenceline::fencing
