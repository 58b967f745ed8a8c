// Conditional requests (RFC 9110, 13) on reads and on fenced writes, and what ETags promise.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr const char* kPast = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* kFuture = "Fri, 31 Dec 2100 23:59:59 GMT";

class WireConditionTest : public WireTest {
 protected:
  void SetUp() override { etag_ = write("/exports/acme/doc", "old"); }

  /// A PUT of smuggled requests to the document that a condition must refuse.
  static WireCase refused_put(const std::string& condition) {
    return {condition,
            sized_put("/exports/acme/doc", smuggled(), condition + "\r\n"),
            {412},
            After::kKept,
            "precondition-failed"};
  }

  static WireCase read(const std::string& condition, int status) {
    return {condition, get("/exports/acme/doc", condition + "\r\n"), {status}};
  }

  static Response put_if(const std::string& path, const std::string& condition) {
    return ask(sized_put(path, "new", condition + "\r\n"));
  }

  static Response delete_if(const std::string& path, const std::string& condition) {
    return ask("DELETE " + path + " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n" + condition +
               "\r\n\r\n");
  }

  std::string etag_;
};

TEST_F(WireConditionTest, WritesThatAreRefused) {
  run(
      {
          refused_put("If-Match: \"other\""),
          refused_put("If-Match: W/{etag}"),
          refused_put("If-Match: \"a\", \"b\", \"c\""),
          refused_put("If-Match: \"a\"\r\nIf-Match: \"b\""),
          refused_put("If-None-Match: *"),
          refused_put("If-None-Match: {etag}"),
          refused_put("If-None-Match: W/{etag}"),
          refused_put("If-None-Match: \"a\", {etag}"),
          refused_put("If-None-Match: \"a\"\r\nIf-None-Match: {etag}"),
          refused_put("If-Match: {etag}\r\nIf-None-Match: {etag}"),
          refused_put(std::string("If-Unmodified-Since: ") + kPast),
          refused_put("If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT"),
          refused_put("If-Unmodified-Since: Sun Nov  6 08:49:37 1994"),
          refused_put("If-Match: \"other\"\r\nIf-Unmodified-Since: " + std::string(kFuture)),
          {"missing file, any",
           sized_put("/exports/acme/none", smuggled(), "If-Match: *\r\n"),
           {412},
           After::kKept,
           "precondition-failed"},
          {"missing file, a tag",
           sized_put("/exports/acme/none", smuggled(), "If-Match: \"x\"\r\n"),
           {412},
           After::kKept,
           "precondition-failed"},
      },
      etag_);
  EXPECT_EQ(content("exports/acme/doc"), "old");
  EXPECT_EQ(content("exports/acme/none"), std::nullopt);
  EXPECT_EQ(ask(get("/exports/acme/doc")).field("ETag"), etag_);
}

TEST_F(WireConditionTest, MalformedConditionsNeverLetAWritePass) {
  for (const char* condition :
       {"If-Match: other", "If-Match:", "If-Match: \"open", "If-Match: w/\"x\"",
        "If-Match: *, \"x\"", "If-None-Match: \"open", "If-None-Match: x", "If-Match: \"a\" \"b\"",
        "If-Match: \"a b\"", "If-Unmodified-Since: yesterday"}) {
    SCOPED_TRACE(condition);
    const Response answer =
        ask(sized_put("/exports/acme/doc", smuggled(), std::string(condition) + "\r\n"));
    EXPECT_TRUE(answer.status == 412 || answer.status == 400) << answer.status;
    EXPECT_EQ(content("exports/acme/doc"), "old");
    expect_unharmed();
  }
}

TEST_F(WireConditionTest, WritesThatPass) {
  const std::string path = "/exports/acme/doc";
  const auto passes = [&](const std::string& condition) {
    SCOPED_TRACE(condition);
    const Response answer = put_if(path, condition);
    EXPECT_EQ(answer.status, 204) << answer.body;
    EXPECT_NE(answer.field("ETag"), etag_);
    EXPECT_NE(answer.field("ETag"), "");
    etag_ = answer.field("ETag");
  };
  passes("If-Match: " + etag_);
  passes("If-Match: \"a\", " + etag_ + ", \"b\"");
  passes("If-Match: \"with,comma\"," + etag_);
  passes("If-Match: \"a\"\r\nIf-Match: " + etag_);
  passes("If-Match: *");
  passes("If-None-Match: \"other\"");
  passes("If-None-Match: W/\"other\"");
  passes(std::string("If-Unmodified-Since: ") + kFuture);
  // RFC 9110, 13.1.4: ignored beside If-Match.
  passes("If-Match: " + etag_ + "\r\nIf-Unmodified-Since: " + kPast);
  // RFC 9110, 13.1.3: only for GET and HEAD.
  passes(std::string("If-Modified-Since: ") + kFuture);
  EXPECT_EQ(put_if("/exports/acme/created", "If-None-Match: *").status, 201);
  EXPECT_EQ(put_if("/exports/acme/created", "If-None-Match: *").status, 412);
}

TEST_F(WireConditionTest, Deletes) {
  const std::string path = "/exports/acme/doc";
  expect_problem(delete_if(path, "If-Match: \"other\""), 412, "precondition-failed");
  expect_problem(delete_if(path, "If-None-Match: *"), 412, "precondition-failed");
  expect_problem(delete_if(path, std::string("If-Unmodified-Since: ") + kPast), 412,
                 "precondition-failed");
  EXPECT_EQ(content("exports/acme/doc"), "old");
  EXPECT_EQ(delete_if(path, "If-Match: " + etag_).status, 204);
  EXPECT_EQ(content("exports/acme/doc"), std::nullopt);
  // RFC 9110, 13.2.1: what fails without a condition fails in the same way with one.
  EXPECT_EQ(delete_if(path, "If-Match: *").status, 404);
  EXPECT_EQ(mark_of("exports/acme"), "34");
}

TEST_F(WireConditionTest, TheFenceComesBeforeTheCondition) {
  const Response answer =
      ask("PUT /exports/acme/doc HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n"
          "If-Match: \"other\"\r\nContent-Length: 0\r\n\r\n");
  expect_problem(answer, 412, "stale-token");
}

TEST_F(WireConditionTest, Reads) {
  const std::string modified = ask(get("/exports/acme/doc")).field("Last-Modified");
  ASSERT_NE(modified, "");
  const std::string since = "If-Modified-Since: ";
  run(
      {
          read("If-None-Match: {etag}", 304),
          read("If-None-Match: W/{etag}", 304),
          read("If-None-Match: *", 304),
          read("If-None-Match: \"a\" , {etag}", 304),
          read("If-None-Match: \"a\"", 200),
          read(since + modified, 304),
          read(since + kFuture, 304),
          read(since + kPast, 200),
          read(since + "yesterday", 200),
          // RFC 9110, 13.2.2: the tag decides where there is one.
          read("If-None-Match: \"a\"\r\n" + since + kFuture, 200),
          read("If-None-Match: {etag}\r\n" + since + kPast, 304),
          read("If-Match: {etag}", 200),
          read("If-Match: *", 200),
          read("If-Unmodified-Since: " + modified, 200),
          {"If-Match: other",
           get("/exports/acme/doc", "If-Match: \"other\"\r\n"),
           {412},
           After::kKept,
           "precondition-failed"},
          {"If-Match: weak",
           get("/exports/acme/doc", "If-Match: W/{etag}\r\n"),
           {412},
           After::kKept,
           "precondition-failed"},
          {"If-Unmodified-Since: past",
           get("/exports/acme/doc", std::string("If-Unmodified-Since: ") + kPast + "\r\n"),
           {412},
           After::kKept,
           "precondition-failed"},
          {"head",
           "HEAD /exports/acme/doc HTTP/1.1\r\nHost: a\r\nIf-None-Match: {etag}\r\n\r\n",
           {304}},
          {"missing",
           get("/exports/acme/none", "If-None-Match: *\r\n"),
           {404},
           After::kKept,
           "not-found"},
          {"fenced",
           get("/exports/acme/doc", "Fencing-Token: 34\r\nIf-None-Match: {etag}\r\n"),
           {304}},
      },
      etag_);
}

TEST_F(WireConditionTest, NotModifiedHasItsFieldsAndNoBody) {
  RawClient client(server().port());
  const Response answer =
      client.exchange(get("/exports/acme/doc", "If-None-Match: " + etag_ + "\r\n"));
  EXPECT_EQ(answer.status, 304);
  EXPECT_EQ(answer.field("ETag"), etag_);
  EXPECT_TRUE(answer.has("Date"));
  EXPECT_FALSE(answer.has("Transfer-Encoding"));
  const std::string length = answer.field("Content-Length");
  EXPECT_TRUE(length.empty() || length == "3") << length;
  expect_after(client, answer, After::kKept);
}

TEST_F(WireConditionTest, EtagsChangeWithEveryWrite) {
  std::vector<std::string> seen = {etag_};
  for (int i = 0; i < 20; ++i) {
    const std::string etag = write("/exports/acme/doc", "old");
    EXPECT_EQ(etag.front(), '"') << etag;
    EXPECT_EQ(ask(get("/exports/acme/doc")).field("ETag"), etag);
    for (const std::string& earlier : seen) {
      EXPECT_NE(etag, earlier);
    }
    seen.push_back(etag);
  }
  delete_if("/exports/acme/doc", "If-Match: *");
  const std::string again = write("/exports/acme/doc", "old");
  for (const std::string& earlier : seen) {
    EXPECT_NE(again, earlier);
  }
}

TEST_F(WireConditionTest, EtagChangesWhenAStrangerEditsInPlace) {
  const std::string file = folder().at("exports/acme/doc");
  { std::fstream(file, std::ios::in | std::ios::out) << "OLD"; }
  const Response first = ask(get("/exports/acme/doc"));
  EXPECT_EQ(first.body, "OLD");
  EXPECT_NE(first.field("ETag"), etag_);
  { std::ofstream(file, std::ios::app) << "er"; }
  const Response second = ask(get("/exports/acme/doc"));
  EXPECT_EQ(second.body, "OLDer");
  EXPECT_NE(second.field("ETag"), first.field("ETag"));
  expect_problem(put_if("/exports/acme/doc", "If-Match: " + etag_), 412, "precondition-failed");
}

}  // namespace
}  // namespace fenceline::testing
