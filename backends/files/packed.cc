#include "backends/files/packed.h"

#include <charconv>
#include <cstddef>

#include "base/digits.h"

namespace fenceline::backends::files {
namespace {

// The first byte of an id: how its counter is written, or the length of its text.
constexpr std::uint8_t kDecimal = 0xF0;
constexpr std::uint8_t kHex = 0xF1;
constexpr std::uint8_t kMostText = 64;

constexpr std::size_t kNonceDigits = 16;
constexpr std::size_t kNonceBytes = 8;

struct Parts {
  std::uint64_t nonce;
  std::uint64_t counter;
};

std::optional<std::uint64_t> number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::string_view text_of(Parts parts, std::uint8_t form, IdSpace& space) {
  char* end = base::put_hex(space.data(), parts.nonce, kNonceDigits);
  *end++ = '-';
  end = form == kHex ? base::put_hex(end, parts.counter)
                     : std::to_chars(end, space.data() + space.size(), parts.counter).ptr;
  return {space.data(), static_cast<std::size_t>(end - space.data())};
}

std::optional<Parts> parts_of(std::string_view id, std::uint8_t form) {
  if (id.size() <= kNonceDigits + 1 || id[kNonceDigits] != '-') {
    return std::nullopt;
  }
  const auto nonce = number(id.substr(0, kNonceDigits), 16);
  const auto counter = number(id.substr(kNonceDigits + 1), form == kHex ? 16 : 10);
  if (!nonce || !counter) {
    return std::nullopt;
  }
  // Zeros in front and capitals would be lost.
  IdSpace space;
  const Parts parts{*nonce, *counter};
  return text_of(parts, form, space) == id ? std::optional(parts) : std::nullopt;
}

}  // namespace

void append_number(std::string& out, std::uint64_t number) {
  for (; number > 0x7F; number >>= 7U) {
    out += static_cast<char>(number | 0x80U);
  }
  out += static_cast<char>(number);
}

std::optional<std::uint64_t> take_number(std::string_view& rest) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    const std::uint64_t bits = byte & 0x7FU;
    if ((bits << shift) >> shift != bits) {
      return std::nullopt;
    }
    number |= bits << shift;
    if (byte <= 0x7F) {
      const bool is_shortest = byte != 0 || shift == 0;
      return is_shortest ? std::optional(number) : std::nullopt;
    }
  }
  return std::nullopt;
}

void append_id(std::string& out, std::string_view id) {
  for (const std::uint8_t form : {kDecimal, kHex}) {
    if (const auto parts = parts_of(id, form)) {
      out += static_cast<char>(form);
      for (std::size_t i = 0; i < kNonceBytes; ++i) {
        out += static_cast<char>(parts->nonce >> (8 * (kNonceBytes - 1 - i)));
      }
      append_number(out, parts->counter);
      return;
    }
  }
  out += static_cast<char>(id.size());
  out += id;
}

std::optional<std::string_view> take_id(std::string_view& rest, IdSpace& space) {
  if (rest.empty()) {
    return std::nullopt;
  }
  const auto form = static_cast<std::uint8_t>(rest.front());
  rest.remove_prefix(1);
  if (form <= kMostText) {
    if (rest.size() < form) {
      return std::nullopt;
    }
    const std::string_view text = rest.substr(0, form);
    rest.remove_prefix(form);
    return text;
  }
  if ((form != kDecimal && form != kHex) || rest.size() < kNonceBytes) {
    return std::nullopt;
  }
  Parts parts{};
  for (const char byte : rest.substr(0, kNonceBytes)) {
    parts.nonce = (parts.nonce << 8U) | static_cast<std::uint8_t>(byte);
  }
  rest.remove_prefix(kNonceBytes);
  const auto counter = take_number(rest);
  if (!counter) {
    return std::nullopt;
  }
  parts.counter = *counter;
  return text_of(parts, form, space);
}

}  // namespace fenceline::backends::files
