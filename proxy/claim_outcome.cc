#include "proxy/claim_outcome.h"

namespace fenceline::proxy {
namespace {
constexpr const char* kAbsent = "-";
}

std::string mark_of(const backends::LastWrite& write) {
  return write.exists ? write.request_id : kAbsent;
}

ClaimOutcome outcome_of_claim(const base::KeptRow& claim, const backends::LastWrite& now,
                              bool removes, bool may_come_late) {
  if (now.exists && now.request_id == claim.claimed_by) {
    return ClaimOutcome::kApplied;
  }
  // What is absent again may have been there meanwhile, and removed by somebody else.
  const bool unchanged =
      mark_of(now) == claim.before && !claim.before.empty() && (claim.before != kAbsent || removes);
  if (unchanged) {
    return may_come_late ? ClaimOutcome::kUnknown : ClaimOutcome::kNotApplied;
  }
  return removes && !now.exists ? ClaimOutcome::kApplied : ClaimOutcome::kUnknown;
}

}  // namespace fenceline::proxy
