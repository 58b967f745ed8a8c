// Requests with an Idempotency-Key in front of the real binary, which is killed while they run:
// each takes effect once, however often it is sent.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kConfig = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - name: lines
    match: /lines/{tenant}/{statement}
    fence: exports/{tenant}
    idempotency: {required: true}
    sqlite:
      database: lines.db
      statements:
        append: >-
          INSERT INTO documents(name, body) VALUES(:text, x'')
          RETURNING (SELECT count(*) FROM documents) AS lines
        count: {mode: read, sql: "SELECT count(*) AS lines FROM documents"}
  - name: exports
    match: /exports/{tenant}/{path...}
    fence: exports/{tenant}
    idempotency: {ttl: 1h}
    files: {root: exports}
)";

class IdempotencyTest : public ::testing::Test {
 protected:
  static std::string append(int number, std::int64_t token = 1) {
    const std::string body = fmt::format(R"({{"text":"line {}"}})", number);
    return fenced_request("POST", "/lines/acme/append", token,
                          fmt::format("Idempotency-Key: \"append-{}\"\r\n"
                                      "Content-Type: application/json\r\nContent-Length: {}\r\n",
                                      number, body.size())) +
           body;
  }

  /// Sends a request and, if so, kills the server before the answer is read: whether it took effect
  /// is open.
  void send_and_lose(const std::string& request) {
    RawClient client(server_.process().port());
    client.send(request);
    server_.kill_and_restart();
  }

  Response exchange(const std::string& request) {
    RawClient client(server_.process().port());
    return client.exchange(request);
  }

  std::string lines() {
    return exchange(fenced_request("POST", "/lines/acme/count", 0, "Content-Length: 0\r\n")).body;
  }

  Response put(std::string_view key, std::string_view content, std::int64_t token = 1) {
    return server_.put("/exports/acme/a", token, content,
                       fmt::format("Idempotency-Key: {}\r\n", key));
  }

  FilesServer server_{std::string(kConfig)};
};

TEST_F(IdempotencyTest, AStatementIsRunOnceOverKills) {
  for (int i = 0; i < 24; ++i) {
    if (i % 2 == 0) {
      send_and_lose(append(i));
    }
    const Response first = exchange(append(i));
    ASSERT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(lines(), fmt::format(R"({{"rows":[{{"lines":{}}}],"changes":0}})", i + 1));
    const Response again = exchange(append(i));
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.field("Idempotency-Replayed"), "true");
  }
  EXPECT_EQ(exchange(append(0)).field("Idempotency-Replayed"), "true");
}

TEST_F(IdempotencyTest, AFileIsWrittenOnceOverKills) {
  // Of a file that is new, nobody could tell afterwards that it was not made and removed.
  ASSERT_EQ(put("first", "first").status, 201);
  for (int i = 0; i < 12; ++i) {
    const std::string key = fmt::format("put-{}", i);
    const std::string content = fmt::format("content {}", i);
    send_and_lose(
        fenced_put("/exports/acme/a", 1, content, fmt::format("Idempotency-Key: {}\r\n", key)));
    const int status = put(key, content).status;
    ASSERT_TRUE(status == 201 || status == 204) << status;
    EXPECT_EQ(server_.content("/exports/acme/a"), content);
    // A repeat of what came before does not bring it back.
    ASSERT_EQ(put(key + "-next", "newer").status, 204);
    EXPECT_EQ(put(key, content).field("Idempotency-Replayed"), "true");
    EXPECT_EQ(server_.content("/exports/acme/a"), "newer");
  }
}

TEST_F(IdempotencyTest, TheAnswersSurviveARestart) {
  ASSERT_EQ(put("k", "content").status, 201);
  server_.restart();
  const Response again = put("k", "content");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.field("Idempotency-Replayed"), "true");
  EXPECT_FALSE(again.field("ETag").empty());
  expect_not_applied(put("k", "other"), 422, "idempotency-key-reused");
}

TEST_F(IdempotencyTest, TheFenceComesFirst) {
  ASSERT_EQ(put("k", "content", 1).status, 201);
  ASSERT_EQ(put("l", "newer", 2).status, 204);
  expect_fenced(put("k", "content", 1), 1, 2);
  expect_not_applied(
      exchange(fenced_request("POST", "/lines/acme/append", 2, "Content-Length: 0\r\n")), 400,
      "idempotency-key-required");
}

TEST_F(IdempotencyTest, TwoAtOnceAreOne) {
  HalfUpload upload(server_, "/exports/acme/a", 1, std::string(200'000, 'A'),
                    "Idempotency-Key: k\r\n");
  const Response second = put("k", "x");
  EXPECT_EQ(second.status, 409);
  EXPECT_NE(second.body.find("idempotency-key-running"), std::string::npos);
  EXPECT_EQ(upload.finish().status, 201);
  EXPECT_EQ(put("k", std::string(200'000, 'A')).field("Idempotency-Replayed"), "true");
}

TEST_F(IdempotencyTest, AReloadKeepsThem) {
  ASSERT_EQ(put("k", "content").status, 201);
  server_.process().signal(1);  // SIGHUP
  server_.process().wait_for_log(" reloaded: ");
  EXPECT_EQ(put("k", "content").field("Idempotency-Replayed"), "true");
}

}  // namespace
}  // namespace fenceline::testing
