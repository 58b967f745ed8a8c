#include "fencing/decide.h"

namespace fenceline::fencing {

Verdict decide(const Mark& mark, const Claim& claim) {
  if (claim.token < mark.token) {
    return Verdict::kStale;
  }
  if (claim.token == mark.token) {
    if (claim.holder.empty() || claim.holder == mark.holder) {
      return Verdict::kCurrent;
    }
    return mark.holder.empty() ? Verdict::kRaises : Verdict::kHolderConflict;
  }
  // Both values are at least 0, so the difference cannot overflow. A key that was never fenced has
  // nothing to be far from: its first token may be any, as the numbers of etcd or a sequence are.
  if (claim.max_jump > 0 && mark.token.exists() &&
      claim.token.value() - mark.token.value() > claim.max_jump) {
    return Verdict::kTooFarAhead;
  }
  return Verdict::kRaises;
}

Entry decide_entry(const EntryFacts& facts, base::Token token) {
  if (facts.announced != token) {
    return Entry::kFenced;
  }
  if (facts.lowest_unsettled.exists() && facts.lowest_unsettled < token) {
    return Entry::kUnsettled;
  }
  if (!facts.durable) {
    return Entry::kWait;
  }
  if (facts.lowest_inside.exists() && facts.lowest_inside < token) {
    return Entry::kWait;
  }
  return Entry::kEnter;
}

}  // namespace fenceline::fencing
