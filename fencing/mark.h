#pragma once

#include <cstddef>
#include <string>

#include "base/token.h"

namespace fenceline::fencing {

/// The high-water mark of a key: the highest token seen, and the holder bound to it.
/// The mark of a key that was never fenced has no token and no holder.
struct Mark {
  base::Token token;
  /// The opaque `Fencing-Holder` that presented this token first; empty if none did.
  std::string holder;

  friend bool operator==(const Mark&, const Mark&) = default;
};

/// Longest holder, in bytes.
inline constexpr std::size_t kMaxHolderBytes = 256;

/// The durable monotonic maximum, the one rule by which marks change: a higher token wins and
/// brings its holder along; an equal token binds a holder only if none is bound; a lower token
/// changes nothing.
Mark merged(const Mark& stored, const Mark& offered);

}  // namespace fenceline::fencing
