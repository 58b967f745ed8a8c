#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "backends/http/upstream_target.h"
#include "tests/backends/http/http_driver.h"
#include "tests/support/real_upstreams.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::Guarantee;
using backends::Revocation;
using backends::http::CommitMode;
using base::Applied;

const std::string kLarge(3'000'000, 'x');

backends::http::HttpOptions only_puts(std::uint16_t port, CommitMode commit) {
  auto options = options_for(port, commit);
  options.methods = {"GET", "HEAD", "PUT"};
  return options;
}

/// Move mode in front of the real nginx.
class HttpMove : public ::testing::Test {
 protected:
  void expect_no_leftovers() {
    wait_until("the temporaries to be gone", [&] { return nginx.leftovers() == 0; });
  }

  RealUpstream nginx{UpstreamKind::kNginx};
  HttpDriver driver{only_puts(nginx.port(), CommitMode::kMove)};
};

TEST_F(HttpMove, IsStrictBecauseTheProbeSaysSo) {
  const auto capabilities = driver.backend().capabilities();
  EXPECT_EQ(capabilities.guarantee, Guarantee::kStrict) << capabilities.assumption;
  EXPECT_FALSE(driver.backend().out_of_service());
  EXPECT_EQ(nginx.leftovers(), 0U) << "the probe cleans up";
}

TEST_F(HttpMove, WritesByATemporaryAndAMove) {
  for (const std::string& content : {std::string(), std::string("one"), kLarge}) {
    HttpStaged staged = driver.stage("PUT", "dir/a", content);
    ASSERT_TRUE(staged.staged()) << staged.error().detail;
    EXPECT_EQ(nginx.leftovers(), 1U);
    const Answer answer = staged.commit();
    EXPECT_EQ(answer.status / 100, 2);
    EXPECT_TRUE(nginx.content("dir/a") == content);
    EXPECT_EQ(nginx.leftovers(), 0U);
    EXPECT_TRUE(driver.get("dir/a").content == content);
  }
}

TEST_F(HttpMove, ADroppedWriteTakesItsTemporaryWithIt) {
  driver.put("a", "old");
  {
    const HttpStaged staged = driver.stage("PUT", "a", kLarge);
    ASSERT_TRUE(staged.staged());
  }
  expect_no_leftovers();
  EXPECT_EQ(nginx.content("a"), "old");
}

TEST_F(HttpMove, TheIntentNamesTheTemporaryWithItsToken) {
  const HttpStaged staged = driver.stage("PUT", "dir/a", "one", {}, 34);
  const auto intent = staged.intent();
  ASSERT_TRUE(intent);
  EXPECT_FALSE(intent->shared);
  const auto decoded = backends::http::decode_intent(intent->data);
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->target.starts_with("/dir/.fenceline-")) << decoded->target;
  EXPECT_TRUE(decoded->target.ends_with("-34")) << decoded->target;
  EXPECT_TRUE(nginx.content(decoded->target.substr(1)));
}

// The zombie proxy: it has staged and checked, then somebody newer revokes and writes.
TEST_F(HttpMove, ARevokedWriteIsStaleAndChangesNothing) {
  driver.put("a", "old");
  HttpStaged zombie = driver.stage("PUT", "a", "zombie", {}, 33);
  const std::string intent = zombie.intent()->data;
  HttpDriver newer(only_puts(nginx.port(), CommitMode::kMove));
  EXPECT_EQ(newer.revoke(intent).value(), Revocation::kRevoked);
  EXPECT_EQ(newer.put("a", "new", {}, 34).status / 100, 2);
  const Answer refused = zombie.commit();
  EXPECT_EQ(refused.error_name(), "stale-token");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_EQ(nginx.content("a"), "new");
  EXPECT_EQ(newer.revoke(intent).value(), Revocation::kRevoked) << "again and again";
}

TEST_F(HttpMove, RevokingAWriteThatHasTakenEffectChangesNothing) {
  HttpStaged done = driver.stage("PUT", "a", "one");
  const std::string intent = done.intent()->data;
  EXPECT_EQ(done.commit().status / 100, 2);
  EXPECT_EQ(driver.revoke(intent).value(), Revocation::kRevoked);
  EXPECT_EQ(nginx.content("a"), "one");
}

TEST_F(HttpMove, AnIntentOfAnotherUpstreamIsLeftToTheSettleRule) {
  EXPECT_EQ(driver.revoke("move http://elsewhere:80 /.fenceline-x-1").value(),
            Revocation::kUnknown);
  EXPECT_EQ(driver.revoke("").value(), Revocation::kUnknown);
}

TEST_F(HttpMove, WhileTheUpstreamIsAwayNothingIsRevoked) {
  HttpStaged staged = driver.stage("PUT", "a", "one");
  const std::string intent = staged.intent()->data;
  nginx.stop();
  const auto failed = driver.revoke(intent);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, base::ErrorKind::kUpstreamFailed);
  const Answer refused = staged.commit();
  EXPECT_EQ(refused.error_name(), "upstream-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo) << "nobody listens, so nothing was sent";
  nginx.start();
  EXPECT_EQ(driver.revoke(intent).value(), Revocation::kRevoked);
}

TEST_F(HttpMove, TheClientsConditionsCount) {
  EXPECT_EQ(driver.put("a", "x", {{"If-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_EQ(driver.put("a", "one", {{"If-None-Match", "*"}}).status / 100, 2);
  EXPECT_EQ(driver.put("a", "x", {{"If-None-Match", "*"}}).error_name(), "precondition-failed");
  const std::string tag = driver.get("a").field("ETag");
  EXPECT_EQ(driver.put("a", "x", {{"If-Match", "\"other\""}}).error_name(), "precondition-failed");
  EXPECT_EQ(driver.put("a", "longer", {{"If-Match", tag}}).status / 100, 2);
  EXPECT_EQ(nginx.content("a"), "longer");
  EXPECT_EQ(driver.put("a", "x", {{"If-Match", "unquoted"}}).error_name(), "malformed-request");
  expect_no_leftovers();
}

TEST_F(HttpMove, WhatCannotBeMovedWholeIsRefused) {
  EXPECT_EQ(driver.put("dir/", "x").error_name(), "malformed-request");
  EXPECT_EQ(driver.put("a", "x", {{"Content-Range", "bytes 0-0/5"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(driver.put(std::string(1'800, 'n'), "x").error_name(), "target-too-long");
}

TEST_F(HttpMove, WhatTheUpstreamRefusesWhileStagingIsItsAnswer) {
  driver.put("file", "x");
  const Answer refused = driver.put("file/below", "x");  // The parent is a file.
  EXPECT_TRUE(refused.status == 409 || refused.error_name() == "upstream-failed")
      << refused.status << refused.error_name();
  if (refused.error) {
    EXPECT_EQ(refused.error->applied, Applied::kNo);
  }
  EXPECT_EQ(nginx.content("file"), "x");
}

TEST_F(HttpMove, ManyWritersOfOneResourceLeaveNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    HttpStaged one = driver.stage("PUT", "a", "one");
    HttpStaged two = driver.stage("PUT", "a", "two");
    EXPECT_EQ(two.commit().status / 100, 2);
    EXPECT_EQ(one.commit().status / 100, 2);
    EXPECT_EQ(nginx.content("a"), "one");
  }
  EXPECT_EQ(nginx.leftovers(), 0U);
}

// Every race of a commit against its revocation ends in one of two ways.
TEST_F(HttpMove, ACommitThatRacesItsRevocation) {
  HttpDriver newer(only_puts(nginx.port(), CommitMode::kMove));
  int moved = 0;
  for (int round = 0; round < 40; ++round) {
    const std::string old = "old " + std::to_string(round);
    const std::string fresh = "new " + std::to_string(round);
    driver.put("a", old);
    HttpStaged write = driver.stage("PUT", "a", fresh);
    const std::string intent = write.intent()->data;
    std::thread revoker([&] { EXPECT_EQ(newer.revoke(intent).value(), Revocation::kRevoked); });
    const Answer answer = write.commit();
    revoker.join();
    if (answer.status / 100 == 2) {
      ++moved;
      EXPECT_EQ(nginx.content("a"), fresh);
    } else if (answer.error->applied == Applied::kNo) {
      EXPECT_EQ(nginx.content("a"), old);
    }
    EXPECT_EQ(nginx.leftovers(), 0U);
  }
  RecordProperty("moved", moved);
}

TEST(HttpApache, IsNotUsedByMoveNorByConditions) {
  RealUpstream apache(UpstreamKind::kApache);
  HttpDriver driver(only_puts(apache.port(), CommitMode::kAuto));
  const auto capabilities = driver.backend().capabilities();
  EXPECT_EQ(capabilities.guarantee, Guarantee::kBounded) << capabilities.assumption;
  EXPECT_NE(capabilities.assumption.find("no MOVE"), std::string::npos) << capabilities.assumption;
  const HttpStaged staged = driver.stage("PUT", "a", "one");
  ASSERT_TRUE(staged.staged());
  EXPECT_EQ(staged.intent()->data, "") << "plain";
  EXPECT_EQ(driver.put("a", kLarge).status / 100, 2);
  EXPECT_TRUE(driver.get("a").content == kLarge);
  EXPECT_EQ(apache.leftovers(), 0U);
}

TEST(HttpApache, NamedMoveIsBoundedAndNeverTrusted) {
  RealUpstream apache(UpstreamKind::kApache);
  HttpDriver driver(only_puts(apache.port(), CommitMode::kMove));
  const auto capabilities = driver.backend().capabilities();
  EXPECT_EQ(capabilities.guarantee, Guarantee::kBounded);
  EXPECT_NE(capabilities.assumption.find("not proven"), std::string::npos);
  const HttpStaged staged = driver.stage("PUT", "a", "one");
  ASSERT_TRUE(staged.staged()) << staged.error().detail;
  EXPECT_EQ(driver.revoke(staged.intent()->data).value(), Revocation::kUnknown)
      << "the settle rule decides";
}

TEST(HttpAuto, TakesMoveOnNginxAndPlainForTheRest) {
  RealUpstream nginx(UpstreamKind::kNginx);
  HttpDriver driver(options_for(nginx.port(), CommitMode::kAuto));
  const auto capabilities = driver.backend().capabilities();
  EXPECT_EQ(capabilities.guarantee, Guarantee::kBounded);
  for (const auto& operation : capabilities.operations) {
    EXPECT_EQ(operation.guarantee,
              operation.operation == "PUT" ? Guarantee::kStrict : Guarantee::kBounded)
        << operation.operation << ": " << operation.how;
  }
  driver.put("a", "one");
  const HttpStaged removal = driver.stage("DELETE", "a", {});
  EXPECT_EQ(removal.intent()->data, "");
}

TEST(HttpAuto, AnUpstreamThatCameBackAsAnotherIsProbedAgain) {
  RealUpstream nginx(UpstreamKind::kNginx);
  HttpDriver driver(only_puts(nginx.port(), CommitMode::kAuto));
  EXPECT_EQ(driver.backend().capabilities().guarantee, Guarantee::kStrict);
  nginx.stop();
  EXPECT_EQ(driver.get("a").error_name(), "upstream-failed");
  RealUpstream apache(UpstreamKind::kApache, nginx.port());
  driver.get("a");
  wait_until("the second probe", [&] {
    return !driver.backend().out_of_service() &&
           driver.backend().capabilities().guarantee == Guarantee::kBounded;
  });
  const HttpStaged staged = driver.stage("PUT", "a", "one");
  EXPECT_EQ(staged.intent()->data, "");
}

TEST(HttpAuto, RefusesWritesUntilTheUpstreamIsThere) {
  const std::uint16_t port = free_port();
  HttpDriver driver(only_puts(port, CommitMode::kAuto));
  ASSERT_TRUE(driver.backend().out_of_service());
  const Answer refused = driver.put("a", "one");
  EXPECT_EQ(refused.error_name(), "upstream-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  RealUpstream nginx(UpstreamKind::kNginx, port);
  wait_until("the probe to succeed", [&] { return !driver.backend().out_of_service(); });
  EXPECT_EQ(driver.put("a", "one").status / 100, 2);
  EXPECT_EQ(driver.backend().capabilities().guarantee, Guarantee::kStrict);
}

}  // namespace
}  // namespace fenceline::testing
