#pragma once

// Numbers and ids in few bytes, for what is kept beside the inode of each file. All pure; `take_…`
// gives nothing, and leaves `rest` anywhere, if the bytes are not exactly what `append_…` writes.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fenceline::backends::files {

/// Seven bits in each byte, the lowest first (LEB128).
void append_number(std::string& out, std::uint64_t number);
std::optional<std::uint64_t> take_number(std::string_view& rest);

/// Where the text of one id is put together.
using IdSpace = std::array<char, 40>;

/// Visible ASCII, at most 64 bytes. Ids as this program makes them, `<16 hex digits>-<counter>`
/// with a decimal or a hexadecimal counter, lose half of their bytes; others gain one.
void append_id(std::string& out, std::string_view id);

/// A view into `space` or into what `rest` views.
std::optional<std::string_view> take_id(std::string_view& rest, IdSpace& space);

}  // namespace fenceline::backends::files
