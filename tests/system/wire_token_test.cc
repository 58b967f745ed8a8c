// Tokens and holders on the wire: exactly one canonical decimal number, or 400 and no mark raised.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireTokenTest : public WireTest {
 protected:
  /// A PUT with `fields` in place of the token.
  static std::string put_with(std::string_view path, std::string_view fields,
                              const std::string& body) {
    return std::string("PUT ")
        .append(path)
        .append(" HTTP/1.1\r\nHost: a\r\n")
        .append(fields)
        .append("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n")
        .append(body);
  }

  static WireCase refused_token(std::string_view value) {
    return refused_fields(std::string("Fencing-Token: ").append(value).append("\r\n"));
  }

  static WireCase refused_fields(const std::string& fields) {
    return {fields,
            put_with("/exports/acme/target", fields, smuggled()),
            {400},
            After::kKept,
            "malformed-token"};
  }

  /// One write under `fields`: its status.
  static Response put_fields(std::string_view path, std::string_view fields) {
    return ask(put_with(path, fields, "x"));
  }
};

TEST_F(WireTokenTest, Values) {
  run({
      refused_token(""),
      refused_token("0"),
      refused_token("00"),
      refused_token("034"),
      refused_token("+34"),
      refused_token("-34"),
      refused_token("-1"),
      refused_token("34.0"),
      refused_token("3e1"),
      refused_token("0x22"),
      refused_token("3 5"),
      refused_token("35\t36"),
      refused_token("35,36"),
      refused_token("35, 35"),
      refused_token("35;x=y"),
      refused_token("\"35\""),
      refused_token("fence-35"),
      refused_token("35a"),
      refused_token("3_5"),
      refused_token("abc"),
      refused_token("%33%35"),
      refused_token("\xD9\xA3\xD9\xA5"),
      refused_token("\xEF\xBC\x93\xEF\xBC\x95"),
      refused_token("35\xC2\xA0"),
      refused_token("9223372036854775808"),
      refused_token("18446744073709551615"),
      refused_token("18446744073709551616"),
      refused_token("18446744073709551619"),
      refused_token("18446744073709551651"),
      refused_token("99999999999999999999999999999999999999"),
      refused_token(std::string(1000, '3')),
      refused_token(std::string(1000, '0') + "35"),
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
}

TEST_F(WireTokenTest, ExactlyOneField) {
  run({
      refused_fields("Fencing-Token: 35\r\nFencing-Token: 35\r\n"),
      refused_fields("Fencing-Token: 34\r\nFencing-Token: 35\r\n"),
      refused_fields("Fencing-Token: 35\r\nfencing-token: 35\r\n"),
      refused_fields("Fencing-Token: 35\r\nX-Fencing-Token: 35\r\n"),
      refused_fields("X-Fencing-Token: 34\r\nFencing-Token: 35\r\n"),
      refused_fields("X-Fencing-Token: 35\r\nX-Fencing-Token: 35\r\n"),
      refused_fields("Fencing-Token: 35\r\nX-Fencing-Token:\r\n"),
      refused_fields("Fencing-Token:\r\nX-Fencing-Token: 35\r\n"),
      refused_fields("Fencing-Token:\r\n"),
  });
}

TEST_F(WireTokenTest, LeadToOneAnswerAlsoOnReads) {
  run({
      {"get",
       get("/exports/acme/canary", "Fencing-Token: 035\r\n"),
       {400},
       After::kKept,
       "malformed-token"},
      {"head",
       "HEAD /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: +35\r\n\r\n",
       {400}},
      {"delete",
       "DELETE /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 0\r\n\r\n",
       {400},
       After::kKept,
       "malformed-token"},
      {"stale get",
       get("/exports/acme/canary", "Fencing-Token: 33\r\n"),
       {412},
       After::kKept,
       "stale-token"},
      {"stale head",
       "HEAD /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 3\r\n\r\n",
       {412}},
      {"stale delete",
       "DELETE /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n\r\n",
       {412},
       After::kKept,
       "stale-token"},
      {"delete without",
       "DELETE /exports/acme/canary HTTP/1.1\r\nHost: a\r\n\r\n",
       {428},
       After::kKept,
       "token-required"},
  });
}

TEST_F(WireTokenTest, OrderOfEvaluation) {
  const std::string bad = "Fencing-Token: 035\r\n";
  const std::string stale = "Fencing-Token: 33\r\n";
  const std::string large = std::string(1025, 'x');
  run({
      {"framing before all",
       put_with("/nowhere", bad + "Transfer-Encoding: chunked\r\n", "0"),
       {400},
       After::kClosed,
       "malformed-request"},
      {"path before token",
       put_with("/exports/acme/%2f", bad, "x"),
       {400},
       After::kKept,
       "malformed-request"},
      {"route before token", put_with("/nowhere", bad, "x"), {404}, After::kKept, "not-found"},
      {"method before token",
       put_with("/shown/x", bad, "x"),
       {405},
       After::kKept,
       "method-not-allowed"},
      {"size before token",
       put_with("/small/x", bad, large),
       {413},
       After::kKept,
       "body-too-large"},
      {"token before holder",
       put_with("/exports/acme/x", bad + "Fencing-Holder:\r\n", "x"),
       {400},
       After::kKept,
       "malformed-token"},
      {"presence before condition",
       put_with("/exports/acme/x", "If-Match: \"a\"\r\n", "x"),
       {428},
       After::kKept,
       "token-required"},
      {"fence before condition",
       put_with("/exports/acme/x", stale + "If-Match: \"a\"\r\n", "x"),
       {412},
       After::kKept,
       "stale-token"},
      {"fence before what is there",
       get("/exports/acme/none", stale),
       {412},
       After::kKept,
       "stale-token"},
      {"fence before range",
       get("/exports/acme/canary", stale + "Range: bytes=99-\r\n"),
       {412},
       After::kKept,
       "stale-token"},
      {"condition before range",
       get("/exports/acme/canary", "If-Match: \"a\"\r\nRange: bytes=99-\r\n"),
       {412},
       After::kKept,
       "precondition-failed"},
  });
}

TEST_F(WireTokenTest, Missing) {
  run({
      {"none",
       put_with("/exports/acme/target", "", smuggled()),
       {428},
       After::kKept,
       "token-required"},
      {"in another field",
       put_with("/exports/acme/target", "Token: 35\r\n", smuggled()),
       {428},
       After::kKept,
       "token-required"},
      {"in the query",
       put_with("/exports/acme/target?Fencing-Token=35", "", smuggled()),
       {428},
       After::kKept,
       "token-required"},
      {"underscore",
       put_with("/exports/acme/target", "Fencing_Token: 35\r\n", smuggled()),
       {428},
       After::kKept,
       "token-required"},
      {"in a cookie",
       put_with("/exports/acme/target", "Cookie: Fencing-Token=35\r\n", smuggled()),
       {428},
       After::kKept,
       "token-required"},
  });
}

TEST_F(WireTokenTest, RightOnes) {
  struct Right {
    const char* fields;
    const char* mark;
  };
  const std::vector<Right> cases = {
      {"Fencing-Token: 1\r\n", "1"},
      {"fencing-token: 1\r\n", "1"},
      {"X-Fencing-Token: 2\r\n", "2"},
      {"FENCING-TOKEN:3\r\n", "3"},
      {"Fencing-Token: \t 4 \t \r\n", "4"},
      {"Fencing-Token: 9007199254740993\r\n", "9007199254740993"},
      {"Fencing-Token: 9223372036854775806\r\n", "9223372036854775806"},
      {"Fencing-Token: 9223372036854775807\r\n", "9223372036854775807"},
  };
  for (const Right& each : cases) {
    SCOPED_TRACE(each.fields);
    const Response answer = put_fields("/exports/right/x", each.fields);
    EXPECT_TRUE(answer.status == 201 || answer.status == 204) << answer.body;
    EXPECT_EQ(answer.field("Fencing-Highest"), each.mark);
    EXPECT_EQ(mark_of("exports/right"), each.mark);
  }
  expect_problem(put_fields("/exports/right/x", "Fencing-Token: 9223372036854775806\r\n"), 412,
                 "stale-token");
}

TEST_F(WireTokenTest, StaleProblemHasTheFacts) {
  const Response answer = put_fields("/exports/acme/canary", "Fencing-Token: 33\r\n");
  expect_problem(answer, 412, "stale-token");
  EXPECT_NE(answer.body.find(R"("key":"exports/acme","presented":"33","highest":"34")"),
            std::string::npos)
      << answer.body;
  EXPECT_EQ(answer.field("Fencing-Highest"), "34");
  expect_unharmed();
}

TEST_F(WireTokenTest, FieldNamedByConnection) {
  // The token is for us, the recipient on this hop; naming it must not unfence the write.
  const std::string named = "Connection: Fencing-Token\r\n";
  expect_problem(put_fields("/exports/acme/canary", named + "Fencing-Token: 33\r\n"), 412,
                 "stale-token");
  EXPECT_EQ(put_fields("/loose/x", named + "Fencing-Token: 5\r\n").status, 201);
  EXPECT_EQ(mark_of("loose/x"), "5");
  expect_unharmed();
}

TEST_F(WireTokenTest, Holders) {
  const std::string token = "Fencing-Token: 7\r\n";
  const std::string path = "/exports/held/x";
  EXPECT_EQ(put_fields(path, token + "Fencing-Holder: a\r\n").status, 201);
  EXPECT_EQ(put_fields(path, token + "Fencing-Holder: a\r\n").status, 204);
  EXPECT_EQ(put_fields(path, token).status, 204);
  expect_problem(put_fields(path, token + "Fencing-Holder: b\r\n"), 409, "holder-conflict");
  expect_problem(put_fields(path, token + "Fencing-Holder: A\r\n"), 409, "holder-conflict");
  for (const std::string& bad : {std::string(), std::string("a b"), std::string(257, 'h'),
                                 std::string("\xC3\xA4"), std::string("a\tb")}) {
    SCOPED_TRACE(bad);
    const Response answer = put_fields(path, "Fencing-Token: 8\r\nFencing-Holder: " + bad + "\r\n");
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(mark_of("exports/held"), "7");
  }
  EXPECT_EQ(
      put_fields(path, "Fencing-Token: 8\r\nFencing-Holder: a\r\nFencing-Holder: b\r\n").status,
      400);
  EXPECT_EQ(mark_of("exports/held"), "7");
  EXPECT_EQ(
      put_fields(path, "Fencing-Token: 8\r\nFencing-Holder: " + std::string(256, 'h') + "\r\n")
          .status,
      204);
}

TEST_F(WireTokenTest, TooFarAhead) {
  EXPECT_EQ(put_fields("/jump/x", "Fencing-Token: 5\r\n").status, 201);
  EXPECT_EQ(put_fields("/jump/x", "Fencing-Token: 15\r\n").status, 204);
  expect_problem(put_fields("/jump/x", "Fencing-Token: 26\r\n"), 409, "token-too-far-ahead");
  expect_problem(put_fields("/jump/x", "Fencing-Token: 9223372036854775807\r\n"), 409,
                 "token-too-far-ahead");
  EXPECT_EQ(mark_of("jump/x"), "15");
  EXPECT_EQ(put_fields("/jump/x", "Fencing-Token: 25\r\n").status, 204);
}

TEST_F(WireTokenTest, FencedReadsRaise) {
  EXPECT_EQ(put_fields("/exports/read/x", "Fencing-Token: 5\r\n").status, 201);
  const Response head = ask("HEAD /exports/read/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 6\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Fencing-Highest"), "6");
  expect_problem(put_fields("/exports/read/x", "Fencing-Token: 5\r\n"), 412, "stale-token");
  // Also when there is nothing to read.
  expect_problem(ask(get("/exports/read/none", "Fencing-Token: 7\r\n")), 404, "not-found");
  expect_problem(put_fields("/exports/read/x", "Fencing-Token: 6\r\n"), 412, "stale-token");
  EXPECT_EQ(mark_of("exports/read"), "7");
}

TEST_F(WireTokenTest, OptionalTokens) {
  EXPECT_EQ(put_fields("/loose/free", "").status, 201);
  EXPECT_EQ(mark_of("loose/free"), std::nullopt);
  EXPECT_EQ(put_fields("/loose/free", "Fencing-Token: 9\r\n").status, 204);
  EXPECT_EQ(put_fields("/loose/free", "").status, 204);
  expect_problem(put_fields("/loose/free", "Fencing-Token: 8\r\n"), 412, "stale-token");
  expect_problem(put_fields("/loose/free", "Fencing-Token: x\r\n"), 400, "malformed-token");
}

}  // namespace
}  // namespace fenceline::testing
