// Writes that may outlive the proxy: they are on record before they are committed, and whoever is
// newer settles what is left of them before anything else.

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

class PipelineIntentsTest : public PipelineTest {
 protected:
  PipelineIntentsTest() {
    backend_->intent = backends::WriteIntent{.data = "there", .shared = true};
  }

  /// A write with token 33 whose outcome nobody knows.
  void leave_a_write_in_doubt() {
    backend_->commit_fails_with =
        base::Error{base::ErrorKind::kUpstreamTimeout, "no answer", base::Applied::kUnknown, {}};
    const base::Reply unknown = finish("PUT", kFile, {{"Fencing-Token", "33"}});
    EXPECT_EQ(unknown.status, 504);
    EXPECT_NE(text(unknown).find(R"("applied":"unknown")"), std::string::npos);
    backend_->commit_fails_with.reset();
    backend_->events.clear();
  }
};

TEST_F(PipelineIntentsTest, AWriteIsOnRecordBeforeItIsCommitted) {
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();  // the raise
  call->body.end();
  poll();
  ASSERT_EQ(ledger_.waiting(), 1U) << "the record";
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv"}));
  ledger_.answer();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 201);
}

TEST_F(PipelineIntentsTest, AHolderThatWritesAgainPaysOnce) {
  finish("PUT", kFile, {{"Fencing-Token", "33"}});
  auto again = start("PUT", kFile, {{"Fencing-Token", "33"}});
  again->body.end();
  poll();
  EXPECT_EQ(ledger_.waiting(), 0U);
  ASSERT_TRUE(again->reply.has_value());
  EXPECT_EQ(again->reply->status, 201);
}

TEST_F(PipelineIntentsTest, AWriteThatCannotBeRecordedIsNotCommitted) {
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();
  call->body.end();
  poll();
  ledger_.refuse();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 503);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "drop"}));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelineIntentsTest, AFinishedWriteHoldsNobodyBack) {
  finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit", "stage acme/a.csv", "commit"}));
}

TEST_F(PipelineIntentsTest, WhoIsNewerRevokesBeforeItCommits) {
  leave_a_write_in_doubt();
  backend_->revokes = backends::Revocation::kRevoked;
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "revoke there", "commit"}));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelineIntentsTest, AFencedReadRevokesBeforeItReads) {
  leave_a_write_in_doubt();
  backend_->revokes = backends::Revocation::kRevoked;
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 200);
  EXPECT_EQ(backend_->events, (Events{"revoke there", "read acme/a.csv"}));
}

TEST_F(PipelineIntentsTest, EveryRequestRevokesNotOnlyTheOneThatRaised) {
  leave_a_write_in_doubt();
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 503);
}

TEST_F(PipelineIntentsTest, TheSameTokenIsNotHeldBack) {
  leave_a_write_in_doubt();
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "33"}}).status, 201);
}

TEST_F(PipelineIntentsTest, WhatCannotBeRevokedIsWaitedForAndSaysHowLong) {
  leave_a_write_in_doubt();
  backend_->can.settle_after = base::Milliseconds(30'000);
  const base::Reply held = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(held.status, 503);
  EXPECT_NE(text(held).find("problem:draining"), std::string::npos);
  EXPECT_EQ(field(held, "Retry-After"), "30");
  EXPECT_TRUE(intents_.any_unsettled());
  backend_->can.settle_after = base::Milliseconds(0);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelineIntentsTest, WithoutARuleOnlyAnOperatorSettles) {
  leave_a_write_in_doubt();
  const base::Reply held = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(held.status, 503);
  EXPECT_NE(text(held).find("operator"), std::string::npos);
  const auto older = intents_.list_unsettled("", 10);
  ASSERT_EQ(older.size(), 1U);
  EXPECT_TRUE(intents_.settle(older[0].intent));
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
}

TEST_F(PipelineIntentsTest, AnUpstreamThatCannotBeAskedIs503) {
  leave_a_write_in_doubt();
  backend_->revokes = base::fail(base::ErrorKind::kUpstreamFailed, "connection refused");
  const base::Reply held = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(held.status, 503);
  EXPECT_NE(text(held).find("connection refused"), std::string::npos);
  EXPECT_TRUE(intents_.any_unsettled());
}

TEST_F(PipelineIntentsTest, AnotherRouteOfTheSameFenceSettlesToo) {
  add_route("rows", "/rows/{tenant}/{id}", "exports/{tenant}");
  leave_a_write_in_doubt();
  EXPECT_EQ(finish("PUT", "/rows/acme/1", {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(finish("PUT", "/rows/other/1", {{"Fencing-Token", "34"}}).status, 201);
}

TEST_F(PipelineIntentsTest, AWriteThatWasOvertakenWhileItStagedLeavesNothingOnRecord) {
  auto zombie = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();
  poll();
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  zombie->body.end();
  settle();
  ASSERT_TRUE(zombie->reply.has_value());
  EXPECT_EQ(zombie->reply->status, 412);
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelineIntentsTest, WhatIsDormantStaysOnRecordAndHoldsNobodyBack) {
  leave_a_write_in_doubt();
  backend_->revokes = backends::Revocation::kDormant;
  backend_->can.settle_after = base::Milliseconds(30'000);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "35"}}).status, 200);
  EXPECT_TRUE(intents_.any_unsettled());
  backend_->can.settle_after = base::Milliseconds(0);
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "35"}}).status, 200);
  EXPECT_FALSE(intents_.any_unsettled()) << "its window is over";
}

TEST_F(PipelineIntentsTest, AWriteThatWouldReviveAnOlderOneWaitsForItsRule) {
  leave_a_write_in_doubt();
  backend_->revokes = backends::Revocation::kDormant;
  backend_->bearing = backends::Bearing::kRevives;
  backend_->can.settle_after = base::Milliseconds(30'000);
  const base::Reply held = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(held.status, 503);
  EXPECT_EQ(field(held, "Retry-After"), "30");
  EXPECT_NE(text(held).find("bring the state back"), std::string::npos);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "drop"}));
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 200)
      << "a read revives nothing";
  backend_->can.settle_after = base::Milliseconds(0);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
}

TEST_F(PipelineIntentsTest, AWriteThatReplacesAnOlderOneNeedNotRevokeIt) {
  leave_a_write_in_doubt();
  backend_->bearing = backends::Bearing::kReplaces;
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit"}));
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 503)
      << "a read replaces nothing";
}

TEST_F(PipelineIntentsTest, ARefusalOfAReplacingWriteIsToldWhenTheOlderOneIsHarmless) {
  leave_a_write_in_doubt();
  backend_->bearing = backends::Bearing::kReplaces;
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kPreconditionFailed, "it exists", base::Applied::kNo, {}};
  const base::Reply refused = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(text(refused).find("problem:draining"), std::string::npos);
  EXPECT_NE(text(refused).find(R"("applied":"no")"), std::string::npos);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit", "revoke there"}));
  backend_->revokes = backends::Revocation::kDormant;
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 412) << "as it is";
}

// A DELETE that lands while the older writes are settled makes room for a creation that was looked
// at before and found harmless.
TEST_F(PipelineIntentsTest, WhatWasDormantIsLookedAtAgainWhenNothingCanWakeItAnyMore) {
  backend_->can.settle_after = base::Milliseconds(60'000);
  backend_->intent = backends::WriteIntent{.data = "a-creation"};
  leave_a_write_in_doubt();
  backend_->intent = backends::WriteIntent{.data = "b-delete"};
  leave_a_write_in_doubt();
  bool is_there = true;
  backend_->revoke_by = [&](std::string_view data) {
    if (data == "b-delete") {
      is_there = false;  // It has landed just now, and cannot land any more.
      return backends::Revocation::kRevoked;
    }
    return is_there ? backends::Revocation::kDormant : backends::Revocation::kUnknown;
  };
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(backend_->events,
            (Events{"revoke a-creation", "revoke b-delete", "revoke a-creation"}));
  is_there = true;
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 200) << "alone it cannot wake";
}

// What is kept for a key was not sent again: it has replaced nothing.
TEST_F(PipelineIntentsTest, ARepeatedWriteReplacesNothing) {
  pending_.front().idempotency.emplace();
  const auto repeated = [this](const std::string& token) {
    return finish("PUT", kFile, {{"Fencing-Token", token}, {"Idempotency-Key", "k"}});
  };
  EXPECT_EQ(repeated("32").status, 201);
  leave_a_write_in_doubt();
  backend_->bearing = backends::Bearing::kReplaces;
  EXPECT_EQ(repeated("34").status, 503);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "revoke there", "drop"}));
  backend_->revokes = backends::Revocation::kRevoked;
  const base::Reply reply = repeated("34");
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(field(reply, "Idempotency-Replayed"), "true");
}

// Whoever passes the last check before the newer token is announced is on record by then, so that
// the newer one finds it even where this process does not live on.
TEST_F(PipelineIntentsTest, TheFenceIsCheckedAfterTheRecord) {
  auto older = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();  // the raise
  older->body.end();
  poll();
  ASSERT_EQ(ledger_.waiting(), 1U) << "the record";
  auto newer = start("PUT", kFile, {{"Fencing-Token", "34"}});
  settle();
  ASSERT_TRUE(older->reply.has_value());
  EXPECT_EQ(older->reply->status, 412);
  EXPECT_FALSE(intents_.any_unsettled());
  newer->body.end();
  settle();
  ASSERT_TRUE(newer->reply.has_value());
  EXPECT_EQ(newer->reply->status, 201);
}

TEST_F(PipelineIntentsTest, WhatEndsInDoubtWhileTheNewerWriteWaitsIsRevokedToo) {
  backend_->holds_commits = true;
  auto older = start("PUT", kFile, {{"Fencing-Token", "33"}});
  older->body.end();
  settle();
  backend_->holds_commits = false;
  auto newer = start("PUT", kFile, {{"Fencing-Token", "34"}});
  newer->body.end();
  settle();
  EXPECT_FALSE(newer->reply.has_value()) << "the older commit is inside";
  backend_->events.clear();
  backend_->revokes = backends::Revocation::kRevoked;
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kUpstreamTimeout, "no answer", base::Applied::kUnknown, {}};
  ASSERT_TRUE(backend_->release_commit());
  settle();
  ASSERT_TRUE(newer->reply.has_value());
  EXPECT_EQ(backend_->events, (Events{"commit", "revoke there", "commit"}));
}

TEST_F(PipelineIntentsTest, WhatAnotherProxyHasWithdrawnIsNotTheFaultOfAKnownMark) {
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kStaleToken, "withdrawn", base::Applied::kNo, {}};
  const base::Reply refused = finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(field(refused, "Fencing-Highest"), "");
  EXPECT_EQ(text(refused).find("\"highest\""), std::string::npos) << text(refused);
  EXPECT_NE(text(refused).find(R"("presented":"33")"), std::string::npos) << text(refused);
}

TEST_F(PipelineIntentsTest, AMarkThatTheStoreHasIsLearnt) {
  backend_->intent.reset();
  base::Error stale{base::ErrorKind::kStaleToken, "the table has 50", base::Applied::kNo, {}};
  stale.store_mark = 50;
  backend_->commit_fails_with = stale;
  const base::Reply refused = finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(field(refused, "Fencing-Highest"), "50");
  backend_->commit_fails_with.reset();
  auto late = start("PUT", kFile, {{"Fencing-Token", "49"}});
  ASSERT_TRUE(late->reply.has_value());
  EXPECT_EQ(late->reply->status, 412);
  EXPECT_FALSE(late->body.asked);
  EXPECT_EQ(ledger_.marks["exports/acme"].token, Token::of(50));
}

TEST_F(PipelineIntentsTest, AnUnknownOutcomeOfStagingIsOnRecord) {
  backend_->stage_fails_with =
      base::Error{base::ErrorKind::kUpstreamFailed, "too early", base::Applied::kUnknown};
  const base::Reply unknown = finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(unknown.status, 502);
  EXPECT_NE(text(unknown).find(R"("applied":"unknown")"), std::string::npos);
  const auto older = intents_.list_unsettled("", 10);
  ASSERT_EQ(older.size(), 1U);
  EXPECT_EQ(older[0].intent.key, "exports/acme");
  EXPECT_EQ(older[0].intent.token, Token::of(33));
  EXPECT_EQ(older[0].intent.route, "exports");
  backend_->stage_fails_with.reset();
  backend_->can.settle_after = base::Milliseconds(30'000);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "34"}}).status, 503);
  EXPECT_EQ(finish("PUT", "/exports/globex/a", {{"Fencing-Token", "1"}}).status, 201);
  EXPECT_TRUE(intents_.settle(older[0].intent));
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
}

TEST_F(PipelineIntentsTest, AnUnknownOutcomeOfStagingIsOnRecordBeforeItIsAnswered) {
  backend_->stage_fails_with =
      base::Error{base::ErrorKind::kUpstreamFailed, "too early", base::Applied::kUnknown};
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();  // the raise
  call->body.end();
  poll();
  EXPECT_FALSE(call->reply.has_value());
  ASSERT_EQ(ledger_.waiting(), 1U) << "the record";
  ledger_.answer();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 502);
}

TEST_F(PipelineIntentsTest, AStageThatDidNothingIsNotOnRecord) {
  backend_->stage_fails_with = base::Error{base::ErrorKind::kUpstreamFailed, "gone"};
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "33"}}).status, 502);
  EXPECT_FALSE(intents_.any_unsettled());
}

}  // namespace
}  // namespace fenceline::proxy
