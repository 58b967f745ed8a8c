#include "client/percent.h"

#include <fmt/format.h>

namespace fenceline::client {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~";
  std::string encoded;
  for (const char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos) {
      encoded += byte;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return encoded;
}

}  // namespace fenceline::client
