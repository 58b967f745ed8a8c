#include "tests/proxy/parser_driver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace fenceline::proxy::testing {
namespace {

std::string describe(const base::RequestHead& head) {
  std::string text =
      fmt::format("{} {} [{}|{}] 1.{} length={} chunked={} keep={} expect={}", head.method_text,
                  head.target, head.path, head.query, head.minor_version,
                  head.content_length ? std::to_string(*head.content_length) : "none", head.chunked,
                  head.keep_alive, head.expects_continue);
  for (const base::Field& field : head.fields) {
    text += fmt::format("\n<{}>=<{}>", field.name, field.value);
  }
  return text;
}

std::string printable(std::string_view raw) {
  std::string text;
  for (const char c : raw.substr(0, 300)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7F ? std::string(1, c)
                                        : fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
  }
  return text;
}

/// A session's loop around one request.
class Driver {
 public:
  explicit Driver(HeadLimits limits) : parser_(limits) {}

  /// False once the outcome is final.
  bool feed(std::string_view more) {
    buffer_.append(more);
    if (!outcome_.head_done && !feed_head()) {
      return false;
    }
    return !outcome_.head_done || feed_body();
  }

  const Outcome& outcome() const { return outcome_; }

 private:
  bool fail(const base::Error& error) {
    outcome_.error = error.kind;
    outcome_.detail = error.detail;
    outcome_.used_bytes = 0;  // How far a broken body was read depends on the reads.
    return false;
  }

  bool feed_head() {
    const auto size = parser_.parse_head(buffer_);
    if (!size) {
      return fail(size.error());
    }
    if (*size) {
      outcome_.head_done = true;
      drop(**size);
      outcome_.head = describe(parser_.head());
    }
    return true;
  }

  bool feed_body() {
    while (!parser_.body_finished()) {
      const auto step = parser_.parse_body(buffer_);
      if (!step) {
        const auto again = parser_.parse_body(buffer_);
        EXPECT_FALSE(again.has_value()) << "an error must stay";
        return fail(step.error());
      }
      if (!step->piece.empty()) {
        EXPECT_GE(step->piece.data(), buffer_.data());
        EXPECT_LE(step->piece.data() + step->piece.size(), buffer_.data() + step->consumed_bytes);
      }
      outcome_.body.append(step->piece);
      EXPECT_EQ(step->finished, parser_.body_finished());
      if (step->consumed_bytes == 0) {
        EXPECT_TRUE(step->piece.empty());
        return true;
      }
      drop(step->consumed_bytes);
    }
    outcome_.body_done = true;
    // Neither reused buffers nor trailers change the head.
    EXPECT_EQ(describe(parser_.head()), outcome_.head);
    return false;
  }

  void drop(std::size_t bytes) {
    outcome_.used_bytes += bytes;
    // Old bytes are overwritten, so that a view into them would be seen.
    std::string rest = buffer_.substr(bytes);
    std::ranges::fill(buffer_, '!');
    buffer_ = std::move(rest);
  }

  RequestParser parser_;
  std::string buffer_;
  Outcome outcome_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << (outcome.error ? base::name_of(*outcome.error) : "accepted") << " \"" << outcome.detail
      << "\" head_done=" << outcome.head_done << " body_done=" << outcome.body_done
      << " used=" << outcome.used_bytes << " body=\"" << printable(outcome.body) << "\"\n"
      << outcome.head;
  return out;
}

Outcome drive(std::string_view raw, const std::vector<std::size_t>& cuts, HeadLimits limits) {
  Driver driver(limits);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    if (!driver.feed(raw.substr(from, cut - from))) {
      return driver.outcome();
    }
    from = cut;
  }
  driver.feed(raw.substr(from));
  return driver.outcome();
}

Outcome drive_whole(std::string_view raw, HeadLimits limits) { return drive(raw, {}, limits); }

Outcome drive_every_way(std::string_view raw, HeadLimits limits) {
  Outcome whole = drive_whole(raw, limits);
  std::vector<std::size_t> every_byte(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    every_byte[i] = i;
  }
  EXPECT_EQ(drive(raw, every_byte, limits), whole) << "byte by byte: " << printable(raw);
  if (raw.size() <= kMaxSplitBytes) {
    for (std::size_t i = 1; i < raw.size(); ++i) {
      EXPECT_EQ(drive(raw, {i}, limits), whole) << "cut at " << i << ": " << printable(raw);
    }
  }
  return whole;
}

void check_cases(const std::vector<HeadCase>& cases, HeadLimits limits) {
  for (const HeadCase& each : cases) {
    SCOPED_TRACE(printable(each.raw));
    const Outcome outcome = drive_every_way(each.raw, limits);
    EXPECT_EQ(outcome.error, each.error) << outcome;
    if (each.error) {
      EXPECT_TRUE(outcome.detail.ends_with('.')) << "a sentence: " << outcome.detail;
      EXPECT_EQ(outcome.body, "") << "nothing of the body is handed out";
    } else {
      EXPECT_TRUE(outcome.head_done) << outcome;
    }
  }
}

}  // namespace fenceline::proxy::testing
