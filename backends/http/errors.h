#pragma once

#include <string_view>

#include "base/error.h"

namespace fenceline::backends::http {

/// What an answer says about a write (protocol, 4.0.3).
enum class Meaning : std::uint8_t {
  kDefinite,  ///< Applied or refused, as the status says: it goes to the client as it is.
  kInDoubt,   ///< Nobody knows.
};

/// `complete`: the whole request had been sent before the answer came. Before that, a refusal is
/// definite, because a message that is not complete is not applied; anything else breaks that rule,
/// so nothing is known.
Meaning meaning_of(int status, bool complete);

/// 502 or 504 with `applied: unknown` for an answer that settles nothing.
base::Error in_doubt(int status, bool complete);

/// 502 with `applied: no`: what we asked on the way to a write failed.
base::Error step_failed(std::string_view step, int status);

/// 412: somebody newer has taken the temporary resource away.
base::Error revoked_by_newer();

/// 412 of the client's own conditions.
base::Error condition_failed(std::string_view name);

/// 503: other writers were faster each time, or once where the body could not be kept.
base::Error lost_race(std::string_view name);

/// An error of a step that cannot have had an effect on the resource.
base::Error without_effect(base::Error error);

}  // namespace fenceline::backends::http
