#pragma once

#include <string>

#include "backends/backend.h"
#include "base/answer_table.h"

namespace fenceline::proxy {

/// What became of a request that claimed its idempotency key and never kept an answer: its process
/// ended in the middle, or the outcome of its write was unknown.
enum class ClaimOutcome : std::uint8_t {
  kApplied,     ///< The resource is as it left it.
  kNotApplied,  ///< The resource is as it was before, and nothing is under way any more.
  kUnknown,
};

/// The resource before a claim, for `KeptRow::before`: a request id, "-" for no resource, empty
/// where that cannot be told. Pure.
std::string mark_of(const backends::LastWrite& write);

/// `removes`: the request is a DELETE, which leaves no stamp. `may_come_late`: a write of this
/// store may take effect after its process has ended, so that nothing having changed says nothing.
/// Nor does it say anything of a PUT that the resource is absent as before: somebody may have
/// removed what it made. Pure.
ClaimOutcome outcome_of_claim(const base::KeptRow& claim, const backends::LastWrite& now,
                              bool removes, bool may_come_late);

}  // namespace fenceline::proxy
