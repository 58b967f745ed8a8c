// Conditional writes where an entity tag can come back: a hash of the content (model d3_burn).

#include <gtest/gtest.h>

#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"

namespace fenceline::testing {
namespace {

using backends::Bearing;
using backends::Guarantee;
using backends::Revocation;
using backends::http::CommitMode;

backends::http::HttpOptions strict_options(std::uint16_t port) {
  auto options = options_for(port, CommitMode::kAuto);
  options.methods = {"GET", "HEAD", "PUT", "DELETE", "POST"};
  options.settle_after = std::nullopt;
  return options;
}

class HttpReturningTags : public ::testing::Test {
 protected:
  HttpReturningTags() { driver.put("a", "one"); }
  ConditionalUpstream upstream{{.tags_by_content = true}};
  HttpDriver driver{strict_options(upstream.port())};
};

TEST_F(HttpReturningTags, AutoTakesConditionsAndEachWriteIsOnRecordWithItsOwn) {
  for (const auto& one : driver.backend().capabilities().operations) {
    EXPECT_EQ(one.guarantee, one.operation == "POST" ? Guarantee::kBounded : Guarantee::kStrict)
        << one.operation << ": " << one.how;
  }
  const std::string tag = driver.get("a").field("ETag");
  const HttpStaged change = driver.stage("PUT", "a", "two");
  const HttpStaged removal = driver.stage("DELETE", "a", {});
  EXPECT_TRUE(change.intent()->data.ends_with(" /a " + tag)) << change.intent()->data;
  EXPECT_EQ(change.intent()->data, removal.intent()->data) << "one state, one intent";
  EXPECT_FALSE(change.intent()->shared);
}

TEST_F(HttpReturningTags, AnOlderWriteIsDormantWhileItsTagIsNotThere) {
  const std::string older = driver.stage("PUT", "a", "zombie", {}, 33).intent()->data;
  EXPECT_EQ(driver.revoke(older).value(), Revocation::kUnknown) << "it could land right now";
  upstream.put("/a", "two");
  EXPECT_EQ(driver.revoke(older).value(), Revocation::kDormant);
  upstream.put("/a", "one");
  EXPECT_EQ(driver.revoke(older).value(), Revocation::kUnknown) << "the tag is back";
  driver.remove("a");
  EXPECT_EQ(driver.revoke(older).value(), Revocation::kDormant);
  EXPECT_EQ(upstream.requests("PUT").back().body, "one") << "nothing was written again";
}

TEST_F(HttpReturningTags, WhatMayBringTheTagBackRevives) {
  const std::string older = driver.stage("PUT", "a", "zombie", {}, 33).intent()->data;
  EXPECT_EQ(driver.stage("PUT", "a", "two", {}, 34).bearing_on(older), Bearing::kRevives)
      << "nobody knows its tag before it is there";
  EXPECT_EQ(driver.stage("DELETE", "a", {}, {}, 34).bearing_on(older), Bearing::kReplaces);
  EXPECT_EQ(driver.stage("PUT", "b", "two", {}, 34).bearing_on(older), Bearing::kNone);
  EXPECT_EQ(driver.stage("POST", "b", "two", {}, 34).bearing_on(older), Bearing::kRevives)
      << "it may do anything";
}

TEST_F(HttpReturningTags, ALostRaceIsNotRunAgainUnderAConditionThatIsNotOnRecord) {
  HttpStaged staged = driver.stage("PUT", "a", "two");
  upstream.put("/a", "somebody else's");
  EXPECT_EQ(staged.commit().error_name(), "overloaded");
  EXPECT_EQ(upstream.content("/a"), "somebody else's");
}

TEST_F(HttpReturningTags, ATagThatWasGoneForAMomentIsALostRaceToo) {
  HttpStaged staged = driver.stage("PUT", "a", "two");
  upstream.on_request([](const UpstreamRequest& request) -> std::optional<Reaction> {
    return request.method == "PUT"
               ? std::optional(Reaction{
                     .applies = false,
                     .answer = "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n"})
               : std::nullopt;
  });
  EXPECT_EQ(staged.commit().error_name(), "overloaded");
}

}  // namespace
}  // namespace fenceline::testing
