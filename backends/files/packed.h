#pragma once

// Numbers and ids in few bytes, for what is kept beside the inode of each file. All pure. What
// takes from `rest` gives nothing, and leaves `rest` anywhere, if the bytes are not exactly what is
// written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fenceline::backends::files {

/// Seven bits in each byte, the lowest first (LEB128).
void append_number(std::string& out, std::uint64_t number);
std::optional<std::uint64_t> take_number(std::string_view& rest);

/// An id of visible ASCII, at most `kMaxBytes`. Those that this program makes, `<16 hex
/// digits>-<counter>` with a decimal or a hexadecimal counter, lose half of their bytes; others
/// gain one. A view into what it was made from.
class PackedId {
 public:
  static constexpr std::size_t kMaxBytes = 64;

  /// Where the text is put together.
  using Space = std::array<char, 40>;

  /// Empty.
  PackedId() = default;
  explicit PackedId(std::string_view text);

  static std::optional<PackedId> take(std::string_view& rest);
  void append_to(std::string& out) const;

  /// A view into `space`, or into what this was made from.
  std::string_view text(Space& space) const;

  /// False for an empty one, and for one with a quote.
  [[nodiscard]] bool fits_into_quotes() const;

 private:
  /// The first byte; one up to the longest text is the length of that.
  enum class Form : std::uint8_t { kText, kDecimal = 0xF0, kHex = 0xF1 };

  bool split();

  Form form_ = Form::kText;
  std::string_view text_;  ///< With `kText` only.
  std::uint64_t nonce_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace fenceline::backends::files
