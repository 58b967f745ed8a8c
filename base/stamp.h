#pragma once

#include <string>

#include "base/token.h"

namespace fenceline::base {

/// Plain data that a backend keeps with what it writes, so that a write whose outcome is unknown
/// can be looked up later (design, 8). Backends store it and give it back; they never compare it.
struct Stamp {
  std::string key;         ///< Fence key; empty on a write without a fence.
  Token token;             ///< No token on a write without a fence.
  std::string request_id;  ///< Unique per request: visible ASCII, at most 64 bytes.
};

}  // namespace fenceline::base
