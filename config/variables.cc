#include "config/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace fenceline::config {
namespace {

// Control bytes: a file has none, so they cannot be mistaken for text.
constexpr char kOpen = '\x01';
constexpr char kClose = '\x02';

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, [&letter](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

}  // namespace

std::string Variables::hide_braces(std::string_view text) {
  std::string hidden(text);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '$') {
      continue;
    }
    if (text[i + 1] == '{') {
      const std::size_t close = text.find_first_of("{}\r\n", i + 2);
      if (close != std::string_view::npos && text[close] == '}') {
        hidden[i + 1] = kOpen;
        hidden[close] = kClose;
        i = close;
      }
    } else if (text[i + 1] == '$') {
      ++i;  // `$$` is one unit: the second `$` begins nothing.
    }
  }
  return hidden;
}

std::string Variables::show_braces(std::string_view text) {
  std::string shown(text);
  std::ranges::replace(shown, kOpen, '{');
  std::ranges::replace(shown, kClose, '}');
  return shown;
}

Parsed<Variables::Expanded> Variables::expand(std::string_view hidden) const {
  Expanded out;
  while (!hidden.empty()) {
    const std::size_t dollar = std::min(hidden.find('$'), hidden.size());
    out.text += hidden.substr(0, dollar);
    hidden.remove_prefix(dollar);
    if (hidden.starts_with("$$")) {
      out.text += '$';
      hidden.remove_prefix(2);
      continue;
    }
    if (hidden.starts_with("${")) {
      return tl::unexpected(std::string(
          "\"${\" has no \"}\" on its line; write ${NAME} for a variable, $${ for the characters"));
    }
    if (hidden.size() < 2 || hidden[1] != kOpen) {
      out.text += hidden.substr(0, 1);
      hidden.remove_prefix(std::min<std::size_t>(1, hidden.size()));
      continue;
    }
    const std::size_t close = std::min(hidden.find(kClose), hidden.size());
    const std::string name(hidden.substr(2, close - 2));
    if (!is_variable_name(name)) {
      return tl::unexpected(fmt::format(
          "\"${{{}}}\" names no environment variable; a name is letters, digits and \"_\", and "
          "there are no defaults",
          name));
    }
    const auto value = environment_(name);
    if (!value) {
      return tl::unexpected(fmt::format(
          "the environment variable {} is not set; set it, or write $${{{}}} for the characters",
          name, name));
    }
    out.text += *value;
    out.has_variable = true;
    hidden.remove_prefix(std::min(close + 1, hidden.size()));
  }
  return out;
}

}  // namespace fenceline::config
