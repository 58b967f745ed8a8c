// Mutated requests, from fixed seeds: the parser never crashes, never depends on how the bytes were
// cut, and what it accepts keeps every promise of `RequestHead`.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/field_syntax.h"
#include "proxy/request_parser.h"
#include "proxy/target.h"
#include "proxy/uri_syntax.h"
#include "tests/proxy/head_mutator.h"
#include "tests/proxy/parser_driver.h"

namespace fenceline::proxy::testing {
namespace {

void check_invariants(const base::RequestHead& head) {
  EXPECT_TRUE(base::is_token(head.method_text));
  EXPECT_EQ(head.method, base::method_from(head.method_text));
  EXPECT_TRUE(head.target.starts_with('/'));
  EXPECT_EQ(find_foreign_byte(head.target), std::string_view::npos);
  EXPECT_EQ(head.path.find('?'), std::string_view::npos);
  EXPECT_EQ(head.path.data(), head.target.data());
  EXPECT_TRUE(head.minor_version == 0 || head.minor_version == 1);
  EXPECT_LE(head.fields.size(), 100U);
  for (const base::Field& field : head.fields) {
    EXPECT_TRUE(base::is_token(field.name));
    EXPECT_TRUE(base::is_field_value(field.value));
    EXPECT_EQ(base::trim_blanks(field.value), field.value);
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
  Target target;
  static_cast<void>(decode_path(head.path, target));
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
