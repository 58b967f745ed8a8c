#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::Revocation;
using backends::http::CommitMode;
using base::Applied;
using base::Milliseconds;

const std::string kLarge(1'000'000, 'x');

class HttpPlain : public ::testing::Test {
 protected:
  ConditionalUpstream upstream;
  HttpDriver driver{options_for(upstream.port(), CommitMode::kPlain)};
};

TEST_F(HttpPlain, WritesAndReads) {
  EXPECT_EQ(driver.put("a b", "one", {{"Content-Type", "text/x"}}).status, 201);
  EXPECT_EQ(upstream.content("/a%20b"), "one");
  const Answer read = driver.get("a b");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.content, "one");
  EXPECT_EQ(read.field("Content-Type"), "text/x");
  EXPECT_EQ(read.field("Via"), "1.1 fenceline");
  HttpRequest head("HEAD", "a b");
  const Answer shown = driver.read(head);
  EXPECT_EQ(shown.head_length_bytes, 3U);
  EXPECT_EQ(shown.content, "");
  EXPECT_EQ(driver.remove("a b").status, 204);
  EXPECT_EQ(driver.get("a b").status, 404);
  EXPECT_EQ(driver.get("a b").content, "not here");
}

TEST_F(HttpPlain, NothingIsSentBeforeTheCommitOfASmallBody) {
  HttpStaged staged = driver.stage("PUT", "a", "one");
  ASSERT_TRUE(staged.staged());
  EXPECT_EQ(upstream.requests().size(), 0U);
  EXPECT_EQ(staged.commit().status, 201);
  EXPECT_EQ(upstream.requests("PUT").at(0).field("Content-Length"), "3");
}

TEST_F(HttpPlain, ALargeBodyIsOnItsWayButForItsLastByte) {
  HttpStaged staged = driver.stage("PUT", "a", kLarge + "!");
  ASSERT_TRUE(staged.staged());
  EXPECT_FALSE(upstream.content("/a"));
  EXPECT_EQ(staged.commit().status, 201);
  EXPECT_TRUE(upstream.content("/a") == kLarge + "!");
}

TEST_F(HttpPlain, ADroppedWriteIsNeverComplete) {
  for (const bool declared : {true, false}) {
    upstream.forget();
    {
      auto request = std::make_unique<HttpRequest>("PUT", "a");
      PieceSource body(in_pieces(kLarge), declared);
      HttpStaged staged = driver.stage_source(std::move(request), body);
      ASSERT_TRUE(staged.staged());
    }
    wait_until("the upstream to see the end", [&] { return !upstream.requests("PUT").empty(); });
    EXPECT_FALSE(upstream.requests("PUT").at(0).complete);
    EXPECT_FALSE(upstream.content("/a"));
  }
}

TEST_F(HttpPlain, ABodyThatBreaksOffIsNeverComplete) {
  auto request = std::make_unique<HttpRequest>("PUT", "a");
  PieceSource body({kLarge, kLarge}, false,
                   base::Error{.kind = base::ErrorKind::kClientGone, .detail = "gone"});
  const HttpStaged staged = driver.stage_source(std::move(request), body);
  ASSERT_FALSE(staged.staged());
  EXPECT_EQ(staged.error().kind, base::ErrorKind::kClientGone);
  wait_until("the upstream to see the end", [&] { return !upstream.requests("PUT").empty(); });
  EXPECT_FALSE(upstream.requests("PUT").at(0).complete);
}

TEST_F(HttpPlain, BodiesOfEverySizeAndFraming) {
  for (const std::size_t size : {0UL, 1UL, 2UL, 65'535UL, 65'536UL, 65'537UL, 131'073UL}) {
    for (const bool declared : {true, false}) {
      const std::string content(size, 'y');
      auto request = std::make_unique<HttpRequest>("PUT", "sized");
      PieceSource body(in_pieces(content), declared);
      HttpStaged staged = driver.stage_source(std::move(request), body);
      const int status = staged.commit().status;
      EXPECT_TRUE(status == 201 || status == 204) << size;
      EXPECT_TRUE(upstream.content("/sized") == content) << size;
    }
  }
}

TEST_F(HttpPlain, ItsIntentIsSharedAndCannotBeRevoked) {
  const HttpStaged staged = driver.stage("PUT", "a", "one");
  ASSERT_TRUE(staged.intent());
  EXPECT_EQ(staged.intent()->data, "");
  EXPECT_TRUE(staged.intent()->shared);
  EXPECT_EQ(driver.revoke("").value(), Revocation::kUnknown);
  EXPECT_EQ(driver.backend().capabilities().guarantee, backends::Guarantee::kBounded);
}

TEST_F(HttpPlain, ARefusalIsPassedOnAsItIs) {
  upstream.on_request([](const UpstreamRequest&) {
    return Reaction{.applies = false,
                    .answer = "HTTP/1.1 409 Conflict\r\nContent-Length: 4\r\nX-Why: y\r\n\r\nbusy"};
  });
  const Answer refused = driver.put("a", "one");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.content, "busy");
  EXPECT_EQ(refused.field("X-Why"), "y");
}

TEST_F(HttpPlain, AServerErrorIsInDoubt) {
  for (const std::string answer : {"500 X", "503 X", "504 X"}) {
    upstream.on_request([&](const UpstreamRequest&) {
      return Reaction{.answer = "HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\n\r\n"};
    });
    const Answer unknown = driver.put("a", "one");
    ASSERT_TRUE(unknown.error) << answer;
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
    EXPECT_EQ(unknown.error_name(), answer == "504 X" ? "upstream-timeout" : "upstream-failed");
  }
}

TEST_F(HttpPlain, ALostAnswerIsInDoubt) {
  upstream.on_request([](const UpstreamRequest&) { return Reaction{.closes = true}; });
  const Answer unknown = driver.put("a", "one");
  ASSERT_TRUE(unknown.error);
  EXPECT_EQ(unknown.error_name(), "upstream-failed");
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
  EXPECT_EQ(upstream.requests("PUT").size(), 1U) << "never sent twice";
  const Answer large = driver.put("a", kLarge);
  ASSERT_TRUE(large.error);
  EXPECT_EQ(large.error->applied, Applied::kUnknown);
}

TEST_F(HttpPlain, ReadsAreSentAgainOnceOnAConnectionThatWasUsed) {
  EXPECT_EQ(driver.put("a", "one").status, 201);
  std::atomic<int> closings = 0;
  upstream.on_request([&](const UpstreamRequest&) {
    return closings++ == 0 ? std::optional(Reaction{.closes = true}) : std::nullopt;
  });
  EXPECT_EQ(driver.get("a").status, 200);
  EXPECT_EQ(upstream.requests("GET").size(), 2U);
  upstream.on_request([&](const UpstreamRequest&) { return Reaction{.closes = true}; });
  const Answer failed = driver.get("a");
  EXPECT_EQ(failed.error_name(), "upstream-failed");
  EXPECT_EQ(failed.error->applied, Applied::kNo);
  EXPECT_EQ(upstream.requests("GET").size(), 4U) << "once";
}

TEST_F(HttpPlain, TheClientsConditionsAreTheUpstreams) {
  EXPECT_EQ(driver.put("a", "one", {{"If-None-Match", "*"}}).status, 201);
  EXPECT_EQ(driver.put("a", "two", {{"If-None-Match", "*"}}).status, 412);
  const std::string tag = driver.get("a").field("ETag");
  EXPECT_EQ(driver.put("a", "two", {{"If-Match", tag}}).status, 204);
  EXPECT_EQ(driver.put("a", "three", {{"If-Match", tag}}).status, 412);
  EXPECT_EQ(upstream.content("/a"), "two");
}

TEST_F(HttpPlain, ReadsWithABody) {
  upstream.on_request([](const UpstreamRequest& request) {
    return Reaction{.applies = false,
                    .answer = "HTTP/1.1 207 M\r\nContent-Length: " +
                              std::to_string(request.body.size()) + "\r\n\r\n" + request.body};
  });
  for (const std::string& query : {std::string("<propfind/>"), kLarge}) {
    HttpRequest request("PROPFIND", "dir/", {{"Depth", "1"}});
    PieceSource body(in_pieces(query), false);
    const Answer found = driver.read(request, &body);
    EXPECT_EQ(found.status, 207);
    EXPECT_TRUE(found.content == query);
  }
  EXPECT_EQ(upstream.requests("PROPFIND").at(0).target, "/dir/");
  EXPECT_EQ(upstream.requests("PROPFIND").at(0).field("Depth"), "1");
}

TEST_F(HttpPlain, WhatWouldReachASecondResourceIsRefused) {
  for (const char* method : {"MOVE", "COPY", "TRACE", "CONNECT"}) {
    const HttpStaged staged = driver.stage(method, "a", {});
    ASSERT_FALSE(staged.staged());
    EXPECT_EQ(staged.error().kind, base::ErrorKind::kMethodNotAllowed) << method;
  }
  EXPECT_EQ(driver.put("x/.fenceline-1", "mine").error_name(), "forbidden-name");
  EXPECT_EQ(driver.get(".Fenceline-1").error_name(), "forbidden-name");
  EXPECT_EQ(upstream.requests().size(), 0U);
}

TEST_F(HttpPlain, MethodsAreReadsOrWrites) {
  for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
    EXPECT_TRUE(driver.backend().is_read(HttpRequest(method, "a").head()));
  }
  for (const char* method : {"PUT", "DELETE", "POST", "PATCH", "PROPFIND", "UNKNOWN", "get"}) {
    EXPECT_FALSE(driver.backend().is_read(HttpRequest(method, "a").head()));
  }
  EXPECT_EQ(driver.backend().allowed_methods(), "GET, HEAD, OPTIONS, PUT, POST, PATCH, DELETE");
}

TEST_F(HttpPlain, AnUnreachableUpstreamHasChangedNothing) {
  HttpDriver lonely(options_for(1, CommitMode::kPlain));
  const Answer refused = lonely.put("a", "one");
  EXPECT_EQ(refused.error_name(), "upstream-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_FALSE(lonely.backend().out_of_service()) << "nothing is probed";
}

}  // namespace
}  // namespace fenceline::testing
