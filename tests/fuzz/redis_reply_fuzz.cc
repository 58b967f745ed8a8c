// Answers of a Redis server. Whatever is accepted is within its bounds and is written in one way
// only, and how the bytes were cut into reads never changes the outcome.

#include <optional>
#include <string>
#include <vector>

#include "client/redis/reply_parser.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using client::redis::Reply;
using client::redis::ReplyParser;

/// The answers up to the end, or up to a refusal.
struct Read {
  bool refused = false;
  std::vector<Reply> replies;
  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view raw, std::size_t step) {
  ReplyParser parser;
  Read result;
  while (!raw.empty()) {
    std::string_view piece = raw.substr(0, step);
    raw.remove_prefix(piece.size());
    while (!piece.empty()) {
      const std::size_t before = piece.size();
      const auto reply = parser.take(piece);
      if (!reply) {
        result.refused = true;
        return result;
      }
      check(piece.size() < before, "bytes are used up");
      if (*reply) {
        result.replies.push_back(**reply);
      }
    }
  }
  return result;
}

/// As a server writes it; nil has two ways, of which this is one.
void write(std::string& out, const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kStatus:
      out += "+" + reply.text + "\r\n";
      break;
    case Reply::Kind::kError:
      out += "-" + reply.text + "\r\n";
      break;
    case Reply::Kind::kInteger:
      out += ":" + std::to_string(reply.integer) + "\r\n";
      break;
    case Reply::Kind::kBulk:
      out += "$" + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n";
      break;
    case Reply::Kind::kNil:
      out += "$-1\r\n";
      break;
    case Reply::Kind::kArray:
      out += "*" + std::to_string(reply.elements.size()) + "\r\n";
      for (const Reply& element : reply.elements) {
        write(out, element);
      }
      break;
  }
}

void check_bounds(const Reply& reply, std::size_t depth, std::size_t& elements) {
  check(++elements <= ReplyParser::kMaxReplyElements, "an answer has few elements");
  check(reply.text.size() <= ReplyParser::kMaxBulkBytes, "a string is short");
  check(reply.elements.size() <= ReplyParser::kMaxElements, "an array is short");
  check(reply.kind != Reply::Kind::kArray || depth < ReplyParser::kMaxDepth,
        "arrays are not nested deep");
  for (const Reply& element : reply.elements) {
    check_bounds(element, depth + 1, elements);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fenceline::fuzz;  // NOLINT(google-build-using-namespace)
  const std::string_view raw = as_text(data, size);
  const Read whole = read(raw, raw.size() + 1);
  check(read(raw, 1) == whole, "the cut into reads changes nothing", raw);
  check(read(raw, 7) == whole, "the cut into reads changes nothing", raw);
  std::string written;
  for (const auto& reply : whole.replies) {
    std::size_t elements = 0;
    check_bounds(reply, 0, elements);
    write(written, reply);
  }
  const Read again = read(written, written.size() + 1);
  check(!again.refused && again.replies == whole.replies, "what is written again is the same", raw);
  if (!whole.refused && written.size() == raw.size() && raw.find("*-1") == std::string_view::npos) {
    check(written == raw, "there is one way to write it", raw);
  }
  return 0;
}
