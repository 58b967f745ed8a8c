// A write that lands late: the upstream gets it when its connection was closed long ago and its
// client was told that nobody knows. Worker A has token 33, worker B has taken over with 34.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"
#include "tests/system/files_server.h"
#include "tests/system/late_fixture.h"

namespace fenceline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The same resource as the upstream names it, and requests about it.
constexpr const char* kTarget = "/acme/report.csv";
constexpr const char* kPut = "PUT /acme/report.csv";
constexpr const char* kDelete = "DELETE /acme/report.csv";

// Goes upstream in one send, at the commit: where it is parked, the commit has begun.
constexpr std::string_view kSmall = "a small report of worker A";

class LateConditionalTest : public LateWriteTest {
 protected:
  LateConditionalTest() { serve(upstream_.port(), "commit: conditional, settle: manual"); }
  ~LateConditionalTest() override { end(); }
  LateConditionalTest(const LateConditionalTest&) = delete;
  LateConditionalTest& operator=(const LateConditionalTest&) = delete;

  void lose_change_of_a() {
    EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
    lose_upload_of_a(kPut);
  }

  /// What the upstream says when A's write arrives at last.
  void expect_late_write_refused() {
    EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 412")));
  }

  ConditionalUpstream upstream_;
};

TEST_F(LateConditionalTest, AWriterIsNotHeldUpAndTheLateWriteIsRefused) {
  lose_change_of_a();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AFencedReadIsNotHeldUpAndStaysTrue) {
  lose_change_of_a();
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, kBefore);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kBefore);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AnotherRouteOfTheKeySealsItToo) {
  lose_change_of_a();
  EXPECT_EQ(server_->put(kOtherRoute, 34, kOfB).status, 201);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kBefore);
  expect_all_settled();
}

TEST_F(LateConditionalTest, ARestartSealsWhatItFindsOnRecord) {
  lose_change_of_a();
  server_->kill_and_restart();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AWriterThatComesDuringTheCommitWaitsForItsEndAndGoesOn) {
  EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
  relay_->park(kPut);
  RawClient a(server_->process().port());
  a.send(fenced_put(kLatePath, 33, upload_of_a()));
  relay_->wait_for_parked(kPut);
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_unknown(a.receive());
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AClientThatGoesAwayDuringTheCommitLeavesNothingInTheWay) {
  EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
  relay_->park(kPut);
  RawClient a(server_->process().port());
  a.send(fenced_put(kLatePath, 33, upload_of_a()));
  relay_->wait_for_parked(kPut);
  a.reset();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, ALateDeleteIsRefused) {
  EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
  relay_->park(kDelete);
  expect_unknown(server_->ask("DELETE", kLatePath, 33));
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver(kDelete), ElementsAre(StartsWith("HTTP/1.1 412")));
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AReaderWaitsForACreationUntilItHasLanded) {
  lose_upload_of_a(kPut);
  expect_not_applied(server_->ask("GET", kLatePath, 34), 503, "draining");
  expect_not_applied(server_->put(kOtherRoute, 34, kOfB), 503, "draining");
  EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 201")));
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, upload_of_a());
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
}

TEST_F(LateConditionalTest, AWriterTakesThePlaceOfACreation) {
  lose_upload_of_a(kPut);
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 201);
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, kOfB);
  EXPECT_EQ(server_->put(kOtherRoute, 34, kOfB).status, 201);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
}

// Deleted, the resource would be in the state again that the late creation waits for.
TEST_F(LateConditionalTest, NobodyDeletesWhatALateCreationWouldBringBack) {
  lose_upload_of_a(kPut);
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 201);
  const Response held = server_->ask("DELETE", kLatePath, 34);
  expect_not_applied(held, 503, "draining");
  EXPECT_THAT(held.body, HasSubstr("bring the state back"));
  server_->kill_and_restart();
  expect_not_applied(server_->ask("DELETE", kLatePath, 35), 503, "draining");
  expect_late_write_refused();
  settle_key();
  EXPECT_EQ(server_->ask("DELETE", kLatePath, 35).status, 204);
  EXPECT_FALSE(upstream_.content(kTarget));
}

// Its ETags are hashes of the content: what was there can come back with its tag.
class LateReturningTest : public LateWriteTest {
 protected:
  LateReturningTest() {
    serve(upstream_.port(), "commit: conditional, settle: manual");
    EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
    lose_upload_of_a(kPut);
  }
  ~LateReturningTest() override { end(); }
  LateReturningTest(const LateReturningTest&) = delete;
  LateReturningTest& operator=(const LateReturningTest&) = delete;

  ConditionalUpstream upstream_{{.tags_by_content = true}};
};

TEST_F(LateReturningTest, BWaitsWhileTheResourceIsAsAFoundIt) {
  for (const Response& answer :
       {server_->put(kLatePath, 34, kOfB), server_->ask("GET", kLatePath, 34),
        server_->put(kOtherRoute, 34, kOfB)}) {
    expect_not_applied(answer, 503, "draining");
  }
  server_->kill_and_restart();
  expect_not_applied(server_->ask("GET", kLatePath, 34), 503, "draining");
  EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 204")));
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, upload_of_a());
  EXPECT_EQ(server_->put("/exports/acme/other.csv", 34, kOfB).status, 201);
}

TEST_F(LateReturningTest, BMayDeleteWhatAWaitsFor) {
  EXPECT_EQ(server_->ask("DELETE", kLatePath, 34).status, 204);
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).status, 404);
  EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 412")));
  EXPECT_FALSE(upstream_.content(kTarget));
}

// The same bytes as before would have the tag that A's write waits for.
TEST_F(LateReturningTest, BDoesNotWriteWhatCouldBringTheTagBack) {
  EXPECT_EQ(server_->ask("DELETE", kLatePath, 34).status, 204);
  expect_not_applied(server_->put(kLatePath, 34, kBefore), 503, "draining");
  EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 412")));
  settle_key();
  EXPECT_EQ(server_->put(kLatePath, 34, kBefore).status, 201);
  EXPECT_EQ(upstream_.content(kTarget), kBefore);
  expect_all_settled();
}

class LateMoveTest : public LateWriteTest {
 protected:
  LateMoveTest() {
    serve(upstream_.port(), "commit: move, settle: manual");
    EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 204) << "nginx answers every MOVE so";
  }
  ~LateMoveTest() override { end(); }
  LateMoveTest(const LateMoveTest&) = delete;
  LateMoveTest& operator=(const LateMoveTest&) = delete;

  /// The proxy can withdraw the write neither: nobody knows anything.
  void lose_move_of_a() {
    relay_->park("DELETE ", 2);  // At the end of the commit, and by the clean-up behind it.
    lose_upload_of_a("MOVE ");
    relay_->wait_for_parked("DELETE ", 2);
    EXPECT_EQ(upstream_.leftovers(), 1U) << "the temporary resource of A";
  }

  void expect_late_move_found_nothing(std::string_view content) {
    EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
    EXPECT_THAT(relay_->deliver("DELETE "),
                ElementsAre("HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found"));
    EXPECT_EQ(upstream_.content("acme/report.csv"), content);
    EXPECT_EQ(upstream_.leftovers(), 0U);
    expect_all_settled();
  }

  RealUpstream upstream_{UpstreamKind::kNginx};
};

TEST_F(LateMoveTest, AWriterIsNotHeldUpAndTheLateMoveFindsNothing) {
  lose_move_of_a();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_late_move_found_nothing(kOfB);
}

TEST_F(LateMoveTest, AFencedReadIsNotHeldUpAndStaysTrue) {
  lose_move_of_a();
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, kBefore);
  expect_late_move_found_nothing(kBefore);
}

TEST_F(LateMoveTest, AnotherRouteOfTheKeyDeletesTheTemporaryToo) {
  lose_move_of_a();
  EXPECT_EQ(server_->put(kOtherRoute, 34, kOfB).status, 201);
  expect_late_move_found_nothing(kBefore);
}

TEST_F(LateMoveTest, ARestartDeletesWhatItFindsOnRecord) {
  lose_move_of_a();
  server_->kill_and_restart();
  EXPECT_EQ(upstream_.leftovers(), 1U);
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_late_move_found_nothing(kOfB);
}

TEST_F(LateMoveTest, BIsRefusedWhileNobodyCanDeleteTheTemporary) {
  relay_->park("DELETE ", 3);
  lose_upload_of_a("MOVE ");
  relay_->wait_for_parked("DELETE ", 2);
  const Response refusal = server_->put(kLatePath, 34, kOfB);
  expect_not_applied(refusal, 503, "draining");
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
  EXPECT_EQ(upstream_.content("acme/report.csv"), kOfB);
  wait_until("no temporary to be left", [&] { return upstream_.leftovers() == 0; });
}

TEST_F(LateMoveTest, AMoveThatCouldBeWithdrawnIsNotInDoubt) {
  relay_->park("MOVE ");
  const Response answer = server_->put(kLatePath, 33, upload_of_a());
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, HasSubstr("\"applied\":\"no\""));
  EXPECT_EQ(server_->metric("fenceline_unsettled_writes"), 0);
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
  EXPECT_EQ(upstream_.content("acme/report.csv"), kOfB);
  EXPECT_EQ(upstream_.leftovers(), 0U);
}

class LatePlainTest : public LateWriteTest {
 protected:
  ~LatePlainTest() override { end(); }
  LatePlainTest() = default;
  LatePlainTest(const LatePlainTest&) = delete;
  LatePlainTest& operator=(const LatePlainTest&) = delete;

  void lose_change_of_a(std::string_view settings) {
    serve(upstream_.port(), settings);
    EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
    lose_upload_of_a(kPut);
  }

  void late_write_lands() {
    EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 204")));
    EXPECT_EQ(upstream_.content(kTarget), upload_of_a());
  }

  ConditionalUpstream upstream_;
};

TEST_F(LatePlainTest, BWaitsAcrossAKillUntilAnOperatorHasSeenItLand) {
  lose_change_of_a("commit: plain, settle: 1h");
  expect_b_waits("It counts as settled in ");
  server_->kill_and_restart();
  expect_b_waits("It counts as settled in ");
  EXPECT_EQ(server_->process().stop(), 0);
  server_->restart();
  expect_b_waits("It counts as settled in ");
  EXPECT_EQ(server_->content(kLatePath), kBefore) << "a read without a token takes what there is";

  late_write_lands();
  expect_b_waits("It counts as settled in ");
  settle_key();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, kOfB);
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LatePlainTest, WhereOnlyAnOperatorCanTellBIsToldSo) {
  lose_change_of_a("commit: plain, settle: manual");
  expect_b_waits("Only an operator can tell (settle: manual)", false);
  server_->kill_and_restart();
  expect_b_waits("Only an operator can tell (settle: manual)", false);
  late_write_lands();
  settle_key();
  EXPECT_EQ(server_->ask("GET", kLatePath, 34).body, upload_of_a());
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status, 204);
  expect_all_settled();
}

TEST_F(LatePlainTest, BSucceedsWhenTheWindowIsOver) {
  lose_change_of_a("commit: plain, settle: 2s");
  late_write_lands();  // Within the window, as the guarantee asks.
  Response answer = server_->put(kLatePath, 34, kOfB);
  expect_not_applied(answer, 503, "draining");
  EXPECT_THAT(answer.field("Retry-After"), ::testing::AnyOf("1", "2"));
  wait_until("B to be let in", [&] {
    answer = server_->put(kLatePath, 34, kOfB);
    return answer.status != 503;
  });
  EXPECT_EQ(answer.status, 204) << answer.body;
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
  EXPECT_THAT(server_->process().log(), HasSubstr("the settle window of the older write is over"));
}

TEST_F(LatePlainTest, AHolderIsNotHeldUpByItsOwnWrites) {
  lose_change_of_a("commit: plain, settle: 1h");
  EXPECT_EQ(server_->put(kLatePath, 33, "again").status, 204);
  EXPECT_EQ(server_->ask("GET", kLatePath, 33).body, "again");
  expect_b_waits("It counts as settled in ");
  server_->kill_and_restart();
  expect_b_waits("It counts as settled in ");
}

/// What is on record is durable before the last byte has left.
TEST_F(LatePlainTest, AKillDuringTheCommitLeavesItOnRecord) {
  serve(upstream_.port(), "commit: plain, settle: 1h");
  relay_->park(kPut);
  RawClient a(server_->process().port());
  a.send(fenced_put(kLatePath, 33, kSmall));
  relay_->wait_for_parked(kPut);
  server_->kill_and_restart();
  expect_b_waits("It counts as settled in ");
  EXPECT_THAT(relay_->deliver(kPut), ElementsAre(StartsWith("HTTP/1.1 ")));
  settle_key();
  EXPECT_EQ(server_->put(kLatePath, 34, kOfB).status / 100, 2);
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
}

TEST_F(LatePlainTest, AStopDuringTheCommitLeavesItOnRecord) {
  serve(upstream_.port(), "commit: plain, settle: 1h");
  relay_->park(kPut);
  RawClient a(server_->process().port());
  a.send(fenced_put(kLatePath, 33, kSmall));
  relay_->wait_for_parked(kPut);
  EXPECT_EQ(server_->process().stop(), 0);
  expect_unknown(a.receive());
  server_->restart();
  expect_b_waits("It counts as settled in ");
}

}  // namespace
}  // namespace fenceline::testing
