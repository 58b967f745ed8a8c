#include "proxy/shell_text.h"

namespace fenceline::proxy {

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
  // A word that begins with a minus would be an option.
  if (!text.empty() && text.front() != '-' &&
      text.find_first_not_of(kSafe) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char byte : text) {
    if (byte == '\'') {
      quoted += "'\\''";
    } else {
      quoted += byte;
    }
  }
  return quoted + "'";
}

}  // namespace fenceline::proxy
