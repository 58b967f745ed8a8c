#pragma once

// Dates of HTTP (RFC 9110, 5.6.7) and of JSON listings (RFC 3339). Pure functions, no clock.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fenceline::base {

/// Reads a date in one of the three forms that RFC 9110, 5.6.7 obliges us to accept: IMF-fixdate,
/// RFC 850 and asctime.
/// Success: seconds since 1970-01-01T00:00:00Z, negative before it. A leap second (`:60`) counts as
/// the first second of the next minute. Two-digit years (RFC 850) 70 … 99 lie in 1970 … 1999, all
/// others in 2000 … 2069: no clock is asked, and no file of ours is older than 1970.
/// Failure: nothing. Names are case-sensitive, the day of the week is not compared with the date,
/// the day of the month is.
std::optional<std::int64_t> parse_http_date(std::string_view text);

/// Writes IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Times outside the years
/// 0001 … 9999, which have no such form, are written as the nearest one that has.
std::string format_http_date(std::int64_t seconds);

/// The same 29 bytes, without an allocation.
std::array<char, 29> http_date_text(std::int64_t seconds);

/// Writes RFC 3339 in UTC, such as `1994-11-06T08:49:37Z`; the same limits.
std::string format_rfc3339(std::int64_t seconds);

}  // namespace fenceline::base
