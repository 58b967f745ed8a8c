#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fenceline::client::redis {

/// One answer in RESP2 (the Redis serialization protocol).
struct Reply {
  enum class Kind : std::uint8_t { kStatus, kError, kInteger, kBulk, kNil, kArray };

  Kind kind = Kind::kNil;
  std::string text;             ///< Of a status, an error or a bulk string.
  std::int64_t integer = 0;     ///< Of an integer.
  std::vector<Reply> elements;  ///< Of an array.

  [[nodiscard]] bool is_error() const { return kind == Kind::kError; }

  friend bool operator==(const Reply&, const Reply&) = default;
};

/// Each kind by its name; `status("OK")` is `+OK`.
inline Reply status(std::string text) { return {Reply::Kind::kStatus, std::move(text), 0, {}}; }
inline Reply error(std::string text) { return {Reply::Kind::kError, std::move(text), 0, {}}; }
inline Reply bulk(std::string text) { return {Reply::Kind::kBulk, std::move(text), 0, {}}; }
inline Reply integer(std::int64_t value) { return {Reply::Kind::kInteger, {}, value, {}}; }
inline Reply array(std::vector<Reply> elements) {
  return {Reply::Kind::kArray, {}, 0, std::move(elements)};
}

}  // namespace fenceline::client::redis
