// Mutated requests, from fixed seeds: the parser never crashes, never depends on how the bytes were
// cut, and what it accepts keeps every promise of `RequestHead`.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/field_syntax.h"
#include "proxy/request_parser.h"
#include "proxy/target.h"
#include "proxy/uri_syntax.h"
#include "tests/proxy/parser_driver.h"

namespace fenceline::proxy::testing {
namespace {

constexpr std::string_view kPlain = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
constexpr std::string_view kSized =
    "PUT /exports/acme/a%20b?x=1&y HTTP/1.1\r\nHost: a:80\r\nFencing-Token: 34\r\n"
    "Content-Length: 5\r\nConnection: keep-alive\r\n\r\nhelloGET /";
constexpr std::string_view kChunked =
    "PUT /a HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\nPUT";
constexpr std::string_view kOld = "HEAD /x HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n";
constexpr std::string_view kPadded =
    "\r\n\r\nDELETE /a/b/ HTTP/1.1\r\nhost:a\r\nIf-Match: \"x\"\r\n\r\n";

constexpr std::array kSeeds = {kPlain, kSized, kChunked, kOld, kPadded};

constexpr std::array<std::string_view, 40> kPieces = {"\r\n",
                                                      "\n",
                                                      "\r",
                                                      " ",
                                                      "\t",
                                                      ":",
                                                      ",",
                                                      ";",
                                                      "\r\n ",
                                                      "\r\n\r\n",
                                                      "Host: b\r\n",
                                                      "Content-Length: 5\r\n",
                                                      "Content-Length: 0\r\n",
                                                      "Content-Length: +5\r\n",
                                                      "Transfer-Encoding: chunked\r\n",
                                                      "Transfer-Encoding: gzip\r\n",
                                                      "Transfer-Encoding:\r\n",
                                                      "chunked",
                                                      "identity",
                                                      "Expect: 100-continue\r\n",
                                                      "HTTP/1.0",
                                                      "HTTP/1.1",
                                                      "HTTP/2.0",
                                                      "%2f",
                                                      "%",
                                                      "..",
                                                      "/",
                                                      "?",
                                                      "#",
                                                      "*",
                                                      "0\r\n\r\n",
                                                      "ffffffffffffffff\r\n",
                                                      "5\r\n",
                                                      "1;a\r\nx\r\n",
                                                      "\x7f",
                                                      "\x80",
                                                      "Connection: close\r\n",
                                                      "http://a/",
                                                      "18446744073709551619",
                                                      "A: b\r\n"};

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string next() {
    std::string text(kSeeds.at(below(kSeeds.size())));
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) {
      mutate(text);
    }
    return text;
  }

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        text.erase(at, 1 + below(4));
        break;
      case 2:
        if (at < text.size()) {
          text[at] = static_cast<char>(below(256));
        }
        break;
      case 3:
        text.insert(at, kPieces.at(below(kPieces.size())));
        break;
      case 4:
        insert_line(text);
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
    }
  }

  /// A piece at the start of a line, where it does most.
  void insert_line(std::string& text) {
    std::vector<std::size_t> starts;
    for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
      starts.push_back(i + 1);
    }
    if (!starts.empty()) {
      text.insert(starts[below(starts.size())], kPieces.at(below(kPieces.size())));
    }
  }

  std::mt19937 random_;
};

void check_invariants(const base::RequestHead& head) {
  EXPECT_TRUE(is_token(head.method_text));
  EXPECT_EQ(head.method, base::method_from(head.method_text));
  EXPECT_TRUE(head.target.starts_with('/'));
  EXPECT_EQ(find_foreign_byte(head.target), std::string_view::npos);
  EXPECT_EQ(head.path.find('?'), std::string_view::npos);
  EXPECT_EQ(head.path.data(), head.target.data());
  EXPECT_TRUE(head.minor_version == 0 || head.minor_version == 1);
  EXPECT_LE(head.fields.size(), 100U);
  for (const base::Field& field : head.fields) {
    EXPECT_TRUE(is_token(field.name));
    EXPECT_TRUE(is_field_value(field.value));
    EXPECT_EQ(trim_blanks(field.value), field.value);
  }
  const std::size_t hosts = head.count("Host");
  EXPECT_LE(hosts, 1U);
  EXPECT_TRUE(hosts == 1 || head.minor_version == 0);
  EXPECT_TRUE(hosts == 0 || is_valid_host(*head.only("Host")));
  const std::size_t lengths = head.count("Content-Length");
  const std::size_t codings = head.count("Transfer-Encoding");
  EXPECT_LE(lengths + codings, 1U);
  EXPECT_EQ(head.content_length.has_value(), lengths == 1);
  EXPECT_EQ(head.chunked, codings == 1);
  EXPECT_FALSE(head.chunked && head.minor_version == 0);
  if (head.expects_continue) {
    EXPECT_TRUE(head.chunked || head.content_length.value_or(0) > 0);
    EXPECT_EQ(head.minor_version, 1);
  }
  // Whatever the path says, decoding it does not crash.
  static_cast<void>(decode_path(head.path));
  static_cast<void>(query_parameter(head.query, "x"));
}

TEST(HeadMutation, AcceptedHeadsKeepTheirPromises) {
  Mutator mutator(1);
  RequestParser parser(HeadLimits{});
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string raw = mutator.next();
    parser.reset();
    const auto size = parser.parse_head(raw);
    if (!size) {
      ++refused;
      EXPECT_FALSE(size.error().detail.empty());
    } else if (*size) {
      ++accepted;
      EXPECT_LE(**size, raw.size());
      EXPECT_TRUE(std::string_view(raw).substr(0, **size).ends_with("\r\n\r\n"));
      check_invariants(parser.head());
    }
    if (::testing::Test::HasFailure()) {
      FAIL() << "round " << round << ": " << raw;
    }
  }
  // The mutations must be neither harmless nor hopeless.
  EXPECT_GT(accepted, 2000);
  EXPECT_GT(refused, 2000);
}

TEST(HeadMutation, OutcomesDoNotDependOnTheReads) {
  Mutator mutator(2);
  for (int round = 0; round < 4000; ++round) {
    const std::string raw = mutator.next();
    const Outcome whole = drive_whole(raw);
    std::vector<std::size_t> every_byte;
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      every_byte.push_back(i);
      if (mutator.below(5) == 0) {
        some.push_back(i);
      }
    }
    ASSERT_EQ(drive(raw, every_byte), whole) << "round " << round << ": " << raw;
    ASSERT_EQ(drive(raw, some), whole) << "round " << round << ": " << raw;
  }
}

}  // namespace
}  // namespace fenceline::proxy::testing
