// Pipelining and keep-alive (RFC 9112, 9.3): answers in the order of the requests, a refusal in the
// middle, whatever the pieces in which the bytes arrive.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WirePipeliningTest : public WireTest {
 protected:
  static std::string numbered(int i) { return "/exports/acme/p" + std::to_string(i); }

  static std::string stale_put(const std::string& path, const std::string& body) {
    return "PUT " + path + " HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
};

TEST_F(WirePipeliningTest, HundredRequestsInOneSegment) {
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    bytes += sized_put(numbered(i), "body " + std::to_string(i)) + get(numbered(i));
  }
  RawClient client(server().port());
  client.send(bytes);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.receive().status, 201);
    const Response read = client.receive();
    EXPECT_EQ(read.status, 200);
    EXPECT_EQ(read.body, "body " + std::to_string(i));
  }
}

TEST_F(WirePipeliningTest, RefusedOneInTheMiddle) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += i == 50 ? stale_put("/exports/acme/refused", smuggled())
                     : sized_put("/exports/acme/around", std::to_string(i));
  }
  RawClient client(server().port());
  client.send(bytes);
  for (int i = 0; i < 100; ++i) {
    const Response answer = client.receive();
    ASSERT_EQ(answer.status, i == 0 ? 201 : i == 50 ? 412 : 204) << i;
    ASSERT_FALSE(answer.has("Connection")) << i;
  }
  EXPECT_EQ(content("exports/acme/around"), "99");
  EXPECT_EQ(content("exports/acme/refused"), std::nullopt);
  expect_unharmed();
}

TEST_F(WirePipeliningTest, NothingAfterAMalformedOne) {
  std::string bytes;
  for (int i = 0; i < 10; ++i) {
    bytes += sized_put("/exports/acme/before", std::to_string(i));
  }
  bytes += "PUT /exports/acme/malformed HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + smuggled();
  RawClient client(server().port());
  client.send(bytes);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(client.receive().status, i == 0 ? 201 : 204);
  }
  const Response refused = client.receive();
  expect_problem(refused, 400, "malformed-request");
  expect_after(client, refused, After::kClosed);
  EXPECT_EQ(content("exports/acme/before"), "9");
  expect_unharmed();
}

TEST_F(WirePipeliningTest, NothingAfterTheLastOne) {
  RawClient client(server().port());
  client.send(get("/exports/acme/canary", "Connection: close\r\n") + smuggled());
  const Response answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  expect_after(client, answer, After::kClosed);
  expect_unharmed();
}

TEST_F(WirePipeliningTest, ByteByByte) {
  const std::string bytes = sized_put("/exports/acme/slow", "abc") +
                            put("/exports/acme/slow", "Transfer-Encoding: chunked\r\n",
                                "2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n") +
                            stale_put("/exports/acme/slow", "no") + get("/exports/acme/slow");
  RawClient client(server().port());
  for (const char byte : bytes) {
    client.send(std::string(1, byte));
  }
  for (const int status : {201, 204, 412}) {
    EXPECT_EQ(client.receive().status, status);
  }
  EXPECT_EQ(client.receive().body, "de");
}

TEST_F(WirePipeliningTest, AnswersToMethodsWithoutBodies) {
  const std::string head = "HEAD /exports/acme/canary HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string missing = "HEAD /exports/acme/none HTTP/1.1\r\nHost: a\r\n\r\n";
  RawClient client(server().port());
  client.send(head + missing + "HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n" +
              "HEAD /exports/acme/ HTTP/1.1\r\nHost: a\r\n\r\n" + get("/exports/acme/canary"));
  const Response first = client.receive(true);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.field("Content-Length"), std::to_string(kCanary.size()));
  EXPECT_EQ(client.receive(true).status, 404);
  EXPECT_EQ(client.receive(true).status, 404);
  EXPECT_EQ(client.receive(true).status, 200);
  const Response last = client.receive();
  EXPECT_EQ(last.body, kCanary);
  EXPECT_EQ(last.field("ETag"), first.field("ETag"));
}

TEST_F(WirePipeliningTest, StatusReadableByAClientThatSendsEverythingFirst) {
  // More than is buffered, so a server that closes without reading on resets the connection.
  const std::string body(8 * 1024 * 1024, 'x');
  for (const std::string& request :
       {stale_put("/exports/acme/refused", body + smuggled()),
        sized_put("/small/large", body + smuggled()), sized_put("/nowhere", body + smuggled()),
        "PUT /exports/acme/refused HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n" + body + smuggled(),
        put("/exports/acme/refused", "Transfer-Encoding: gzip\r\n", body + smuggled()),
        put("/small/large", "Transfer-Encoding: chunked\r\n", chunked(body + smuggled()))}) {
    SCOPED_TRACE(request.substr(0, 100));
    RawClient client(server().port());
    EXPECT_EQ(client.send_as_far_as_possible(request), request.size());
    const Response answer = client.receive();
    EXPECT_GE(answer.status, 400) << answer.body;
    EXPECT_LT(answer.status, 502) << answer.body;
    EXPECT_NE(answer.body.find(R"("applied":"no")"), std::string::npos) << answer.body;
    expect_after(client, answer,
                 answer.field("Connection") == "close" ? After::kClosed : After::kKept);
    expect_unharmed();
  }
}

}  // namespace
}  // namespace fenceline::testing
