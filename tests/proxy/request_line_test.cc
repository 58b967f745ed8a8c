// Request lines, field lines and limits: raw bytes, and what the parser must say to them.

#include "proxy/request_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/proxy/parser_driver.h"

namespace fenceline::proxy::testing {
namespace {

using enum base::ErrorKind;
using namespace std::string_literals;

constexpr auto kAccepted = std::nullopt;

std::string with_line(std::string_view line) {
  return std::string(line) + "\r\nHost: a.example\r\n\r\n";
}

std::string with_fields(std::string_view fields) {
  return "GET / HTTP/1.1\r\nHost: a.example\r\n" + std::string(fields) + "\r\n";
}

TEST(RequestLine, AcceptsOriginFormAndAnyMethodToken) {
  check_cases({
      {with_line("GET / HTTP/1.1"), kAccepted},
      {with_line("GET / HTTP/1.0"), kAccepted},
      {with_line("HEAD /a HTTP/1.1"), kAccepted},
      {with_line("PUT /a/b HTTP/1.1"), kAccepted},
      {with_line("DELETE /a/b/ HTTP/1.1"), kAccepted},
      {with_line("POST /a?b=c HTTP/1.1"), kAccepted},
      {with_line("PATCH /a?b=c&d=%20 HTTP/1.1"), kAccepted},
      {with_line("OPTIONS /a HTTP/1.1"), kAccepted},
      {with_line("PROPFIND /a HTTP/1.1"), kAccepted},
      {with_line("get / HTTP/1.1"), kAccepted},
      {with_line("!#$%&'*+-.^_`|~9 / HTTP/1.1"), kAccepted},
      {with_line("GET /%41%7e HTTP/1.1"), kAccepted},
      {with_line("GET /-._~!$&'()*+,;=:@ HTTP/1.1"), kAccepted},
      {with_line("GET /?/?:@-._~!$&'()*+,;= HTTP/1.1"), kAccepted},
      {with_line("GET //a HTTP/1.1"), kAccepted},  // For the router to refuse.
      {with_line("GET /../a HTTP/1.1"), kAccepted},
      {with_line("GET /%2f HTTP/1.1"), kAccepted},
  });
}

TEST(RequestLine, RefusesWrongShapes) {
  check_cases({
      {with_line("GET  / HTTP/1.1"), kMalformedRequest},
      {with_line("GET /  HTTP/1.1"), kMalformedRequest},
      {with_line(" GET / HTTP/1.1"), kMalformedRequest},
      {with_line("GET / HTTP/1.1 "), kMalformedRequest},
      {with_line("GET / HTTP/1.1 x"), kMalformedRequest},
      {with_line("GET\t/ HTTP/1.1"), kMalformedRequest},
      {with_line("GET /\tHTTP/1.1"), kMalformedRequest},
      {with_line("GET /a b HTTP/1.1"), kMalformedRequest},
      {with_line("GET /"), kMalformedRequest},
      {with_line("GET"), kMalformedRequest},
      {with_line("/ HTTP/1.1"), kMalformedRequest},
      {with_line(" / HTTP/1.1"), kMalformedRequest},
      {with_line("GET  HTTP/1.1"), kMalformedRequest},
      {with_line("G@T / HTTP/1.1"), kMalformedRequest},
      {with_line("GET: / HTTP/1.1"), kMalformedRequest},
      {with_line("G\x80T / HTTP/1.1"), kMalformedRequest},
      {with_line("G(T / HTTP/1.1"), kMalformedRequest},
      {with_line("\"GET\" / HTTP/1.1"), kMalformedRequest},
      {with_line("SSH-2.0-OpenSSH_9.2"), kMalformedRequest},
      {"\x16\x03\x01\x02\x00\x01"s, kMalformedRequest},
  });
}

TEST(RequestLine, RefusesEveryFormButOriginForm) {
  check_cases({
      {with_line("GET http://a.example/ HTTP/1.1"), kMalformedRequest},
      {with_line("GET https://a.example/x HTTP/1.1"), kMalformedRequest},
      {with_line("CONNECT a.example:443 HTTP/1.1"), kMalformedRequest},
      {with_line("OPTIONS * HTTP/1.1"), kMalformedRequest},
      {with_line("GET * HTTP/1.1"), kMalformedRequest},
      {with_line("GET a HTTP/1.1"), kMalformedRequest},
      {with_line("GET ?a HTTP/1.1"), kMalformedRequest},
      {with_line("GET ../a HTTP/1.1"), kMalformedRequest},
      {with_line("GET \\a HTTP/1.1"), kMalformedRequest},
      {with_line("GET %2f HTTP/1.1"), kMalformedRequest},
  });
}

TEST(RequestLine, RefusesEveryTargetByteThatRfc3986DoesNotAllow) {
  constexpr std::string_view kAllowed =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~!$&'()*+,;=:@/?";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string line = "GET /a" + std::string(1, static_cast<char>(byte)) + "b HTTP/1.1";
    const bool allowed = kAllowed.find(static_cast<char>(byte)) != std::string_view::npos;
    if (allowed) {
      check_cases({{with_line(line), kAccepted}});
    } else {
      check_cases({{with_line(line), kMalformedRequest}});
    }
  }
  check_cases({
      {with_line("GET /% HTTP/1.1"), kMalformedRequest},
      {with_line("GET /%4 HTTP/1.1"), kMalformedRequest},
      {with_line("GET /%4g HTTP/1.1"), kMalformedRequest},
      {with_line("GET /%%41 HTTP/1.1"), kMalformedRequest},
      {with_line("GET /?a=%zz HTTP/1.1"), kMalformedRequest},
      {with_line("GET /#fragment HTTP/1.1"), kMalformedRequest},
      {with_line("GET /a|b HTTP/1.1"), kMalformedRequest},
  });
}

TEST(RequestLine, KnowsTwoVersions) {
  check_cases({
      {with_line("GET / HTTP/1.2"), kVersionNotSupported},
      {with_line("GET / HTTP/0.9"), kVersionNotSupported},
      {with_line("GET / HTTP/2.0"), kVersionNotSupported},
      {with_line("GET / HTTP/2"), kVersionNotSupported},
      {with_line("GET / HTTP/3.0"), kVersionNotSupported},
      {with_line("GET / HTTP/1.10"), kVersionNotSupported},
      {with_line("GET / HTTP/01.1"), kVersionNotSupported},
      {with_line("GET / HTTP/1,1"), kVersionNotSupported},
      {with_line("GET / HTTP/"), kVersionNotSupported},
      {with_line("GET / http/1.1"), kMalformedRequest},
      {with_line("GET / HTTP"), kMalformedRequest},
      {with_line("GET / ICY/1.1"), kMalformedRequest},
      {with_line("GET / 1.1"), kMalformedRequest},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", kVersionNotSupported},
  });
  EXPECT_NE(drive_whole("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").detail.find("HTTP/2"),
            std::string::npos);
}

TEST(RequestLine, TakesAtMostTwoEmptyLinesBefore) {
  const std::string good = with_line("GET / HTTP/1.1");
  check_cases({
      {"\r\n" + good, kAccepted},
      {"\r\n\r\n" + good, kAccepted},
      {"\r\n\r\n\r\n" + good, kMalformedRequest},
      {"\n" + good, kMalformedRequest},
      {"\r" + good, kMalformedRequest},
      {" \r\n" + good, kMalformedRequest},
      {"\t\r\n" + good, kMalformedRequest},
      {"\0\r\n"s + good, kMalformedRequest},
  });
  EXPECT_EQ(drive_whole("\r\n\r\n" + good).used_bytes, good.size() + 4);
}

TEST(FieldLines, AcceptsWhatRfc9110Allows) {
  check_cases({
      {with_fields("A: b\r\n"), kAccepted},
      {with_fields("A:b\r\n"), kAccepted},
      {with_fields("A:\r\n"), kAccepted},
      {with_fields("A: \t b \t\r\n"), kAccepted},
      {with_fields("A: b\tc\r\n"), kAccepted},
      {with_fields("A_b: c\r\n"), kAccepted},
      {with_fields("!#$%&'*+-.^_`|~: c\r\n"), kAccepted},
      {with_fields("A: \x80\xff\r\n"), kAccepted},
      {with_fields("A: b:c\r\n"), kAccepted},
      {with_fields("A: b\r\nA: b\r\n"), kAccepted},
  });
  EXPECT_NE(drive_whole(with_fields("A: \t b \t\r\n")).head.find("<A>=<b>"), std::string::npos);
}

TEST(FieldLines, RefusesWrongLinesAndBytes) {
  check_cases({
      {with_fields("A : b\r\n"), kMalformedRequest},
      {with_fields("A\t: b\r\n"), kMalformedRequest},
      {with_fields(" A: b\r\n"), kMalformedRequest},
      {with_fields("\tA: b\r\n"), kMalformedRequest},
      {with_fields("A: b\r\n c\r\n"), kMalformedRequest},
      {with_fields("A: b\r\n\tc\r\n"), kMalformedRequest},
      {with_fields("A: b\r\n \r\n"), kMalformedRequest},
      {with_fields("A:\r\n b\r\n"), kMalformedRequest},
      {with_fields(": b\r\n"), kMalformedRequest},
      {with_fields("A\r\n"), kMalformedRequest},
      {with_fields("A b: c\r\n"), kMalformedRequest},
      {with_fields("A(b): c\r\n"), kMalformedRequest},
      {with_fields("A/b: c\r\n"), kMalformedRequest},
      {with_fields("A\x80: c\r\n"), kMalformedRequest},
      {with_fields("\"A\": c\r\n"), kMalformedRequest},
      {with_fields("A: b\n"), kMalformedRequest},
      {with_fields("A: b\rc\r\n"), kMalformedRequest},
      {with_fields("A: b\r\r\n"), kMalformedRequest},
      {with_fields("A: b\0c\r\n"s), kMalformedRequest},
      {with_fields("A\0: b\r\n"s), kMalformedRequest},
      {with_fields("A: b\x7f\r\n"), kMalformedRequest},
      {with_fields("A: b\x0b\r\n"), kMalformedRequest},
      {with_fields("A: b\x1b[31m\r\n"), kMalformedRequest},
      {"GET / HTTP/1.1\nHost: a\n\n", kMalformedRequest},
      {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", kMalformedRequest},
      {"GET / HTTP/1.1\r\nHost: a\r\n\n", kMalformedRequest},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n", kMalformedRequest},
      {"GET / HTTP/1.1\r\nHost: a\r\n\rX", kMalformedRequest},
  });
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool control = (byte < 0x20 && c != '\t') || byte == 0x7F;
    if (control) {
      check_cases({{with_fields("A: b" + std::string(1, c) + "c\r\n"), kMalformedRequest}});
    } else {
      check_cases({{with_fields("A: b" + std::string(1, c) + "c\r\n"), kAccepted}});
    }
  }
}

TEST(FieldLines, SayWhatIsWrong) {
  const auto detail = [](std::string_view fields) {
    return drive_whole(with_fields(fields)).detail;
  };
  EXPECT_NE(detail("A: b\r\n c\r\n").find("folded"), std::string::npos);
  EXPECT_NE(detail("A : b\r\n").find("before the colon"), std::string::npos);
  EXPECT_NE(detail("A: b\n").find("bare LF at byte 37"), std::string::npos) << detail("A: b\n");
  EXPECT_NE(detail("A: \x7f\r\n").find("0x7f"), std::string::npos);
  EXPECT_NE(drive_whole("\x16\x03\x01").detail.find("TLS"), std::string::npos);
}

TEST(HeadLimits, AreExact) {
  const HeadLimits limits{.max_head_bytes = 200, .max_target_bytes = 20, .max_fields = 3};
  const auto padded = [](std::size_t size) {
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    return head + std::string(size - head.size() - 4, 'x') + "\r\n\r\n";
  };
  check_cases(
      {
          {padded(200), kAccepted},
          {padded(201), kHeadTooLarge},
          {padded(199) + "more bytes of the next request", kAccepted},
          {padded(5000), kHeadTooLarge},
          {"GET /" + std::string(19, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", kAccepted},
          {"GET /" + std::string(20, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", kTargetTooLong},
          {"GET /" + std::string(5000, 'a'), kTargetTooLong},
          {std::string(5000, 'A'), kHeadTooLarge},
          {"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\n\r\n", kAccepted},
          {"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", kHeadTooLarge},
          {"\r\n\r\n" + padded(196), kAccepted},
          {"\r\n\r\n" + padded(197), kHeadTooLarge},
          {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(171, 'x') + "\r", kHeadTooLarge},
      },
      limits);
}

TEST(HeadLimits, DefaultsTakeOneHundredFieldsAnd32KiB) {
  std::string fields;
  for (int i = 0; i < 99; ++i) {
    fields += "A: " + std::string(250, 'x') + "\r\n";
  }
  EXPECT_EQ(drive_whole(with_fields(fields)).error, kAccepted);
  EXPECT_EQ(drive_whole(with_fields(fields + "A: b\r\n")).error, kHeadTooLarge);
  EXPECT_EQ(drive_whole(with_fields("A: " + std::string(32 * 1024, 'x') + "\r\n")).error,
            kHeadTooLarge);
  EXPECT_EQ(drive_whole(with_line("GET /" + std::string(8 * 1024, 'x') + " HTTP/1.1")).error,
            kTargetTooLong);
  // Beast's own limit on bodies (1 MiB) must not be in force.
  EXPECT_EQ(drive_whole(with_fields("Content-Length: 9223372036854775807\r\n")).error, kAccepted);
}

TEST(HeadViews, SplitTheTargetOnce) {
  const auto head_of = [](std::string_view target) {
    return drive_whole(with_line("GET " + std::string(target) + " HTTP/1.1")).head;
  };
  EXPECT_TRUE(head_of("/a/b").starts_with("GET /a/b [/a/b|] 1.1"));
  EXPECT_TRUE(head_of("/a?").starts_with("GET /a? [/a|] 1.1"));
  EXPECT_TRUE(head_of("/a?b=c?d").starts_with("GET /a?b=c?d [/a|b=c?d] 1.1"));
}

TEST(CheckRequestLine, WorksAlone) {
  EXPECT_TRUE(check_request_line("GET / HTTP/1.1", 10));
  const auto refused = check_request_line("GET http://x/ HTTP/1.1", 100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, kMalformedRequest);
  EXPECT_NE(refused.error().detail.find("Send only path and query"), std::string::npos);
}

}  // namespace
}  // namespace fenceline::proxy::testing
