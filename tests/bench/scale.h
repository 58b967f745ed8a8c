#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fence_key.h"

namespace fenceline::bench {

/// The token of every key.
inline constexpr std::int64_t kScaleToken = 7;

/// The text of key number `index`: 39 bytes, in the order of the numbers.
std::string scale_key(std::uint64_t index);

/// `count` keys out of `keys`, in no order, the same each time.
std::vector<base::FenceKey> some_keys(std::uint64_t keys, std::size_t count);

/// Resident memory of this process.
std::uint64_t resident_bytes();

/// Prints one line of JSON: what `keys` keys in the memory of the gate cost.
/// Failure: throws std::runtime_error.
void measure_gate(std::uint64_t keys);

/// The same for a ledger file at `path`, which is made anew; 600 MB for 10 million keys.
void measure_ledger(std::uint64_t keys, const std::string& path);

}  // namespace fenceline::bench
