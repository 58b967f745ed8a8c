#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::Bearing;
using backends::Guarantee;
using backends::Revocation;
using backends::http::CommitMode;
using base::Applied;

const std::string kLarge(3'000'000, 'x');

backends::http::HttpOptions strict_options(std::uint16_t port, CommitMode commit) {
  auto options = options_for(port, commit);
  options.methods = {"GET", "HEAD", "PUT", "DELETE"};
  options.settle_after = std::nullopt;
  return options;
}

class HttpConditional : public ::testing::Test {
 protected:
  HttpConditional() { upstream.forget(); }
  ConditionalUpstream upstream;
  HttpDriver driver{strict_options(upstream.port(), CommitMode::kAuto)};
};

TEST_F(HttpConditional, IsWhatAutoFindsOnARightfulUpstream) {
  const auto capabilities = driver.backend().capabilities();
  EXPECT_EQ(capabilities.guarantee, Guarantee::kStrict) << capabilities.assumption;
  EXPECT_TRUE(upstream.targets().empty()) << "the probe cleans up";
}

TEST_F(HttpConditional, EveryWriteCarriesAConditionOfItsOwn) {
  EXPECT_EQ(driver.put("a", "one").status, 201);
  EXPECT_EQ(driver.put("a", "two").status, 204);
  EXPECT_EQ(driver.put("a", kLarge).status, 204);
  EXPECT_EQ(driver.remove("a").status, 204);
  const auto puts = upstream.requests("PUT");
  EXPECT_EQ(puts.at(0).field("If-None-Match"), "*");
  EXPECT_TRUE(puts.at(1).field("If-Match").starts_with('"'));
  EXPECT_TRUE(puts.at(2).field("If-Match").starts_with('"'));
  EXPECT_TRUE(upstream.requests("DELETE").at(0).field("If-Match").starts_with('"'));
  EXPECT_FALSE(upstream.content("/a"));
}

TEST_F(HttpConditional, TheTagIsReadBeforeTheWriteIsAllowed) {
  driver.put("a", "one");
  upstream.forget();
  HttpStaged staged = driver.stage("PUT", "a", "two");
  EXPECT_EQ(upstream.requests("HEAD").size(), 1U);
  EXPECT_EQ(upstream.requests("PUT").size(), 0U);
  upstream.forget();
  EXPECT_EQ(staged.commit().status, 204);
  EXPECT_EQ(upstream.requests("HEAD").size(), 0U);
}

TEST_F(HttpConditional, ALostRaceStartsAgainWithTheNewTag) {
  driver.put("a", "one");
  HttpStaged staged = driver.stage("PUT", "a", "two");
  upstream.put("/a", "somebody else's");
  EXPECT_EQ(staged.commit().status, 204);
  EXPECT_EQ(upstream.content("/a"), "two");
}

TEST_F(HttpConditional, ALostRaceOfABodyThatWasNotKeptIsRefused) {
  driver.put("a", "one");
  HttpStaged staged = driver.stage("PUT", "a", kLarge);
  ASSERT_TRUE(staged.staged());
  upstream.put("/a", "somebody else's");
  const Answer refused = staged.commit();
  EXPECT_EQ(refused.error_name(), "overloaded") << refused.status;
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_EQ(upstream.content("/a"), "somebody else's");
}

TEST_F(HttpConditional, RacesAreLostAFewTimesOnly) {
  driver.put("a", "one");
  std::atomic<int> puts = 0;
  upstream.on_request([&](const UpstreamRequest& request) -> std::optional<Reaction> {
    if (request.method == "PUT") {
      upstream.put("/a", "other " + std::to_string(++puts));
    }
    return std::nullopt;
  });
  const Answer refused = driver.put("a", "two");
  EXPECT_EQ(refused.error_name(), "overloaded");
  EXPECT_EQ(puts, 5);
}

// Somebody's creation has come and was deleted between our PUT and the look at what was in its way.
TEST_F(HttpConditional, WhatWasThereForAMomentIsALostRaceToo) {
  std::atomic<int> puts = 0;
  upstream.on_request([&](const UpstreamRequest& request) -> std::optional<Reaction> {
    if (request.method == "PUT" && ++puts <= 2) {
      return Reaction{.applies = false,
                      .answer = "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n"};
    }
    return std::nullopt;
  });
  EXPECT_EQ(driver.put("a", "one").status, 201);
  EXPECT_EQ(puts, 3);
  // One that goes on for ever is never told as a condition of the client's, who had none.
  puts = -1'000;
  EXPECT_EQ(driver.put("b", "one").error_name(), "overloaded");
}

TEST_F(HttpConditional, AResourceThatVanishesIsNotCreatedUnderAnotherIntent) {
  driver.put("a", "one");
  HttpStaged staged = driver.stage("PUT", "a", "two");
  EXPECT_EQ(driver.remove("a").status, 204);
  EXPECT_EQ(staged.commit().error_name(), "overloaded");
  EXPECT_FALSE(upstream.content("/a"));
}

TEST_F(HttpConditional, TheClientsConditionsMustHoldForWhatWasRead) {
  EXPECT_EQ(driver.put("a", "x", {{"If-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_EQ(driver.put("a", "one", {{"If-None-Match", "*"}}).status, 201);
  EXPECT_EQ(driver.put("a", "x", {{"If-None-Match", "*"}}).error_name(), "precondition-failed");
  const std::string tag = driver.get("a").field("ETag");
  EXPECT_EQ(driver.put("a", "x", {{"If-Match", "\"other\""}}).error_name(), "precondition-failed");
  HttpStaged late = driver.stage("PUT", "a", "late", {{"If-Match", tag}});
  EXPECT_EQ(driver.put("a", "two", {{"If-Match", tag}}).status, 204);
  const Answer refused = late.commit();
  EXPECT_EQ(refused.error_name(), "precondition-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_EQ(upstream.content("/a"), "two");
}

TEST_F(HttpConditional, DeletingWhatIsNotThere) {
  const Answer refused = driver.remove("nothing");
  EXPECT_EQ(refused.error_name(), "not-found");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_EQ(upstream.requests("DELETE").size(), 0U);
}

// The heart of it: the answer to an old write is lost, the write itself is still on its way.
TEST_F(HttpConditional, ASealMakesALateWriteHarmless) {
  auto impatient = strict_options(upstream.port(), CommitMode::kAuto);
  impatient.client.first_byte = base::Milliseconds(1'000);
  HttpDriver proxy(impatient);
  proxy.put("a", "one", {{"Content-Type", "text/x"}});
  HttpStaged old = proxy.stage("PUT", "a", "zombie", {}, 33);
  EXPECT_TRUE(old.intent()->shared);
  std::promise<void> late;
  auto told = late.get_future().share();
  std::atomic<bool> landed = false;
  upstream.on_request([&, told](const UpstreamRequest& request) -> std::optional<Reaction> {
    if (request.body == "zombie") {
      told.wait();
      landed = true;
    }
    return std::nullopt;
  });
  const Answer unknown = old.commit();
  EXPECT_EQ(unknown.error_name(), "upstream-timeout");
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);

  EXPECT_EQ(proxy.revoke(old.intent()->data).value(), Revocation::kRevoked);
  EXPECT_EQ(upstream.content("/a"), "one");
  EXPECT_EQ(proxy.get("a").field("Content-Type"), "text/x") << "the seal keeps what describes it";
  late.set_value();
  wait_until("the write to land", [&] { return landed.load(); });
  EXPECT_EQ(proxy.put("a", "two", {}, 34).status, 204);
  EXPECT_EQ(upstream.content("/a"), "two") << "the late write has lost its condition";
}

TEST_F(HttpConditional, SealsOfLargeResourcesAreStreamed) {
  driver.put("a", kLarge);
  const HttpStaged old = driver.stage("PUT", "a", "zombie", {}, 33);
  EXPECT_EQ(driver.revoke(old.intent()->data).value(), Revocation::kRevoked);
  EXPECT_TRUE(upstream.content("/a") == kLarge);
}

TEST_F(HttpConditional, WhatIsAbsentIsSafeFromIfMatchButNotFromACreation) {
  driver.put("a", "one");
  const HttpStaged change = driver.stage("PUT", "a", "two", {}, 33);
  const HttpStaged removal = driver.stage("DELETE", "a", {}, {}, 33);
  const HttpStaged creation = driver.stage("PUT", "b", "one", {}, 33);
  driver.remove("a");
  EXPECT_EQ(driver.revoke(change.intent()->data).value(), Revocation::kRevoked);
  EXPECT_EQ(driver.revoke(removal.intent()->data).value(), Revocation::kRevoked);
  EXPECT_EQ(driver.revoke(creation.intent()->data).value(), Revocation::kUnknown)
      << "the settle rule decides";
}

TEST_F(HttpConditional, ACreationIsDormantWhileThereIsSomething) {
  const HttpStaged creation = driver.stage("PUT", "b", "one", {}, 33);
  const std::string older = creation.intent()->data;
  EXPECT_FALSE(creation.intent()->shared) << "off the record as soon as it has ended";
  EXPECT_EQ(driver.stage("PUT", "b", "two", {}, 34).bearing_on(older), Bearing::kReplaces);
  EXPECT_EQ(driver.put("b", "other", {}, 34).status, 201);
  EXPECT_EQ(driver.revoke(older).value(), Revocation::kDormant);
  EXPECT_EQ(driver.stage("DELETE", "b", {}, {}, 34).bearing_on(older), Bearing::kRevives);
  EXPECT_EQ(driver.stage("DELETE", "c", {}, {}, 34).bearing_on(older), Bearing::kNone);
}

TEST_F(HttpConditional, ACreationThatWasOvertakenDoesNotBecomeAChange) {
  HttpStaged creation = driver.stage("PUT", "a", "one");
  HttpStaged only_new = driver.stage("PUT", "a", "two", {{"If-None-Match", "*"}});
  upstream.put("/a", "somebody else's");
  EXPECT_EQ(creation.commit().error_name(), "overloaded") << "another kind is on record";
  EXPECT_EQ(only_new.commit().error_name(), "precondition-failed");
  EXPECT_EQ(upstream.content("/a"), "somebody else's");
}

TEST_F(HttpConditional, ADeleteOfNothingIsNotOnRecord) {
  EXPECT_FALSE(driver.stage("DELETE", "nothing", {}).intent());
}

TEST_F(HttpConditional, ASealThatRacesStartsAgain) {
  driver.put("a", "one");
  const HttpStaged old = driver.stage("PUT", "a", "zombie", {}, 33);
  std::atomic<int> puts = 0;
  upstream.on_request([&](const UpstreamRequest& request) -> std::optional<Reaction> {
    if (request.method == "PUT" && ++puts < 3) {
      upstream.put("/a", "changed " + std::to_string(puts));
    }
    return std::nullopt;
  });
  EXPECT_EQ(driver.revoke(old.intent()->data).value(), Revocation::kRevoked);
  EXPECT_EQ(upstream.content("/a"), "changed 2");
}

TEST_F(HttpConditional, ALostAnswerIsInDoubt) {
  driver.put("a", "one");
  upstream.on_request([](const UpstreamRequest& request) -> std::optional<Reaction> {
    return request.method == "PUT" ? std::optional(Reaction{.closes = true}) : std::nullopt;
  });
  const Answer unknown = driver.put("a", "two");
  EXPECT_EQ(unknown.error_name(), "upstream-failed");
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
  EXPECT_EQ(upstream.content("/a"), "two");
}

}  // namespace
}  // namespace fenceline::testing
