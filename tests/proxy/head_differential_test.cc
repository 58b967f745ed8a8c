// Two readers with different ideas of a head are what smuggling is made of: whatever our parser
// accepts, Beast must read in the same way.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/request_parser.h"
#include "tests/proxy/head_mutator.h"

namespace fenceline::proxy::testing {
namespace {

namespace http = boost::beast::http;

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// The head as Beast reads it; false if it refuses.
bool read_by_beast(std::string_view head, http::request_parser<http::empty_body>& parser) {
  boost::system::error_code error;
  parser.header_limit(64 * 1024);
  parser.body_limit(boost::none);
  parser.put(boost::asio::buffer(head), error);
  return !error && parser.is_header_done();
}

/// Beast keeps fields of one name together.
std::vector<base::OwnedField> grouped(std::vector<base::OwnedField> fields) {
  const auto lower = [](std::string name) {
    std::ranges::transform(name, name.begin(), base::ascii_lower);
    return name;
  };
  std::ranges::stable_sort(
      fields, [&](const auto& a, const auto& b) { return lower(a.first) < lower(b.first); });
  return fields;
}

void expect_same(const base::RequestHead& ours, const http::request<http::empty_body>& theirs) {
  EXPECT_EQ(ours.method_text, view_of(theirs.method_string()));
  EXPECT_EQ(ours.target, view_of(theirs.target()));
  EXPECT_EQ(10U + static_cast<unsigned>(ours.minor_version), theirs.version());
  std::vector<base::OwnedField> our_fields;
  for (const base::Field& field : ours.fields) {
    our_fields.emplace_back(field.name, field.value);
  }
  std::vector<base::OwnedField> their_fields;
  for (const auto& field : theirs) {
    their_fields.emplace_back(view_of(field.name_string()), view_of(field.value()));
  }
  EXPECT_EQ(grouped(std::move(our_fields)), grouped(std::move(their_fields)));
}

TEST(HeadDifferential, BeastReadsEveryAcceptedHeadTheSameWay) {
  Mutator mutator(3);
  RequestParser parser(HeadLimits{});
  int compared = 0;
  for (int round = 0; round < 40000; ++round) {
    const std::string raw = mutator.next();
    parser.reset();
    const auto size = parser.parse_head(raw);
    if (!size || !*size) {
      continue;
    }
    // Empty lines in front are ours alone (RFC 9112, 2.2).
    std::string_view head = std::string_view(raw).substr(0, **size);
    while (head.starts_with("\r\n")) {
      head.remove_prefix(2);
    }
    http::request_parser<http::empty_body> beast;
    ASSERT_TRUE(read_by_beast(head, beast)) << "round " << round << ": " << raw;
    expect_same(parser.head(), beast.get());
    ++compared;
    if (::testing::Test::HasFailure()) {
      FAIL() << "round " << round << ": " << raw;
    }
  }
  EXPECT_GT(compared, 4000);
}

}  // namespace
}  // namespace fenceline::proxy::testing
