// The order of the protocol, seen from outside: each test says what may have happened at the
// backend when the answer is given.

#include "proxy/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

TEST_F(PipelineTest, AWriteIsStagedThenCommittedAndSaysTheMark) {
  const base::Reply reply = finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(field(reply, "Fencing-Highest"), "33");
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit"}));
  EXPECT_EQ(backend_->last_stamp->key, "exports/acme");
  EXPECT_EQ(backend_->last_stamp->token, Token::of(33));
  EXPECT_EQ(backend_->last_stamp->request_id, "r-1");
}

TEST_F(PipelineTest, TheZombieStory) {
  auto zombie = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.answer();
  poll();
  EXPECT_TRUE(zombie->body.asked) << "the upload has begun";
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
  zombie->body.end();
  settle();
  ASSERT_TRUE(zombie->reply.has_value());
  EXPECT_EQ(zombie->reply->status, 412);
  EXPECT_EQ(field(*zombie->reply, "Fencing-Highest"), "34");
  EXPECT_NE(text(*zombie->reply).find(R"("applied":"no")"), std::string::npos);
  EXPECT_NE(text(*zombie->reply).find(R"("presented":"33")"), std::string::npos);
  EXPECT_NE(text(*zombie->reply).find(R"("highest":"34")"), std::string::npos);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit", "stage acme/a.csv", "drop"}));
  ASSERT_EQ(rejections_.latest(10).size(), 1U);
  EXPECT_EQ(rejections_.latest(1)[0].presented, Token::of(33));
}

TEST_F(PipelineTest, AStaleTokenIsRefusedBeforeItsBodyIsAskedFor) {
  finish("PUT", kFile, {{"Fencing-Token", "34"}});
  auto late = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ASSERT_TRUE(late->reply.has_value());
  EXPECT_EQ(late->reply->status, 412);
  EXPECT_FALSE(late->body.asked);
}

TEST_F(PipelineTest, TheBodyIsStagedWhileTheRaiseRuns) {
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_TRUE(call->body.asked);
  ASSERT_EQ(ledger_.waiting(), 1U);
  call->body.end();
  poll();
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv"})) << "committed before it was durable";
  ledger_.answer();
  poll();
  EXPECT_EQ(call->reply->status, 201);
}

TEST_F(PipelineTest, AFailedRaiseIs503AndNothingIsCommitted) {
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  call->body.end();
  poll();
  ledger_.refuse();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 503);
  EXPECT_FALSE(field(*call->reply, "Retry-After").empty());
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "drop"}));
}

TEST_F(PipelineTest, AnUnreadableLedgerIs503BeforeTheBody) {
  ledger_.answer_finds = false;
  auto call = start("PUT", kFile, {{"Fencing-Token", "33"}});
  ledger_.refuse();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 503);
  EXPECT_FALSE(call->body.asked);
}

TEST_F(PipelineTest, AFencedReadRaisesTheMarkBeforeItReads) {
  auto read = start("GET", kFile, {{"Fencing-Token", "34"}});
  EXPECT_TRUE(backend_->events.empty()) << "read before the mark was durable";
  settle();
  EXPECT_EQ(read->reply->status, 200);
  EXPECT_EQ(field(*read->reply, "Fencing-Highest"), "34");
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "33"}}).status, 412);
}

TEST_F(PipelineTest, AFencedReadWaitsForAnOlderCommit) {
  backend_->holds_commits = true;
  auto write = start("PUT", kFile, {{"Fencing-Token", "33"}});
  write->body.end();
  settle();
  auto read = start("GET", kFile, {{"Fencing-Token", "34"}});
  settle();
  EXPECT_FALSE(write->reply.has_value());
  EXPECT_FALSE(read->reply.has_value()) << "read beside the commit of an older token";
  ASSERT_TRUE(backend_->release_commit());
  settle();
  ASSERT_TRUE(write->reply.has_value() && read->reply.has_value());
  EXPECT_EQ(write->reply->status, 201);
  EXPECT_EQ(read->reply->status, 200);
  EXPECT_EQ(backend_->events, (Events{"stage acme/a.csv", "commit", "read acme/a.csv"}));
}

TEST_F(PipelineTest, AReadWithoutATokenAsksNobody) {
  ledger_.answer_finds = false;
  auto read = start("GET", kFile, {});
  ASSERT_TRUE(read->reply.has_value());
  EXPECT_EQ(read->reply->status, 200);
  EXPECT_EQ(ledger_.waiting(), 0U);
}

TEST_F(PipelineTest, AnUnknownOutcomeIsSaidAndKeepsNewerTokensOut) {
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kStorageFailed, "directory fsync", base::Applied::kUnknown, {}};
  const base::Reply unknown = finish("PUT", kFile, {{"Fencing-Token", "33"}});
  EXPECT_EQ(unknown.status, 500);
  EXPECT_NE(text(unknown).find(R"("applied":"unknown")"), std::string::npos);
  backend_->commit_fails_with.reset();
  const base::Reply newer = finish("PUT", kFile, {{"Fencing-Token", "34"}});
  EXPECT_EQ(newer.status, 503);
  EXPECT_NE(text(newer).find("problem:draining"), std::string::npos);
}

TEST_F(PipelineTest, ARefusedPreconditionLeavesTheGate) {
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kPreconditionFailed, "If-Match", base::Applied::kNo, {}};
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "33"}}).status, 412);
  backend_->commit_fails_with.reset();
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 201);
}

TEST_F(PipelineTest, RefusalsBeforeTheFenceComeInTheOrderOfTheDesign) {
  EXPECT_EQ(finish("PUT", "/exports/acme/%2f", {{"Fencing-Token", "x"}}).status, 400);
  EXPECT_EQ(finish("PUT", "/elsewhere", {{"Fencing-Token", "x"}}).status, 404);
  const base::Reply method = finish("POST", kFile, {{"Fencing-Token", "x"}});
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(field(method, "Allow"), "GET, HEAD, PUT, DELETE");
  const base::Reply token = finish("PUT", kFile, {{"Fencing-Token", "x"}});
  EXPECT_EQ(token.status, 400);
  EXPECT_NE(text(token).find("malformed-token"), std::string::npos);
  EXPECT_EQ(finish("PUT", kFile, {}).status, 428);
  EXPECT_EQ(finish("DELETE", kFile, {}).status, 428);
  EXPECT_TRUE(backend_->events.empty());
  EXPECT_EQ(gate_.highest(*base::FenceKey::parse("exports/acme")), Token());
}

TEST_F(PipelineTest, ADeclaredLengthAboveTheLimitIsRefusedBeforeTheToken) {
  auto call = std::make_shared<Call>();
  call->head.method = base::Method::kPut;
  call->head.method_text = "PUT";
  call->head.path = kFile;
  call->head.content_length = 101;
  base::spawn(io_, run(pipeline(), timers_, *call), testing::nothing_thrown);
  poll();
  EXPECT_EQ(call->reply->status, 413);
  EXPECT_FALSE(call->body.asked);
}

TEST_F(PipelineTest, APutWithoutALengthIsRefused) {
  auto call = std::make_shared<Call>();
  call->head.method = base::Method::kPut;
  call->head.method_text = "PUT";
  call->head.path = kFile;
  base::spawn(io_, run(pipeline(), timers_, *call), testing::nothing_thrown);
  poll();
  EXPECT_EQ(call->reply->status, 411);
  EXPECT_TRUE(backend_->events.empty());
  EXPECT_EQ(gate_.highest(*base::FenceKey::parse("exports/acme")), Token());
}

TEST_F(PipelineTest, TwoRoutesThatNameOneFenceShareIt) {
  add_route("rows", "/rows/{tenant}/{id}", "exports/{tenant}");
  EXPECT_EQ(finish("PUT", "/rows/acme/1", {{"Fencing-Token", "40"}}).status, 201);
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "39"}}).status, 412);
  EXPECT_EQ(finish("PUT", "/exports/other/a.csv", {{"Fencing-Token", "39"}}).status, 201);
}

TEST_F(PipelineTest, AnObservingRouteLetsEveryFenceRefusalPassAndRecordsIt) {
  add_route("watched", "/watched/{name}", "watched").enforce = false;
  EXPECT_EQ(finish("PUT", "/watched/a", {{"Fencing-Token", "34"}}).status, 201);
  EXPECT_EQ(finish("PUT", "/watched/a", {{"Fencing-Token", "33"}}).status, 201);
  EXPECT_EQ(finish("PUT", "/watched/a", {}).status, 201);
  EXPECT_EQ(finish("PUT", "/watched/a", {{"Fencing-Token", "x"}}).status, 201);
  const auto seen = rejections_.latest(10);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(std::ranges::none_of(seen, [](const Rejection& each) { return each.enforced; }));
  EXPECT_EQ(gate_.highest(*base::FenceKey::parse("watched")), Token::of(34));
}

TEST_F(PipelineTest, OptionalWritesPassWithoutATokenAndAreFencedWithOne) {
  add_route("loose", "/loose/{name}", "loose").writes = config::Writes::kOptional;
  EXPECT_EQ(finish("PUT", "/loose/a", {}).status, 201);
  EXPECT_EQ(finish("PUT", "/loose/a", {{"Fencing-Token", "5"}}).status, 201);
  EXPECT_EQ(finish("PUT", "/loose/a", {{"Fencing-Token", "4"}}).status, 412);
}

TEST_F(PipelineTest, ARouteThatDoesNotFenceNeverLooksAtTokens) {
  add_route("open", "/open/{name}", "open").writes = config::Writes::kOff;
  EXPECT_EQ(finish("PUT", "/open/a", {{"Fencing-Token", "x"}}).status, 201);
  EXPECT_EQ(finish("PUT", "/open/a", {{"Fencing-Token", "5"}}).status, 201);
  const base::Reply reply = finish("PUT", "/open/a", {{"Fencing-Token", "4"}});
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(field(reply, "Fencing-Highest"), "");
}

TEST_F(PipelineTest, ATokenTooFarAheadAndAnotherHolderAre409) {
  Route& route = add_route("near", "/near/{name}", "near");
  route.max_jump = 10;
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "5"}, {"Fencing-Holder", "a"}}).status,
            201);
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "16"}}).status, 409);
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "5"}, {"Fencing-Holder", "b"}}).status,
            409);
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "15"}}).status, 201);
}

TEST_F(PipelineTest, TheFirstTokenOfAKeyMayBeAnyDistanceAhead) {
  add_route("near", "/near/{name}", "near/{name}").max_jump = 10;
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "1000000"}}).status, 201);
  EXPECT_EQ(finish("PUT", "/near/a", {{"Fencing-Token", "1000011"}}).status, 409);
}

TEST_F(PipelineTest, AProblemNamesItsRequest) {
  const base::Reply reply = finish("PUT", kFile, {});
  EXPECT_NE(text(reply).find(R"("instance":"urn:fenceline:request:r-1")"), std::string::npos);
}

TEST(SettlementTest, OnlyACertainNoIsNotApplied) {
  using fencing::Settlement;
  EXPECT_EQ(settlement_of(base::Reply{}), Settlement::kApplied);
  const auto with = [](base::Applied applied) {
    return base::Result<base::Reply>(base::fail(base::ErrorKind::kStorageFailed, "x", applied));
  };
  EXPECT_EQ(settlement_of(with(base::Applied::kNo)), Settlement::kNotApplied);
  EXPECT_EQ(settlement_of(with(base::Applied::kUnknown)), Settlement::kInDoubt);
  EXPECT_EQ(settlement_of(with(base::Applied::kYes)), Settlement::kInDoubt);
}

}  // namespace
}  // namespace fenceline::proxy
