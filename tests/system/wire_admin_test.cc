// The admin listener: paths, methods, keys, the bearer token; and that it is as strict as the
// public one.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireAdminTest : public WireTest {
 protected:
  static Response send_admin(const std::string& request) {
    RawClient client(server().admin_port());
    return client.exchange(request, request.starts_with("HEAD "));
  }
};

TEST_F(WireAdminTest, Paths) {
  for (const char* path :
       {"/healthz", "/readyz", "/metrics", "/v1/fences", "/v1/fences/exports/acme",
        "/v1/fences/exports%2Facme", "/v1/fences/exports%2facme", "/v1/routes", "/v1/rejections",
        "/v1/stamp?route=exports&name=acme%2Fcanary", "/v1/stamp?route=exports&name=acme/canary",
        "/v1/fences?prefix=exports/&limit=1", "/v1/rejections?limit=1"}) {
    SCOPED_TRACE(path);
    const Response answer = ask_admin(path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_FALSE(answer.body.empty());
    const Response head = send_admin(std::string("HEAD ") + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(head.status, 200);
  }
  for (const char* path : {"/", "/v1", "/v1/", "/v1/fences/none", "/v1/fences/exports",
                           "/v1/fences/exports/acme/canary", "/exports/acme/canary", "/healthz/",
                           "/v1/stamp?route=exports&name=acme/none"}) {
    SCOPED_TRACE(path);
    expect_problem(ask_admin(path), 404, "not-found");
  }
}

TEST_F(WireAdminTest, ParametersThatAreRefused) {
  for (const char* path :
       {"/v1/fences?limit=0", "/v1/fences?limit=1001", "/v1/fences?limit=x",
        "/v1/fences?limit=1&limit=2", "/v1/fences?after=%zz", "/v1/fences/%2e%2e",
        "/v1/fences/a%00", "/v1/fences/%ff", "/v1/rejections?limit=-1", "/v1/stamp",
        "/v1/stamp?route=exports", "/v1/stamp?route=exports&name=../../ledger.db",
        "/v1/stamp?route=exports&name=.fenceline/lock",
        "/v1/stamp?route=exports&name=%2fetc%2fpasswd", "/v1/../healthz"}) {
    SCOPED_TRACE(path);
    const Response answer = ask_admin(path);
    EXPECT_TRUE(answer.status == 400 || answer.status == 403 || answer.status == 404)
        << answer.status << answer.body;
    EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
  }
}

TEST_F(WireAdminTest, OnlyReadsButForOrdersToAFence) {
  for (const char* method : {"PUT", "POST", "DELETE", "PATCH", "OPTIONS"}) {
    for (const char* path : {"/v1/fences/exports/acme", "/v1/fences", "/metrics", "/nowhere"}) {
      const bool fence = std::string_view(path) == "/v1/fences/exports/acme";
      if (fence && std::string_view(method) == "POST") {
        continue;
      }
      const Response answer = send_admin(std::string(method) + " " + path +
                                         " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
      expect_problem(answer, 405, "method-not-allowed");
      EXPECT_EQ(answer.field("Allow"), fence ? "GET, HEAD, POST" : "GET, HEAD");
    }
  }
  expect_unharmed();
}

std::string order(std::string_view body,
                  std::string_view fields = "Content-Type: application/json\r\n") {
  return "POST /v1/fences/exports%2Facme HTTP/1.1\r\nHost: a\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

TEST_F(WireAdminTest, OrdersThatAreRefusedChangeNothing) {
  const std::string right = R"({"action":"reset","to":"1","reason":"r"})";
  for (const std::string& request :
       {order(""), order("{}"), order(R"({"action":"raise","to":77})"),
        order(R"({"action":"reset","to":"1"})"), order(right, ""),
        order(right, "Content-Type: text/plain\r\n"),
        order(right, "Content-Type: application/json\r\nOrigin: http://a\r\n")}) {
    expect_problem(send_admin(request), 400, "malformed-request");
  }
  expect_problem(send_admin(order(R"({"action":"raise","to":"077"})")), 400, "malformed-token");
  expect_problem(send_admin(order(repeat(" ", 20000))), 413, "body-too-large");
  expect_problem(send_admin(order(R"({"action":"reset","to":"99","reason":"r"})")), 409,
                 "mark-conflict");
  EXPECT_EQ(mark_of("exports/acme"), "34");
  expect_unharmed();
}

TEST_F(WireAdminTest, AnOrderInPiecesAndInChunks) {
  const std::string body = R"({"action":"raise","to":"34"})";
  const Response answer = send_admin(
      "POST /v1/fences/exports/acme HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n" +
      chunked(body));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, R"({"key":"exports/acme","mark":"34","previous":"34","changed":false})"
                         "\n");
  expect_unharmed();
}

TEST_F(WireAdminTest, AsStrictAsThePublicListener) {
  for (const std::string& request :
       {std::string("GET /healthz HTTP/1.1\r\n\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        get("/healthz", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
        get("/healthz", "A: b\r\n c\r\n"), get("healthz")}) {
    RawClient client(server().admin_port());
    client.send(request + smuggled());
    const Response answer = client.receive();
    expect_problem(answer, 400, "malformed-request");
    expect_after(client, answer, After::kClosed);
  }
  expect_unharmed();
}

TEST_F(WireAdminTest, ShowsFenceAndZombies) {
  const Response stale =
      ask("PUT /exports/acme/canary HTTP/1.1\r\nHost: a\r\nFencing-Token: 12\r\n"
          "Fencing-Holder: old\r\nContent-Length: 0\r\n\r\n");
  expect_problem(stale, 412, "stale-token");
  const std::string rejections = ask_admin("/v1/rejections?limit=1").body;
  for (const char* fact : {R"("key":"exports/acme")", R"("presented":"12")", R"("highest":"34")",
                           R"("holder":"old")", R"("reason":"stale-token")"}) {
    EXPECT_NE(rejections.find(fact), std::string::npos) << rejections;
  }
  const std::string fence = ask_admin("/v1/fences/exports/acme").body;
  EXPECT_NE(fence.find(R"("mark":"34")"), std::string::npos) << fence;
  const std::string stamp = ask_admin("/v1/stamp?route=exports&name=acme/canary").body;
  EXPECT_NE(stamp.find(R"("34")"), std::string::npos) << stamp;
  EXPECT_NE(ask_admin("/v1/routes").body.find("\"exports\""), std::string::npos);
}

TEST_F(WireAdminTest, HostileNamesAreEscaped) {
  const std::string request =
      "PUT /exports/a%22%5Db%20token=99%E2%80%A8x/y HTTP/1.1\r\nHost: a\r\n"
      "Fencing-Holder: h\"\\o\r\nContent-Length: 0\r\nFencing-Token: ";
  EXPECT_EQ(ask(request + "9\r\n\r\n").status, 201);
  const Response stale = ask(request + "8\r\n\r\n");
  expect_problem(stale, 412, "stale-token");
  EXPECT_NE(stale.body.find(R"("key":"exports/a\"]b token=99)"), std::string::npos) << stale.body;
  for (const char* path : {"/v1/rejections?limit=1", "/v1/fences"}) {
    const std::string body = ask_admin(path).body;
    EXPECT_NE(body.find(R"("key":"exports/a\"]b token=99)"), std::string::npos) << body;
    EXPECT_NE(body.find(R"("holder":"h\"\\o")"), std::string::npos) << body;
  }
  const Response one = ask_admin("/v1/fences/exports/a%22%5Db%20token=99%E2%80%A8x");
  EXPECT_EQ(one.status, 200);
  // A name cannot pretend to be another field of a log line.
  EXPECT_NE(server().log().find(R"(key="exports/a\"]b token=99)"), std::string::npos)
      << server().log();
}

class WireAdminTokenTest : public WireAdminTest {
 protected:
  static void SetUpTestSuite() {
    std::string config(kConfig);
    const std::string open = "admin: {listen: 127.0.0.1:0}";
    config.replace(config.find(open), open.size(),
                   "admin: {listen: 127.0.0.1:0, token: 0123456789abcdef}");
    start(config);
  }
};

TEST_F(WireAdminTokenTest, BearerToken) {
  EXPECT_EQ(ask_admin("/healthz").status, 200);
  const std::vector<std::string> refused = {
      "",
      "Authorization: Bearer 0123456789abcdeF\r\n",
      "Authorization: Bearer 0123456789abcde\r\n",
      "Authorization: Bearer 0123456789abcdef0\r\n",
      "Authorization: Basic 0123456789abcdef\r\n",
      "Authorization: 0123456789abcdef\r\n",
      "Authorization: Bearer\r\n",
      "Authorization:\r\n",
      "Authorization: Bearer 0123456789abcdef, Bearer x\r\n",
      "Authorization: Bearer x\r\nAuthorization: Bearer 0123456789abcdef\r\n"};
  for (const std::string& fields : refused) {
    for (const char* path : {"/metrics", "/readyz", "/v1/fences", "/v1/routes", "/v1/rejections",
                             "/v1/stamp?route=exports&name=acme/canary", "/nowhere"}) {
      SCOPED_TRACE(path + fields);
      const Response refused_order = send_admin(
          order(R"({"action":"raise","to":"77"})", fields + "Content-Type: application/json\r\n"));
      expect_problem(refused_order, 401, "unauthorized");
      const Response answer = send_admin(get(path, fields));
      expect_problem(answer, 401, "unauthorized");
      EXPECT_TRUE(answer.field("WWW-Authenticate").starts_with("Bearer"));
    }
  }
  for (const char* fields : {"Authorization: Bearer 0123456789abcdef\r\n",
                             "authorization: bearer 0123456789abcdef\r\n"}) {
    EXPECT_EQ(send_admin(get("/v1/fences", fields)).status, 200) << fields;
  }
}

}  // namespace
}  // namespace fenceline::testing
