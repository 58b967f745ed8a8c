#include "client/redis/reply_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace fenceline::client::redis {
namespace {

using base::ErrorKind;
using base::Result;

tl::unexpected<base::Error> refuse(std::string_view what) {
  return base::fail(ErrorKind::kUpstreamFailed,
                    fmt::format("What answers does not speak as a Redis server: {}.", what),
                    base::Applied::kUnknown);
}

/// The one way to write a number: no sign but '-', no zero in front.
Result<std::int64_t> read_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool canonical = !digits.empty() && (digits.front() != '0' || text == "0");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!canonical || error != std::errc() || end != text.data() + text.size()) {
    return refuse("a number is not written as one");
  }
  return value;
}

}  // namespace

Result<std::optional<Reply>> ReplyParser::take(std::string_view& bytes) {
  while (!bytes.empty()) {
    auto piece = bulk_size_ ? take_bulk(bytes) : take_line(bytes);
    if (!piece) {
      return base::pass_on(piece.error());
    }
    if (*piece) {
      if (auto whole = place(*std::move(*piece))) {
        return whole;
      }
    }
  }
  return std::nullopt;
}

ReplyParser::Piece ReplyParser::take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
  line_ += bytes.substr(0, std::min(size, kMaxLineBytes + 1));
  bytes.remove_prefix(size);
  if (line_.size() > kMaxLineBytes) {
    return refuse("a line is too long");
  }
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string line = std::exchange(line_, {});
  if (line.size() < 3 || line.find('\r') != line.size() - 2) {
    return refuse("a line does not end with CR LF");
  }
  return read_line(std::string_view(line).substr(0, line.size() - 2));
}

ReplyParser::Piece ReplyParser::read_line(std::string_view line) {
  reply_bytes_ += line.size();
  if (++reply_elements_ > kMaxReplyElements || reply_bytes_ > kMaxReplyBytes) {
    return refuse("an answer is too long");
  }
  const std::string_view rest = line.substr(1);
  switch (line.front()) {
    case '+':
      return status(std::string(rest));
    case '-':
      return error(std::string(rest));
    case ':': {
      auto value = read_integer(rest);
      if (!value) {
        return base::pass_on(value.error());
      }
      return integer(*value);
    }
    case '$':
      return begin_bulk(rest);
    case '*':
      return begin_array(rest);
    default:
      return refuse("a type is unknown");
  }
}

ReplyParser::Piece ReplyParser::begin_bulk(std::string_view length) {
  const auto size = read_integer(length);
  if (!size || *size < -1) {
    return refuse("the length of a string is none");
  }
  if (*size == -1) {
    return Reply{};
  }
  if (*size > static_cast<std::int64_t>(kMaxBulkBytes)) {
    return refuse("a string is too long");
  }
  bulk_size_ = static_cast<std::size_t>(*size);
  reply_bytes_ += *bulk_size_;
  if (reply_bytes_ > kMaxReplyBytes) {
    return refuse("an answer is too long");
  }
  return std::nullopt;
}

ReplyParser::Piece ReplyParser::take_bulk(std::string_view& bytes) {
  const std::size_t size = std::min(bytes.size(), *bulk_size_ + 2 - bulk_.size());
  bulk_ += bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (bulk_.size() < *bulk_size_ + 2) {
    return std::nullopt;
  }
  if (!bulk_.ends_with("\r\n")) {
    return refuse("a string does not end where it should");
  }
  bulk_.resize(*bulk_size_);
  bulk_size_.reset();
  return bulk(std::exchange(bulk_, {}));
}

ReplyParser::Piece ReplyParser::begin_array(std::string_view length) {
  const auto size = read_integer(length);
  if (!size || *size < -1) {
    return refuse("the length of an array is none");
  }
  if (*size == -1) {
    return Reply{};
  }
  if (*size > static_cast<std::int64_t>(kMaxElements)) {
    return refuse("an array is too long");
  }
  if (open_.size() == kMaxDepth) {
    return refuse("arrays are nested too deep");
  }
  if (*size == 0) {
    return array({});
  }
  open_.push_back({array({}), static_cast<std::size_t>(*size)});
  return std::nullopt;
}

std::optional<Reply> ReplyParser::place(Reply value) {
  while (!open_.empty()) {
    OpenArray& array = open_.back();
    array.reply.elements.push_back(std::move(value));
    if (--array.left > 0) {
      return std::nullopt;
    }
    value = std::move(array.reply);
    open_.pop_back();
  }
  reply_bytes_ = 0;
  reply_elements_ = 0;
  return value;
}

}  // namespace fenceline::client::redis
