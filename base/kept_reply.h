#pragma once

#include <optional>

#include "base/error.h"
#include "base/http.h"
#include "base/once.h"

namespace fenceline::base {

/// Status and fields of an answer as they are to be kept: all but `Set-Cookie`, which is for one
/// client.
KeptAnswer kept_head(const Reply& reply);

/// An answer as it is to be kept, its head as above; nothing if its body is streamed or above
/// `kMaxKeptBodyBytes`.
std::optional<KeptAnswer> kept_from(const Reply& reply);

/// The answer again, with `Idempotency-Replayed: true`.
Reply replayed(const KeptAnswer& answer);

/// The refusal of a key that came with another request before. `kIdempotencyReused`.
Error reused_key();

/// The refusal where no more can be kept. `kOverloaded`.
Error no_room_for_answers();

}  // namespace fenceline::base
