#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "client/redis/reply.h"

namespace fenceline::client::redis {

/// Reads answers of a Redis server (RESP2), and refuses what is not exactly that: another type, a
/// line that does not end with CR LF or has one of them inside, a number that is not canonical, a
/// length below -1. How the bytes were cut never changes the outcome. Not thread-safe.
class ReplyParser {
 public:
  static constexpr std::size_t kMaxBulkBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} * 1024;
  static constexpr std::size_t kMaxElements = 1024;       ///< Of one array.
  static constexpr std::size_t kMaxDepth = 4;             ///< Arrays within arrays.
  static constexpr std::size_t kMaxReplyElements = 4096;  ///< Of one answer, all arrays together.
  static constexpr std::size_t kMaxReplyBytes = std::size_t{4} << 20;

  /// Takes bytes off the front of `bytes`, up to the end of an answer.
  /// Success: the answer; nothing when `bytes` are used up before its end.
  /// Failure: `kUpstreamFailed`; the parser is of no use any more.
  base::Result<std::optional<Reply>> take(std::string_view& bytes);

 private:
  using Piece = base::Result<std::optional<Reply>>;

  struct OpenArray {
    Reply reply;
    std::size_t left;
  };

  Piece take_line(std::string_view& bytes);
  Piece take_bulk(std::string_view& bytes);
  Piece read_line(std::string_view line);
  Piece begin_bulk(std::string_view length);
  Piece begin_array(std::string_view length);
  /// Puts a value where it belongs; the whole answer if it was its last.
  std::optional<Reply> place(Reply value);

  std::string line_;  ///< As far as it has come; with its end.
  std::string bulk_;
  std::optional<std::size_t> bulk_size_;  ///< While a bulk string is read; without its CR LF.
  std::vector<OpenArray> open_;
  std::size_t reply_bytes_ = 0;
  std::size_t reply_elements_ = 0;
};

}  // namespace fenceline::client::redis
