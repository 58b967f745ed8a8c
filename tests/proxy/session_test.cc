// One connection against the real front: keep-alive, order, bodies in both directions.

#include <fmt/format.h>

#include <fstream>

#include "tests/proxy/front_fixture.h"

namespace fenceline::proxy::testing {
namespace {

class SessionTest : public FrontTest {};

TEST_F(SessionTest, KeepsTheConnectionOverManyRequests) {
  start();
  RawClient client = connect();
  for (int i = 0; i < 100; ++i) {
    const std::string body = fmt::format("body {}", i);
    const Response response = client.exchange(put("/echo", body));
    ASSERT_EQ(response.status, 200);
    ASSERT_EQ(response.body, body);
    ASSERT_FALSE(response.has("Connection"));
    ASSERT_EQ(response.field("Date").size(), 29U);
  }
  EXPECT_TRUE(observer_.wait_for_finished(100));
  EXPECT_EQ(observer_.opened, 1U);
}

TEST_F(SessionTest, AnswersAHundredPipelinedRequestsInOrder) {
  start();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += put("/echo", fmt::format("body {}", i));
  }
  RawClient client = connect();
  client.send(requests);
  for (int i = 0; i < 100; ++i) {
    const Response response = client.receive();
    ASSERT_EQ(response.status, 200);
    ASSERT_EQ(response.body, fmt::format("body {}", i));
  }
  EXPECT_EQ(client.received(), "");
}

TEST_F(SessionTest, TakesARequestCutAtEveryByte) {
  start();
  const std::string request =
      "PUT /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n" +
      get("/text?bytes=3");
  RawClient client = connect();
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    client.send(request.substr(0, cut));
    client.send(request.substr(cut));
    ASSERT_EQ(client.receive().body, "hello!") << cut;
    ASSERT_EQ(client.receive().body, "xxx") << cut;
  }
  for (const char byte : request) {
    client.send({&byte, 1});
  }
  EXPECT_EQ(client.receive().body, "hello!");
  EXPECT_EQ(client.receive().body, "xxx");
}

TEST_F(SessionTest, TakesALargeBodyThroughAGrowingBuffer) {
  start();
  std::string body(3'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) {
    body[i] = static_cast<char>(i * 7 + i / 251);
  }
  RawClient client = connect();
  for (int round = 0; round < 2; ++round) {
    const Response response = client.exchange(put("/echo", body));
    ASSERT_EQ(response.status, 200);
    ASSERT_TRUE(response.body == body);
  }
}

TEST_F(SessionTest, TakesALargeChunkedBody) {
  start();
  std::string request = "PUT /length HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::size_t total = 0;
  for (std::size_t size = 1; size < 200'000; size = size * 3 + 1) {
    request += fmt::format("{:x}\r\n{}\r\n", size, std::string(size, 'c'));
    total += size;
  }
  request += "0\r\nTrailer: dropped\r\n\r\n";
  RawClient client = connect();
  EXPECT_EQ(client.exchange(request).body, fmt::format("{}", total));
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(SessionTest, TakesAHeadLargerThanItsFirstBuffer) {
  start();
  RawClient client = connect();
  const std::string fields = fmt::format("X-Long: {}\r\n", std::string(30'000, 'l'));
  EXPECT_EQ(client.exchange(get("/text", fields)).status, 200);
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
  const std::string more = fmt::format("X-Long: {}\r\n", std::string(33'000, 'l'));
  const Response refused = client.exchange(get("/text", more));
  EXPECT_EQ(refused.status, 431);
  EXPECT_EQ(refused.field("Connection"), "close");
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(SessionTest, AnswersContinueOnlyWhenTheBodyIsRead) {
  start();
  RawClient client = connect();
  client.send(
      "PUT /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  client.send("body");
  EXPECT_EQ(client.receive().body, "body");
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(SessionTest, ARefusalBeforeContinueIsTheOnlyAnswerAndCloses) {
  start();
  RawClient client = connect();
  client.send(
      "PUT /refuse HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  const Response response = client.receive();
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(response.field("Connection"), "close");
  // The body comes all the same, and looks like a request.
  client.send("GET /text HTTP/1.1\r\nHost: test\r\n\r\n");
  client.shutdown_write();
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(handler_.started, 1U);
}

TEST_F(SessionTest, AContinueThatTheClientDidNotWaitForIsAnsweredToo) {
  start();
  RawClient client = connect();
  client.send(put("/echo", "body", "Expect: 100-continue\r\n"));
  EXPECT_EQ(client.receive().status, 100);
  EXPECT_EQ(client.receive().body, "body");
}

TEST_F(SessionTest, Http10ClosesUnlessAskedToKeep) {
  start();
  {
    RawClient client = connect();
    const Response response = client.exchange("GET /text HTTP/1.0\r\n\r\n");
    EXPECT_EQ(response.body, "xxxxx");
    EXPECT_TRUE(client.ended_cleanly());
  }
  RawClient client = connect();
  const std::string request = "GET /text HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(client.exchange(request).field("Connection"), "keep-alive");
  EXPECT_EQ(client.exchange(request).field("Connection"), "keep-alive");
}

TEST_F(SessionTest, ConnectionCloseIsAnsweredAndKept) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(get("/text", "Connection: close\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Connection"), "close");
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(SessionTest, HeadAnd204And304HaveNoBody) {
  start();
  RawClient client = connect();
  const Response head = client.exchange("HEAD /text?bytes=77 HTTP/1.1\r\nHost: test\r\n\r\n", true);
  EXPECT_EQ(head.field("Content-Length"), "77");
  const Response not_modified = client.exchange(get("/status?code=304"));
  EXPECT_EQ(not_modified.field("Content-Length"), "1234");
  const Response none = client.exchange(get("/status?code=204"));
  EXPECT_FALSE(none.has("Content-Length"));
  EXPECT_EQ(client.exchange(get("/text")).body, "xxxxx");
}

TEST_F(SessionTest, StreamsASourceInChunksOrWithItsLength) {
  start();
  RawClient client = connect();
  const Response chunked = client.exchange(get("/pieces?count=3"));
  EXPECT_TRUE(chunked.chunked);
  EXPECT_EQ(chunked.body, "piece;piece;piece;");
  EXPECT_EQ(client.exchange(get("/pieces?count=0")).body, "");
  const Response sized = client.exchange(get("/pieces?count=1000&sized=1"));
  EXPECT_EQ(sized.field("Content-Length"), "6000");
  EXPECT_EQ(sized.body.size(), 6000U);
  RawClient old = connect();
  EXPECT_EQ(old.exchange("GET /pieces?count=2 HTTP/1.0\r\n\r\n").body, "piece;piece;");
}

TEST_F(SessionTest, ASourceThatFailsFirstIsAnsweredWithItsError) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(get("/pieces?count=0&fails=1"));
  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(SessionTest, ASourceThatFailsLaterResetsTheConnection) {
  start();
  for (const char* version : {"1.1", "1.0"}) {
    RawClient client = connect();
    client.send(fmt::format("GET /pieces?count=2&fails=1 HTTP/{}\r\nHost: test\r\n\r\n", version));
    EXPECT_THROW(client.receive_to_end(), fenceline::testing::ConnectionReset) << version;
  }
  ASSERT_TRUE(observer_.wait_for_finished(2));
  EXPECT_FALSE(observer_.finished[0].complete);
}

TEST_F(SessionTest, SendsFilesWholeAndInSlices) {
  std::string content(5'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<char>(i * 31 + i / 4096);
  }
  handler_.file = folder_ / "file";
  std::ofstream(handler_.file, std::ios::binary) << content;
  start();
  RawClient client = connect();
  EXPECT_TRUE(client.exchange(get("/file")).body == content);
  for (const auto& [offset, length] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                        {0, 1},
                                                        {7, 100},
                                                        {100, 16 * 1024},
                                                        {100, 16 * 1024 + 1},
                                                        {4'999'999, 1},
                                                        {1'000'003, 3'000'000}}) {
    const Response response =
        client.exchange(get(fmt::format("/file?offset={}&length={}", offset, length)));
    ASSERT_EQ(response.status, 200);
    ASSERT_TRUE(response.body == content.substr(offset, length)) << offset << " " << length;
  }
  const Response head = client.exchange("HEAD /file HTTP/1.1\r\nHost: test\r\n\r\n", true);
  EXPECT_EQ(head.field("Content-Length"), "5000000");
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(SessionTest, AFileThatShrinksIsNeverATruncatedAnswer) {
  handler_.file = folder_ / "file";
  std::ofstream(handler_.file, std::ios::binary) << std::string(50'000, 'f');
  start();
  RawClient small = connect();
  EXPECT_EQ(small.exchange(get("/file?offset=49000&length=2000")).status, 500);
  EXPECT_EQ(small.exchange(get("/text")).status, 200);
  RawClient large = connect();
  large.send(get("/file?offset=0&length=60000"));
  EXPECT_THROW(large.receive_to_end(), fenceline::testing::ConnectionReset);
}

TEST_F(SessionTest, AHandlerThatThrowsIsAnswered500AndTheServerGoesOn) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(put("/throw", "body"));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.field("Connection"), "close");
  EXPECT_EQ(response.body.find("the handler broke"), std::string::npos);
  EXPECT_TRUE(client.ended_cleanly());
  RawClient next = connect();
  EXPECT_EQ(next.exchange(get("/text")).status, 200);
  ASSERT_TRUE(observer_.board.wait([this] { return observer_.bugs.size() == 1; }));
  EXPECT_NE(observer_.bugs[0].find("the handler broke"), std::string::npos);
}

TEST_F(SessionTest, AReplyWithALineBreakInAFieldGoesOutAs500) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(get("/bad-reply"));
  EXPECT_EQ(response.status, 500);
  EXPECT_FALSE(response.has("Set-Cookie"));
  ASSERT_TRUE(observer_.board.wait([this] { return observer_.bugs.size() == 1; }));
}

TEST_F(SessionTest, EachRequestHasItsOwnId) {
  start();
  RawClient client = connect();
  const std::string first = client.exchange(get("/request-id")).body;
  const std::string second = client.exchange(get("/request-id")).body;
  EXPECT_NE(first, second);
  ASSERT_TRUE(observer_.wait_for_finished(2));
  EXPECT_EQ(observer_.finished[0].request_id, first);
  EXPECT_EQ(observer_.finished[1].request_id, second);
  EXPECT_TRUE(observer_.finished[0].peer.starts_with("127.0.0.1:"));
}

}  // namespace
}  // namespace fenceline::proxy::testing
