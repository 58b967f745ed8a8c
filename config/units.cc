#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace fenceline::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kK = 1000;
// Binary units first: `format_size` takes the first that divides, from the end of its range.
constexpr std::array kSizeUnits{Unit{"B", 1},
                                Unit{"KiB", kKi},
                                Unit{"MiB", kKi* kKi},
                                Unit{"GiB", kKi* kKi* kKi},
                                Unit{"TiB", kKi* kKi* kKi* kKi},
                                Unit{"kB", kK},
                                Unit{"MB", kK* kK},
                                Unit{"GB", kK* kK* kK},
                                Unit{"TB", kK* kK* kK* kK}};
constexpr std::size_t kBinaryUnits = 5;
constexpr std::array kDurationUnits{Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60 * 1000},
                                    Unit{"h", 60 * 60 * 1000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number at the front of `text`; nothing if there is no canonical one that fits.
std::optional<std::int64_t> read_digits(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0') ||
      !std::ranges::all_of(digits, is_digit)) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

/// Digits and a unit, multiplied; a sentence without its subject when that fails.
Parsed<std::int64_t> read_quantity(std::string_view text, std::span<const Unit> units,
                                   bool unit_required) {
  const auto first_other = std::ranges::find_if_not(text, is_digit);
  const auto count = static_cast<std::size_t>(first_other - text.begin());
  const std::string_view unit_text = text.substr(count);
  const auto number = read_digits(text.substr(0, count));
  if (!number) {
    return tl::unexpected(std::string(count == 0 ? "it must start with a digit"
                                                 : "the number has a leading zero or is too big"));
  }
  std::int64_t factor = 1;
  if (unit_text.empty()) {
    if (unit_required && *number != 0) {
      return tl::unexpected(std::string("it has no unit"));
    }
  } else {
    const auto unit = std::ranges::find(units, unit_text, &Unit::name);
    if (unit == units.end()) {
      return tl::unexpected(fmt::format("\"{}\" is no unit", unit_text));
    }
    factor = unit->factor;
  }
  if (*number > std::numeric_limits<std::int64_t>::max() / factor) {
    return tl::unexpected(std::string("it is too big"));
  }
  return *number * factor;
}

std::string format_quantity(std::int64_t value, std::span<const Unit> units) {
  const Unit* best = units.data();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      best = &unit;
    }
  }
  return fmt::format("{}{}", value / best->factor, best->name);
}

}  // namespace

Parsed<std::int64_t> parse_integer(std::string_view text) {
  if (const auto value = read_digits(text)) {
    return *value;
  }
  return tl::unexpected(fmt::format(
      "\"{}\" is no integer from 0 to 9223372036854775807 in plain decimal digits", text));
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  return tl::unexpected(fmt::format("\"{}\" is neither true nor false", text));
}

Parsed<std::uint64_t> parse_size(std::string_view text) {
  const auto bytes = read_quantity(text, kSizeUnits, false);
  if (!bytes) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no size: {}; write bytes or a unit of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, "
        "as in 64MiB",
        text, bytes.error()));
  }
  return static_cast<std::uint64_t>(*bytes);
}

Parsed<base::Milliseconds> parse_duration(std::string_view text) {
  const auto value = read_quantity(text, kDurationUnits, true);
  if (!value) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no duration: {}; write a number and a unit of ms, s, m, h, as in 30s", text,
        value.error()));
  }
  return base::Milliseconds(*value);
}

std::string format_size(std::uint64_t bytes) {
  return format_quantity(static_cast<std::int64_t>(bytes),
                         std::span(kSizeUnits).first(kBinaryUnits));
}

std::string format_duration(base::Milliseconds duration) {
  return format_quantity(duration.count(), kDurationUnits);
}

}  // namespace fenceline::config
