// Request lines, Host and header fields (RFC 9112, 3 to 5).

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr After kKept = After::kKept;
constexpr After kClosed = After::kClosed;

class WireHeadTest : public WireTest {
 protected:
  /// A head that must be refused before its body, which is full of requests.
  static WireCase refused(std::string name, const std::string& head, int status = 400,
                          std::string problem = "malformed-request") {
    return {std::move(name), head + smuggled(), {status}, kClosed, std::move(problem)};
  }

  static WireCase refused_field(std::string name, std::string_view field) {
    return refused(std::move(name), std::string("PUT /exports/acme/target HTTP/1.1\r\nHost: a\r\n")
                                        .append("Fencing-Token: 34\r\n")
                                        .append(field)
                                        .append("\r\nContent-Length: 0\r\n\r\n"));
  }

  /// With `host` lines (each with its end) instead of one right Host.
  static std::string with_host(std::string_view host) {
    return std::string("PUT /exports/acme/hosted HTTP/1.1\r\nFencing-Token: 34\r\n")
        .append(host)
        .append("Content-Length: 0\r\n\r\n");
  }
};

TEST_F(WireHeadTest, Hosts) {
  run({
      refused("none", with_host("")),
      refused("two", with_host("Host: a\r\nHost: a\r\n")),
      refused("two, in different case", with_host("Host: a\r\nhOST: b\r\n")),
      refused("blank inside", with_host("Host: a b\r\n")),
      refused("a path", with_host("Host: a/b\r\n")),
      refused("a user", with_host("Host: u@a\r\n")),
      refused("a query", with_host("Host: a?b\r\n")),
      refused("a list", with_host("Host: a, b\r\n")),
      refused("a port of letters", with_host("Host: a:b\r\n")),
      refused("two ports", with_host("Host: a:1:2\r\n")),
      refused("a port with a sign", with_host("Host: a:+80\r\n")),
      refused("an open bracket", with_host("Host: [::1\r\n")),
      refused("brackets around nothing", with_host("Host: []\r\n")),
      refused("brackets around a name", with_host("Host: [name]\r\n")),
      refused("high bytes", with_host("Host: \xC3\xA4\r\n")),
      refused("a NUL", with_host(std::string("Host: a\0b\r\n", 11))),
      refused("blank before the colon", with_host("Host : a\r\n")),
  });
}

TEST_F(WireHeadTest, HostsThatAreRight) {
  const auto with = [](std::string_view host, int status = 204) {
    return WireCase{std::string(host), with_host("Host: " + std::string(host) + "\r\n"), {status}};
  };
  run({
      with("a", 201),
      with("example.com"),
      with("example.com:80"),
      with("127.0.0.1:8080"),
      with("[::1]"),
      with("[2001:db8::7]:443"),
      with("a:"),
      with("xn--4ca"),
      with("%C3%A4"),
      {"none in HTTP/1.0",
       "PUT /exports/acme/hosted HTTP/1.0\r\nFencing-Token: 34\r\nContent-Length: 0\r\n\r\n",
       {204},
       After::kEnds},
  });
}

TEST_F(WireHeadTest, Fields) {
  run({
      refused_field("continued by a blank", "A: b\r\n c"),
      refused_field("continued by a tab", "A: b\r\n\tc"),
      refused_field("continued token", "A: b\r\n Fencing-Token: 99"),
      refused_field("no colon", "abc"),
      refused_field("no name", ": b"),
      refused_field("blank before the colon", "A : b"),
      refused_field("blank in the name", "A B: c"),
      refused_field("bracket in the name", "A(: b"),
      refused_field("high byte in the name", "\xC3\xA4: b"),
      refused_field("quote in the name", "\"A\": b"),
      refused_field("NUL in the name", std::string("A\0: b", 5)),
      refused_field("NUL in the value", std::string("A: b\0c", 6)),
      refused_field("CR in the value", "A: b\rc"),
      refused_field("LF instead of CRLF", "A: b\nC: d"),
      refused_field("CR CR LF", "A: b\r"),
      refused_field("LF LF", "A: b\n\nGET /shown/x HTTP/1.1\r\nHost: a"),
      refused_field("control byte in the value", "A: b\x01"),
      refused_field("escape in the value", "A: \x1B[31m"),
      refused_field("DEL in the value", "A: b\x7F"),
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
}

TEST_F(WireHeadTest, FieldsThatAreRight) {
  run({
      {"high bytes in a value", sized_put("/exports/acme/t1", "x", "A: \xC3\xA4\xFF\r\n"), {201}},
      {"an empty value", sized_put("/exports/acme/t2", "x", "A:\r\n"), {201}},
      {"a colon in a value", sized_put("/exports/acme/t3", "x", "A: b:c\r\n"), {201}},
      {"every character of a name",
       sized_put("/exports/acme/t4", "x", "!#$%&'*+-.^_`|~09aZ: b\r\n"),
       {201}},
      {"an empty line before", "\r\n" + sized_put("/exports/acme/t5", "x"), {201}},
  });
}

TEST_F(WireHeadTest, RequestLines) {
  const std::string rest = "Host: a\r\nFencing-Token: 34\r\nContent-Length: 0\r\n\r\n";
  const std::string target = "/exports/acme/target";
  run({
      refused("HTTP/0.9", "GET /exports/acme/canary\r\n\r\n"),
      refused("HTTP/0.9 with a version", "GET " + target + " HTTP/0.9\r\n\r\n", 505,
              "version-not-supported"),
      refused("preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505,
              "version-not-supported"),
      refused("HTTP/2.0", "PUT " + target + " HTTP/2.0\r\n" + rest, 505, "version-not-supported"),
      refused("HTTP/1.2", "PUT " + target + " HTTP/1.2\r\n" + rest, 505, "version-not-supported"),
      refused("HTTP/3.1", "PUT " + target + " HTTP/3.1\r\n" + rest, 505, "version-not-supported"),
      refused("HTTP/1.10", "PUT " + target + " HTTP/1.10\r\n" + rest, 505, "version-not-supported"),
      refused("HTTP/1", "PUT " + target + " HTTP/1\r\n" + rest, 505, "version-not-supported"),
      refused("HTTP/1,1", "PUT " + target + " HTTP/1,1\r\n" + rest, 505, "version-not-supported"),
      refused("http/1.1", "PUT " + target + " http/1.1\r\n" + rest),
      refused("another protocol", "PUT " + target + " RTSP/1.1\r\n" + rest),
      refused("two blanks before the target", "PUT  " + target + " HTTP/1.1\r\n" + rest),
      refused("two blanks after the target", "PUT " + target + "  HTTP/1.1\r\n" + rest),
      refused("tab", "PUT\t" + target + "\tHTTP/1.1\r\n" + rest),
      refused("blank at the end", "PUT " + target + " HTTP/1.1 \r\n" + rest),
      refused("blank in the target", "PUT /exports/acme/a b HTTP/1.1\r\n" + rest),
      refused("blank at the beginning", " PUT " + target + " HTTP/1.1\r\n" + rest),
      refused("LF", "PUT " + target + " HTTP/1.1\n" + rest),
      refused("CR", "PUT " + target + " HTTP/1.1\r" + rest),
      refused("no method", "/exports/acme/target HTTP/1.1\r\n" + rest),
      refused("bracket in the method", "P(T " + target + " HTTP/1.1\r\n" + rest),
      refused("NUL in the method", std::string("P\0T ", 4) + target + " HTTP/1.1\r\n" + rest),
      refused("a TLS handshake", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", 11)),
      refused("a lone colon", ":\r\n\r\n"),
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
}

TEST_F(WireHeadTest, Methods) {
  const std::string rest = " /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n\r\n";
  const std::string body = smuggled();
  const std::string with_body =
      " /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  for (const char* method :
       {"POST", "PATCH", "OPTIONS", "TRACE", "MOVE", "put", "get", "DELETES"}) {
    SCOPED_TRACE(method);
    RawClient client(server().port());
    const Response answer = client.exchange(method + rest);
    expect_problem(answer, 405, "method-not-allowed");
    EXPECT_EQ(answer.field("Allow"), "GET, HEAD, PUT, DELETE");
    expect_after(client, answer, kKept);
    RawClient other(server().port());
    other.send(method + with_body);
    const Response refused = other.receive();
    EXPECT_EQ(refused.status, 405);
    expect_after(other, refused, refused.field("Connection") == "close" ? kClosed : kKept);
    expect_unharmed();
  }
  const Response read_only = ask(sized_put("/shown/x", "x"));
  expect_problem(read_only, 405, "method-not-allowed");
  EXPECT_EQ(read_only.field("Allow"), "GET, HEAD");
}

TEST_F(WireHeadTest, SizesOfHeads) {
  const std::string start = "GET /exports/acme/canary HTTP/1.1\r\nHost: a\r\n";
  const auto filled = [&](std::size_t size) {
    return start + "A: " + std::string(size - start.size() - 7, 'x') + "\r\n\r\n";
  };
  ASSERT_EQ(filled(32768).size(), 32768U);
  run({
      {"exactly 32 KiB", filled(32768), {200}},
      refused("32 KiB and a byte", filled(32769), 431, "head-too-large"),
      refused("1 MiB in one field", filled(1048576), 431, "head-too-large"),
      refused("1 MiB in many fields", start + repeat("A: b\r\n", 170000) + "\r\n", 431,
              "head-too-large"),
      refused("a method without end", std::string(40000, 'M'), 431, "head-too-large"),
      refused("a target without end", "GET /" + std::string(40000, 'x'), 414, "target-too-long"),
      refused("6,000 fields", start + repeat("A:b\r\n", 6000) + "\r\n", 431, "head-too-large"),
      refused(
          "a query of 20 KiB",
          "GET /exports/acme/canary?" + std::string(20480, 'q') + " HTTP/1.1\r\nHost: a\r\n\r\n",
          414, "target-too-long"),
      refused("empty lines without end", repeat("\r\n", 20000)),
      refused("a field name without end", start + std::string(40000, 'x'), 431, "head-too-large"),
  });
}

}  // namespace
}  // namespace fenceline::testing
