#pragma once

// The scalar values of the configuration: pure functions from text to value. None of them accepts
// blanks, signs, leading zeros, fractions or exponents: what looks odd is refused, not guessed.

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "config/parsed.h"

namespace fenceline::config {

/// Reads decimal digits, 0 … 2^63−1: `0`, `42`. Not `007`, `0x10`, `1_000`, `1e3`, `3.0`, `+1`.
Parsed<std::int64_t> parse_integer(std::string_view text);

/// Reads `true` or `false`; not `yes`, `on`, `True`.
Parsed<bool> parse_boolean(std::string_view text);

/// Reads a size in bytes: an integer alone (`4096`), or one directly followed by a unit: `B`,
/// powers of 1024 (`KiB`, `MiB`, `GiB`, `TiB`) or of 1000 (`kB`, `MB`, `GB`, `TB`). Units are
/// spelled exactly so. At most 2^63−1 bytes.
Parsed<std::uint64_t> parse_size(std::string_view text);

/// Reads a duration: an integer directly followed by `ms`, `s`, `m` or `h`. The unit is required
/// (`30` could be anything; only `0` stands alone), one unit only (`90s`, not `1m30s`). At most
/// 2^63−1 milliseconds.
Parsed<base::Milliseconds> parse_duration(std::string_view text);

/// The shortest exact form that `parse_size` reads: `32KiB`, `1500B`, `0B`.
std::string format_size(std::uint64_t bytes);

/// The shortest exact form that `parse_duration` reads: `5s`, `1500ms`, `0ms`.
std::string format_duration(base::Milliseconds duration);

}  // namespace fenceline::config
