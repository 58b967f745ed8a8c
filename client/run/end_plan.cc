#include "client/run/end_plan.h"

#include <algorithm>

namespace fenceline::client {

using base::MonotonicTime;

void EndPlan::hold(const Deadlines& deadlines) {
  if (phase_ == Phase::kHeld) {
    deadlines_ = deadlines;
  }
}

void EndPlan::lose(const Deadlines& deadlines) {
  is_lost_ = is_lost_ || !has_ended_;
  if (phase_ == Phase::kHeld) {
    phase_ = Phase::kEnding;
    deadlines_ = deadlines;
    return;
  }
  deadlines_->kill_at = std::min(deadlines_->kill_at, deadlines.kill_at);
}

void EndPlan::command_ended(MonotonicTime now, base::Milliseconds grace) {
  has_ended_ = true;
  if (phase_ != Phase::kHeld) {
    return;
  }
  phase_ = Phase::kEnding;
  const MonotonicTime kill_at = now + grace;
  deadlines_ = Deadlines{now, deadlines_ ? std::min(kill_at, deadlines_->kill_at) : kill_at};
}

void EndPlan::abandon(MonotonicTime now) {
  is_lost_ = is_lost_ || !has_ended_;
  phase_ = Phase::kTermSent;
  deadlines_ = Deadlines{now, now};
}

EndPlan::Action EndPlan::due(MonotonicTime now) {
  if (!deadlines_ || now < *next()) {
    return Action::kNothing;
  }
  if (phase_ == Phase::kHeld) {
    is_lost_ = true;
  }
  if (now >= deadlines_->kill_at) {
    phase_ = Phase::kTermSent;
    return Action::kKill;
  }
  phase_ = Phase::kTermSent;
  return Action::kTerm;
}

std::optional<MonotonicTime> EndPlan::next() const {
  if (!deadlines_) {
    return std::nullopt;
  }
  return phase_ == Phase::kTermSent ? deadlines_->kill_at : deadlines_->term_at;
}

}  // namespace fenceline::client
