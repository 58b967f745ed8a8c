#include "backends/files/packed.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "base/bytes.h"
#include "base/digits.h"

namespace fenceline::backends::files {
namespace {

constexpr std::size_t kNonceDigits = 16;
constexpr std::size_t kNonceBytes = sizeof(std::uint64_t);
static_assert(std::endian::native == std::endian::little);

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

PackedId::PackedId(std::string_view text) : text_(text) {
  if (split()) {
    text_ = {};
  }
}

// Not what would not be the same text again: capitals, zeros in front, too large a number.
bool PackedId::split() {
  constexpr std::size_t kMostDigits = 16;
  const std::size_t digits = text_.size() - std::min(text_.size(), kNonceDigits + 1);
  if (digits == 0 || digits > kMostDigits || text_[kNonceDigits] != '-') {
    return false;
  }
  const auto nonce = base::sixteen_hex_digits(text_.data());
  const std::string_view counter = text_.substr(kNonceDigits + 1);
  if (!nonce || (counter.front() == '0' && digits > 1)) {
    return false;
  }
  std::uint64_t decimal = 0;
  std::uint64_t hex = 0;
  bool is_decimal = true;
  for (const char c : counter) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) {
      return false;
    }
    const auto value = static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
    decimal = decimal * 10 + value;
    hex = hex * 16 + value;
    is_decimal = is_decimal && is_digit;
  }
  form_ = is_decimal ? Form::kDecimal : Form::kHex;
  nonce_ = *nonce;
  counter_ = is_decimal ? decimal : hex;
  return true;
}

std::optional<PackedId> PackedId::take(std::string_view& rest) {
  if (rest.empty()) {
    return std::nullopt;
  }
  PackedId id;
  const auto first = static_cast<std::uint8_t>(rest.front());
  rest.remove_prefix(1);
  if (first <= kMaxBytes) {
    id.text_ = rest.substr(0, first);
    rest.remove_prefix(id.text_.size());
    const bool is_whole = id.text_.size() == first && base::is_printable(id.text_) &&
                          id.text_.find(' ') == std::string_view::npos;
    return is_whole ? std::optional(id) : std::nullopt;
  }
  id.form_ = static_cast<Form>(first);
  if ((id.form_ != Form::kDecimal && id.form_ != Form::kHex) || rest.size() < kNonceBytes) {
    return std::nullopt;
  }
  id.nonce_ = base::eight_bytes(rest.data());
  rest.remove_prefix(kNonceBytes);
  const auto counter = take_number(rest);
  if (!counter) {
    return std::nullopt;
  }
  id.counter_ = *counter;
  return id;
}

void PackedId::append_to(std::string& out) const {
  if (form_ == Form::kText) {
    out += static_cast<char>(text_.size());
    out += text_;
    return;
  }
  out += static_cast<char>(form_);
  std::array<char, kNonceBytes> nonce;  // NOLINT: written by the next line.
  std::memcpy(nonce.data(), &nonce_, kNonceBytes);
  out.append(nonce.data(), nonce.size());
  append_number(out, counter_);
}

std::string_view PackedId::text(Space& space) const {
  if (form_ == Form::kText) {
    return text_;
  }
  char* end = base::put_hex(space.data(), nonce_, kNonceDigits);
  *end++ = '-';
  end = form_ == Form::kHex ? base::put_hex(end, counter_)
                            : std::to_chars(end, space.data() + space.size(), counter_).ptr;
  return {space.data(), static_cast<std::size_t>(end - space.data())};
}

bool PackedId::fits_into_quotes() const {
  return form_ != Form::kText || (!text_.empty() && text_.find('"') == std::string_view::npos);
}

}  // namespace fenceline::backends::files
