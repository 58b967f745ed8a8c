// Host, Transfer-Encoding, Content-Length, Expect and Connection: the fields that frame a request.

#include "proxy/framing_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/uri_syntax.h"
#include "tests/proxy/parser_driver.h"

namespace fenceline::proxy::testing {
namespace {

using enum base::ErrorKind;

constexpr auto kAccepted = std::nullopt;
constexpr std::string_view kChunks = "3\r\nabc\r\n0\r\n\r\n";

std::string put(std::string_view fields, std::string_view body = "", int minor = 1) {
  return "PUT /a HTTP/1." + std::to_string(minor) + "\r\nHost: a\r\n" + std::string(fields) +
         "\r\n" + std::string(body);
}

std::string bare(std::string_view fields, int minor = 1) {
  return "GET / HTTP/1." + std::to_string(minor) + "\r\n" + std::string(fields) + "\r\n";
}

TEST(TransferEncoding, IsNothingOrExactlyChunked) {
  check_cases({
      {put("Transfer-Encoding: chunked\r\n", kChunks), kAccepted},
      {put("transfer-encoding: CHUNKED\r\n", kChunks), kAccepted},
      {put("Transfer-Encoding:chunked \t\r\n", kChunks), kAccepted},
      {put("Transfer-Encoding: gzip\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: identity\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: xchunked\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: chunkedx\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: chunke\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: gzip, chunked\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: identity, chunked\r\n", kChunks), kMethodUnknown},
      {put("Transfer-Encoding: chunked, gzip\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked, identity\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked, chunked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked,\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: ,chunked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding:\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: \r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: ,\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked;x=1\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: \"chunked\"\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked chunked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chu\tnked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked\xff\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding : chunked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", kChunks),
       kMalformedRequest},
      {put("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", kChunks),
       kMalformedRequest},
      {put("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", kChunks),
       kMalformedRequest},
      {put("Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n", kChunks), kMalformedRequest},
      {put("Transfer-Encoding: chun\r\n ked\r\n", kChunks), kMalformedRequest},
      {put("Transfer_Encoding: gzip\r\n"), kAccepted},  // Another name: no framing.
  });
  EXPECT_EQ(drive_whole(put("Transfer-Encoding: chunked\r\n", kChunks)).body, "abc");
}

TEST(TransferEncoding, IsRefusedInHttp10) {
  check_cases({
      {put("Transfer-Encoding: chunked\r\n", kChunks, 0), kMalformedRequest},
      {put("Transfer-Encoding: gzip\r\n", kChunks, 0), kMalformedRequest},
      {put("Transfer-Encoding: identity\r\nConnection: keep-alive\r\n", kChunks, 0),
       kMalformedRequest},
  });
}

TEST(TransferEncoding, NeverComesWithContentLength) {
  for (const std::string_view coding : {"chunked", "gzip", "identity", "chunked, chunked", ""}) {
    for (const std::string_view length : {"0", "3", "13", "x"}) {
      const std::string te = "Transfer-Encoding: " + std::string(coding) + "\r\n";
      const std::string cl = "Content-Length: " + std::string(length) + "\r\n";
      check_cases({{put(fmt::format("{}{}", te, cl), kChunks), kMalformedRequest},
                   {put(fmt::format("{}{}", cl, te), kChunks), kMalformedRequest},
                   {put(fmt::format("{}X: y\r\n{}", te, cl), kChunks), kMalformedRequest},
                   {put(fmt::format("{}{}", cl, te), kChunks, 0), kMalformedRequest}});
    }
  }
}

TEST(ContentLength, IsOneDecimalNumber) {
  check_cases({
      {put("Content-Length: 3\r\n", "abc"), kAccepted},
      {put("content-length:3\r\n", "abc"), kAccepted},
      {put("Content-Length: 003\r\n", "abc"), kAccepted},
      {put("Content-Length: 0\r\n"), kAccepted},
      {put("Content-Length: 3\r\n", "abc", 0), kAccepted},
      {put("Content-Length: 9223372036854775807\r\n"), kAccepted},
      {put("Content-Length: 9223372036854775808\r\n"), kMalformedRequest},
      {put("Content-Length: 18446744073709551615\r\n"), kMalformedRequest},
      {put("Content-Length: 18446744073709551616\r\n"), kMalformedRequest},
      {put("Content-Length: 18446744073709551619\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 99999999999999999999999\r\n"), kMalformedRequest},
      {put("Content-Length: +3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: -3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: -0\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3 \t\r\n", "abc"), kAccepted},
      {put("Content-Length: 3 3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3,3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3, 3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3, 4\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3,\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: ,3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length:\r\n"), kMalformedRequest},
      {put("Content-Length: ,\r\n"), kMalformedRequest},
      {put("Content-Length: 0x3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3.0\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 1e1\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: \"3\"\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3;x\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: \xd9\xa3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3\r\nContent-Length: 4\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 0\r\ncontent-LENGTH: 3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3\r\nContent-Length:\r\n", "abc"), kMalformedRequest},
      {put("Content-Length : 3\r\n", "abc"), kMalformedRequest},
      {put("Content-Length: 3\r\n 3\r\n", "abc"), kMalformedRequest},
      {put("Content_Length: x\r\n"), kAccepted},  // Another name: no framing.
  });
}

TEST(Host, IsThereOnceAndValid) {
  check_cases({
      {bare("Host: a.example\r\n"), kAccepted},
      {bare("host:a.example:8080\r\n"), kAccepted},
      {bare("Host: [::1]:80\r\n"), kAccepted},
      {bare(""), kMalformedRequest},
      {bare("X: y\r\n"), kMalformedRequest},
      {bare("Host:\r\n"), kMalformedRequest},
      {bare("Host: a\r\nHost: a\r\n"), kMalformedRequest},
      {bare("Host: a\r\nX: y\r\nhost: b\r\n"), kMalformedRequest},
      {bare("Host: a\r\nHost:\r\n"), kMalformedRequest},
      {bare("Host: a b\r\n"), kMalformedRequest},
      {bare("Host: a, b\r\n"), kMalformedRequest},
      {bare("Host: a/b\r\n"), kMalformedRequest},
      {bare("Host: user@a\r\n"), kMalformedRequest},
      {bare("Host: http://a\r\n"), kMalformedRequest},
      {bare("Host : a\r\n"), kMalformedRequest},
      {bare("", 0), kAccepted},
      {bare("Host: a\r\n", 0), kAccepted},
      {bare("Host: a\r\nHost: a\r\n", 0), kMalformedRequest},
      {bare("Host: a b\r\n", 0), kMalformedRequest},
      {bare("Host:\r\n", 0), kMalformedRequest},
  });
}

TEST(Host, Syntax) {
  for (const std::string_view good :
       {"a", "a.example", "A-1.example", "127.0.0.1", "127.0.0.1:8080", "a:0", "a:65535", "a:",
        "[::]", "[::1]:443", "[2001:db8::1]", "[::ffff:1.2.3.4]", "a_b", "%41", "xn--bcher-kva"}) {
    EXPECT_TRUE(is_valid_host(good)) << good;
  }
  for (const std::string_view bad : {"",
                                     ":",
                                     ":80",
                                     "a:65536",
                                     "a:99999999999",
                                     "a:-1",
                                     "a:+1",
                                     "a:8 0",
                                     "a:80:80",
                                     "a:x",
                                     "[",
                                     "[]",
                                     "[::1",
                                     "::1",
                                     "[::1]x",
                                     "[::1]80",
                                     "[1.2.3.4]",
                                     "[::g]",
                                     "[fe80::1%eth0]",
                                     "[v1.a]",
                                     "a b",
                                     "a\tb",
                                     "a/b",
                                     "a?b",
                                     "a#b",
                                     "a@b",
                                     "a\\b",
                                     "a\"b",
                                     "<a>",
                                     "a%",
                                     "a%4",
                                     "a%zz",
                                     "\xc3\xa4",
                                     "a^b",
                                     "a|b",
                                     "a`b",
                                     "{a}"}) {
    EXPECT_FALSE(is_valid_host(bad)) << bad;
  }
  using namespace std::string_view_literals;
  EXPECT_FALSE(is_valid_host("[::1\0]"sv));
  EXPECT_FALSE(is_valid_host("a\0b"sv));
}

TEST(Expect, IsExactly100Continue) {
  const std::string length = "Content-Length: 3\r\n";
  check_cases({
      {put("Expect: 100-continue\r\n" + length, "abc"), kAccepted},
      {put("expect: 100-Continue\r\n" + length, "abc"), kAccepted},
      {put("Expect:\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: 100\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: 100-continue, x\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: x\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: 100-continue;q=1\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: 100-continue\r\nExpect: 100-continue\r\n" + length, "abc"), kExpectationFailed},
      {put("Expect: x\r\n" + length, "abc", 0), kAccepted},
      {put("Expect: 100-continue\r\n" + length, "abc", 0), kAccepted},
  });
  const auto expects = [](const std::string& raw) {
    return drive_whole(raw).head.find("expect=true") != std::string::npos;
  };
  EXPECT_TRUE(expects(put("Expect: 100-continue\r\n" + length)));
  EXPECT_TRUE(expects(put("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n")));
  EXPECT_FALSE(expects(put("Expect: 100-continue\r\n")));
  EXPECT_FALSE(expects(put("Expect: 100-continue\r\nContent-Length: 0\r\n")));
  EXPECT_FALSE(expects(put("Expect: 100-continue\r\n" + length, "", 0)));
}

TEST(Connection, DecidesKeepAlive) {
  const auto keeps = [](std::string_view fields, int minor) {
    const Outcome outcome = drive_every_way(put(fields, "", minor));
    EXPECT_EQ(outcome.error, kAccepted) << outcome;
    return outcome.head.find("keep=true") != std::string::npos;
  };
  EXPECT_TRUE(keeps("", 1));
  EXPECT_TRUE(keeps("Connection: keep-alive\r\n", 1));
  EXPECT_TRUE(keeps("Connection: Upgrade\r\nUpgrade: h2c\r\n", 1));
  EXPECT_TRUE(keeps("Connection:\r\n", 1));
  EXPECT_TRUE(keeps("Connection: closed\r\n", 1));
  EXPECT_FALSE(keeps("Connection: close\r\n", 1));
  EXPECT_FALSE(keeps("connection: CLOSE\r\n", 1));
  EXPECT_FALSE(keeps("Connection: keep-alive, close\r\n", 1));
  EXPECT_FALSE(keeps("Connection: close,keep-alive\r\n", 1));
  EXPECT_FALSE(keeps("Connection: x\r\nConnection: close\r\n", 1));
  EXPECT_FALSE(keeps("", 0));
  EXPECT_FALSE(keeps("Connection: close\r\n", 0));
  EXPECT_FALSE(keeps("Connection: keep-alive, close\r\n", 0));
  EXPECT_TRUE(keeps("Connection: Keep-Alive\r\n", 0));
  EXPECT_TRUE(keeps("Connection: x, keep-alive\r\n", 0));
}

TEST(ApplyFieldRules, WorksAlone) {
  base::RequestHead head;
  head.fields = {{"Host", "a"}, {"Transfer-Encoding", "chunked"}};
  ASSERT_TRUE(apply_field_rules(head));
  EXPECT_TRUE(head.chunked);
  base::RequestHead both;
  both.fields = {{"Host", "a"}, {"Transfer-Encoding", "gzip"}, {"Content-Length", "3"}};
  ASSERT_FALSE(apply_field_rules(both));
  base::RequestHead list;
  list.fields = {{"Host", "a"}, {"Content-Length", "3, 3"}};
  const auto refused = apply_field_rules(list);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, kMalformedRequest);
}

}  // namespace
}  // namespace fenceline::proxy::testing
