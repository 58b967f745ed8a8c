// Expect: 100-continue (RFC 9110, 10.1.1): the answer of the fence comes before the body.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireExpectTest : public WireTest {
 protected:
  static std::string head(std::string_view path, std::string_view fields,
                          std::string_view version = "1.1") {
    return std::string("PUT ")
        .append(path)
        .append(" HTTP/")
        .append(version)
        .append("\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n")
        .append(fields)
        .append("\r\n");
  }
};

TEST_F(WireExpectTest, FreshTokenGets100Then201) {
  RawClient client(server().port());
  const Response interim = client.exchange(head("/exports/acme/new", "Fencing-Token: 34\r\n"));
  EXPECT_EQ(interim.status, 100);
  EXPECT_TRUE(interim.fields.empty());
  EXPECT_EQ(content("exports/acme/new"), std::nullopt);
  const Response answer = client.exchange("body");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(content("exports/acme/new"), "body");
  expect_after(client, answer, After::kKept);
}

TEST_F(WireExpectTest, RefusalsComeWithout100) {
  struct Refusal {
    std::string path;
    std::string fields;
    int status;
    std::string problem;
  };
  const std::vector<Refusal> refusals = {
      {"/exports/acme/x", "Fencing-Token: 33\r\n", 412, "stale-token"},
      {"/exports/acme/x", "", 428, "token-required"},
      {"/exports/acme/x", "Fencing-Token: 034\r\n", 400, "malformed-token"},
      {"/exports/acme/%2f", "Fencing-Token: 34\r\n", 400, "malformed-request"},
      {"/nowhere", "Fencing-Token: 34\r\n", 404, "not-found"},
      {"/shown/x", "Fencing-Token: 34\r\n", 405, "method-not-allowed"},
      {"/exports/.fenceline/x", "Fencing-Token: 34\r\n", 403, "forbidden-name"},
      {"/exports/acme", "Host: b\r\n", 400, "malformed-request"},
  };
  for (const Refusal& each : refusals) {
    SCOPED_TRACE(each.path + " " + each.fields);
    RawClient client(server().port());
    const Response answer = client.exchange(head(each.path, each.fields));
    expect_problem(answer, each.status, each.problem);
    // The body may come or not: only the end of the connection makes that unambiguous.
    expect_after(client, answer, After::kClosed);
    RawClient eager(server().port());
    eager.send_as_far_as_possible(head(each.path, each.fields) + "body" + smuggled());
    EXPECT_EQ(eager.receive().status, each.status);
    EXPECT_EQ(eager.receive_to_end(), "");
    expect_unharmed();
  }
}

TEST_F(WireExpectTest, TooLargeIsSaidBeforeTheBody) {
  RawClient client(server().port());
  const Response answer = client.exchange(
      "PUT /small/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\nExpect: 100-continue\r\n"
      "Content-Length: 1025\r\n\r\n");
  expect_problem(answer, 413, "body-too-large");
  expect_after(client, answer, After::kClosed);
}

TEST_F(WireExpectTest, Expectations) {
  run({
      {"unknown",
       sized_put("/exports/acme/x", smuggled(), "Expect: 200-ok\r\n"),
       {417},
       After::kClosed,
       "expectation-failed"},
      {"more than one",
       sized_put("/exports/acme/x", smuggled(), "Expect: 100-continue, 7\r\n"),
       {417},
       After::kClosed,
       "expectation-failed"},
      {"with a parameter",
       sized_put("/exports/acme/x", smuggled(), "Expect: 100-continue;a=b\r\n"),
       {417},
       After::kClosed,
       "expectation-failed"},
  });
  EXPECT_EQ(content("exports/acme/x"), std::nullopt);
  // A body that is already there needs no 100; one may come all the same.
  for (const char* expectation : {"Expect: 100-Continue\r\n", "expect:100-CONTINUE\r\n"}) {
    RawClient client(server().port());
    client.send(sized_put("/exports/acme/any", "x", expectation));
    Response answer = client.receive();
    if (answer.status == 100) {
      answer = client.receive();
    }
    EXPECT_TRUE(answer.status == 201 || answer.status == 204) << answer.body;
    expect_after(client, answer, After::kKept);
  }
}

TEST_F(WireExpectTest, IgnoredInHttp10) {
  RawClient client(server().port());
  client.send(head("/exports/acme/old", "Fencing-Token: 34\r\n", "1.0"));
  client.send("body");
  const Response answer = client.receive();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(client.receive_to_end(), "");
}

TEST_F(WireExpectTest, ReadsGetNo100) {
  RawClient client(server().port());
  const Response answer = client.exchange(get("/exports/acme/canary", "Expect: 100-continue\r\n"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, kCanary);
}

TEST_F(WireExpectTest, OvertakenBetween100AndTheBody) {
  const std::string path = "/exports/overtaken/x";
  RawClient zombie(server().port());
  EXPECT_EQ(zombie.exchange(head(path, "Fencing-Token: 5\r\n")).status, 100);
  RawClient newer(server().port());
  EXPECT_EQ(
      newer
          .exchange("PUT " + path +
                    " HTTP/1.1\r\nHost: a\r\nFencing-Token: 6\r\nContent-Length: 3\r\n\r\nnew")
          .status,
      201);
  const Response answer = zombie.exchange("evil");
  expect_problem(answer, 412, "stale-token");
  expect_after(zombie, answer, After::kKept);
  EXPECT_EQ(content("exports/overtaken/x"), "new");
}

}  // namespace
}  // namespace fenceline::testing
