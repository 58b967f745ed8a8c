#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fenceline::base::aws {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
Sha256 hmac_sha256(std::span<const std::uint8_t> key, std::string_view text);

/// Lower-case hexadecimal.
std::string hex(std::span<const std::uint8_t> bytes);

/// Compares in a time that does not depend on where they differ; texts of different lengths differ.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace fenceline::base::aws
