#include "client/redis/command.h"

#include <cstddef>

#include "base/digits.h"

namespace fenceline::client::redis {
namespace {

void append_length(std::string& out, char type, std::size_t length) {
  out += type;
  base::append_decimal(out, std::uint64_t{length});
  out += "\r\n";
}

void append_bulk(std::string& out, std::string_view text) {
  append_length(out, '$', text.size());
  out += text;
  out += "\r\n";
}

}  // namespace

std::string command(std::initializer_list<std::string_view> words) {
  std::string out;
  append_length(out, '*', words.size());
  for (const std::string_view word : words) {
    append_bulk(out, word);
  }
  return out;
}

std::string eval(std::string_view script, const std::vector<std::string>& keys,
                 std::initializer_list<std::string_view> arguments) {
  std::string out;
  append_length(out, '*', 3 + keys.size() + arguments.size());
  append_bulk(out, "EVAL");
  append_bulk(out, script);
  append_bulk(out, std::to_string(keys.size()));
  for (const std::string& key : keys) {
    append_bulk(out, key);
  }
  for (const std::string_view argument : arguments) {
    append_bulk(out, argument);
  }
  return out;
}

}  // namespace fenceline::client::redis
