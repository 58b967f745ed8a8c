// Request targets (RFC 9112, 3.2) and the one decoding of the path: no second name for a resource,
// no way out of the root, no way into the private directory.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireTargetTest : public WireTest {
 protected:
  /// A PUT of a target that must be refused with its body of requests. Drained or closed is for the
  /// server to choose, so the case is told which.
  static WireCase refused(const std::string& target, int status = 400,
                          std::string problem = "malformed-request", After after = After::kKept) {
    return {
        target.substr(0, 60), sized_put(target, smuggled()), {status}, after, std::move(problem)};
  }

  static WireCase unparsable(const std::string& target) {
    return refused(target, 400, "malformed-request", After::kClosed);
  }

  static WireCase right(const std::string& target, int status = 201) {
    return {target.substr(0, 60), sized_put(target, "x"), {status}};
  }
};

TEST_F(WireTargetTest, Segments) {
  run({
      refused("/exports/acme/a%2fb"),
      refused("/exports/acme/a%2Fb"),
      refused("/exports/acme/a%5cb"),
      refused("/exports/acme/a%5Cb"),
      refused("/exports/acme/../canary"),
      refused("/exports/acme/./canary"),
      refused("/exports/acme/.."),
      refused("/exports/acme/."),
      refused("/exports/../exports/acme/canary"),
      refused("/exports/acme/%2e%2e/acme/canary"),
      refused("/exports/acme/%2E%2e/acme/canary"),
      refused("/exports/acme/.%2e/acme/canary"),
      refused("/exports/acme/%2e/canary"),
      refused("/exports/acme/%2e"),
      refused("/exports/%2e%2e/ledger.db"),
      refused("/exports/acme//canary"),
      refused("/exports//acme/canary"),
      refused("//exports/acme/canary"),
      refused("/exports/acme/canary//"),
      refused("/exports/acme/new/"),
      refused("/exports/acme/canary/"),
      refused("/exports/acme/"),
      refused("/exports/acme/..%2f..%2fledger.db"),
      refused("/%2e%2e/%2e%2e/etc/passwd"),
  });
}

TEST_F(WireTargetTest, Bytes) {
  run({
      refused("/exports/acme/a%00"),         refused("/exports/acme/%00"),
      refused("/exports/acme/a%0a"),         refused("/exports/acme/a%0d%0aFencing-Token:%2077"),
      refused("/exports/acme/a%1f"),         refused("/exports/acme/a%7f"),
      refused("/exports/acme/%c0%af"),       refused("/exports/acme/%c0%ae%c0%ae/x"),
      refused("/exports/acme/%e0%80%af"),    refused("/exports/acme/%f0%80%80%af"),
      refused("/exports/acme/%c1%9c"),       refused("/exports/acme/%ed%a0%80"),
      refused("/exports/acme/%f4%90%80%80"), refused("/exports/acme/%ff"),
      refused("/exports/acme/%80"),          refused("/exports/acme/%c3"),
      refused("/exports/acme/%c3/%a4"),      unparsable("/exports/acme/%"),
      unparsable("/exports/acme/%2"),        unparsable("/exports/acme/%zz"),
      unparsable("/exports/acme/%2 "),       unparsable("/exports/acme/%u002e"),
      unparsable("/exports/acme/a\\b"),      unparsable("/exports/acme/..\\canary"),
      unparsable("/exports/acme/\xC3\xA4"),  unparsable("/exports/acme/\xFF"),
      unparsable("/exports/acme/a\x7F"),     unparsable("/exports/acme/a\tb"),
      unparsable("/exports/acme/a#b"),       unparsable("/exports/acme/a\"b"),
      unparsable("/exports/acme/<a>"),       unparsable("/exports/acme/a|b"),
      unparsable("/exports/acme/{a}"),       unparsable("/exports/acme/a^b"),
      unparsable("/exports/acme/a`b"),
  });
}

TEST_F(WireTargetTest, Forms) {
  const std::string rest = " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\nContent-Length: 0\r\n\r\n";
  run({
      unparsable("exports/acme/target"),
      unparsable("?/exports/acme/target"),
      unparsable("*"),
      unparsable("a:80"),
      unparsable("ftp://a/exports/acme/target"),
      unparsable("http:///exports/acme/target"),
      unparsable("http://u@a/exports/acme/target"),
      unparsable("http:/exports/acme/target"),
      unparsable(""),
      // RFC 9112, 3.2.2, asks servers to take the absolute form; here there is one name only.
      unparsable("http://a/exports/acme/target"),
      unparsable("HTTP://a/exports/acme/target"),
      unparsable("http://a"),
      {"no route", "PUT /nowhere" + rest, {404}, After::kKept, "not-found"},
      {"root", "PUT /" + rest, {404}, After::kKept, "not-found"},
      {"nothing after the route", "PUT /exports" + rest, {404}, After::kKept, "not-found"},
      {"nothing after the tenant", "PUT /exports/acme" + rest, {404}, After::kKept, "not-found"},
      {"another case", "PUT /Exports/acme/canary" + rest, {404}, After::kKept, "not-found"},
  });
}

TEST_F(WireTargetTest, DecodedExactlyOnce) {
  run({
      right("/exports/acme/%252e%252e"),
      right("/exports/acme/%252f"),
      right("/exports/acme/a%2500"),
      right("/exports/acme/%61"),
      right("/exports/acme/a", 204),
      right("/exports/acme/%E2%82%AC"),
      right("/exports/acme/%c2%85"),
      right("/exports/acme/..."),
      right("/exports/acme/..a"),
      right("/exports/acme/a%20b"),
      right("/exports/acme/a+b"),
      right("/exports/acme/a%3fb"),
      right("/exports/acme/~!$&'()*,;=:@-._"),
      right("/%65xports/%61cme/deep/er/than/before"),
      right("/exports/acme/query?limit=5&x=%2f..", 201),
  });
  for (const char* name :
       {"%2e%2e", "%2f", "a%00", "a", "\xE2\x82\xAC", "\xC2\x85", "...", "..a", "a b", "a+b", "a?b",
        "~!$&'()*,;=:@-._", "deep/er/than/before", "query"}) {
    EXPECT_EQ(content(std::string("exports/acme/") + name), "x") << name;
  }
}

TEST_F(WireTargetTest, OneKeyForEveryWayToWriteAName) {
  // A stale token must not get in by another spelling of the tenant.
  for (const char* target : {"/exports/%61cme/canary", "/exports/a%63me/canary",
                             "/%65xports/acme/canary", "/exports/acme/c%61nary"}) {
    SCOPED_TRACE(target);
    RawClient client(server().port());
    const Response answer = client.exchange(std::string("PUT ") + target +
                                            " HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n"
                                            "Content-Length: 4\r\n\r\nevil");
    expect_problem(answer, 412, "stale-token");
    EXPECT_EQ(answer.field("Fencing-Highest"), "34");
    expect_after(client, answer, After::kKept);
    expect_unharmed();
  }
}

TEST_F(WireTargetTest, PrivateDirectory) {
  for (const char* target :
       {"/exports/.fenceline/lock", "/exports/%2efenceline/lock", "/exports/.fenceline/tmp/x",
        "/exports/.fenceline/new", "/single/.fenceline", "/single/.fenceline/lock"}) {
    SCOPED_TRACE(target);
    run({refused(target, 403, "forbidden-name"),
         {"get", get(target), {403}, After::kKept, "forbidden-name"},
         {"delete",
          std::string("DELETE ") + target + " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n\r\n",
          {403},
          After::kKept,
          "forbidden-name"}});
  }
  for (const char* directory : {"/exports/.fenceline/", "/single/.fenceline/tmp/"}) {
    expect_problem(ask(get(directory)), 403, "forbidden-name");
  }
  EXPECT_EQ(content("exports/.fenceline/lock"), "");
  EXPECT_EQ(content("single/.fenceline/lock"), "");
  EXPECT_EQ(content("exports/.fenceline/new"), std::nullopt);
  const Response listing = ask(get("/single/"));
  EXPECT_EQ(listing.status, 200);
  EXPECT_EQ(listing.body.find(".fenceline"), std::string::npos) << listing.body;
}

TEST_F(WireTargetTest, Lengths) {
  const std::string name(255, 'n');
  run({
      right("/exports/acme/" + name),
      refused("/exports/acme/" + name + "n", 414, "target-too-long"),
      refused("/exports/acme/" + repeat("%41", 256), 414, "target-too-long"),
      refused("/exports/" + std::string(256, 't') + "/x", 414, "target-too-long"),
      refused("/exports/acme/" + repeat("d/", 2500) + "x", 414, "target-too-long"),
      refused("/single/" + repeat(name + "/", 5) + "x", 414, "target-too-long"),
      {"a target of 33 KiB",
       sized_put("/exports/acme/" + std::string(33000, 'x'), smuggled()),
       {414},
       After::kClosed,
       "target-too-long"},
  });
}

}  // namespace
}  // namespace fenceline::testing
