// Writes with an Idempotency-Key: where they stand in the protocol, and what becomes of repeats.

#include <algorithm>

#include "proxy/claim_outcome.h"
#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

using ::testing::Test;
using Fields = std::vector<std::pair<std::string, std::string>>;

class PipelineOnceTest : public PipelineTest {
 protected:
  void SetUp() override { pending_.front().idempotency.emplace(); }

  static Fields with_key(const std::string& token, const std::string& key) {
    return {{"Fencing-Token", token}, {"Idempotency-Key", key}};
  }

  base::Reply put(const std::string& token, const std::string& key, const std::string& content,
                  const char* path = kFile) {
    auto call = start("PUT", path, with_key(token, key));
    if (!content.empty()) {
      call->body.feed(content);
    }
    call->body.end();
    settle();
    EXPECT_TRUE(call->reply.has_value());
    return call->reply ? std::move(*call->reply) : base::Reply{};
  }

  [[nodiscard]] std::size_t commits() const {
    return static_cast<std::size_t>(std::ranges::count(backend_->events, "commit"));
  }

  base::KeptRow& only_row() {
    EXPECT_EQ(answers_.rows.size(), 1U);
    return answers_.rows.begin()->second;
  }

  /// As after the end of a process between the claim and the answer.
  void leave_a_claim(const std::string& before) {
    put("1", "k", "content");
    only_row().claimed_by = "lost";
    only_row().before = before;
    only_row().answer = {};
    backend_->events.clear();
  }
};

TEST_F(PipelineOnceTest, ARepeatedWriteIsAnsweredAndNotDone) {
  const base::Reply first = put("1", "k", "content");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(field(first, "Idempotency-Replayed"), "");
  const base::Reply second = put("1", "k", "content");
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(field(second, "Idempotency-Replayed"), "true");
  EXPECT_EQ(field(second, "Fencing-Highest"), "1");
  EXPECT_EQ(commits(), 1U);
  // In quotes it is the same key; under a newer token the same request.
  EXPECT_EQ(field(put("2", "\"k\"", "content"), "Idempotency-Replayed"), "true");
  EXPECT_EQ(commits(), 1U);
}

TEST_F(PipelineOnceTest, AStaleTokenIsRefusedBeforeAnyReplay) {
  EXPECT_EQ(put("1", "k", "content").status, 201);
  EXPECT_EQ(put("2", "other", "content").status, 201);
  EXPECT_EQ(put("1", "k", "content").status, 412);
}

TEST_F(PipelineOnceTest, AnotherRequestWithTheKeyIsRefused) {
  EXPECT_EQ(put("1", "k", "content").status, 201);
  EXPECT_EQ(put("1", "k", "other").status, 422);
  EXPECT_EQ(put("1", "k", "content", "/exports/acme/b.csv").status, 422);
  auto removal = start("DELETE", kFile, with_key("1", "k"));
  removal->body.end();
  settle();
  EXPECT_EQ(removal->reply->status, 422);
  EXPECT_EQ(commits(), 1U);
  // Another fence is another scope.
  EXPECT_EQ(put("1", "k", "other", "/exports/globex/a.csv").status, 201);
  EXPECT_EQ(commits(), 2U);
}

TEST_F(PipelineOnceTest, AnotherCallerGetsNoAnswerOfThisOne) {
  const auto put_as = [this](const std::string& who) {
    Fields fields = with_key("1", "k");
    if (!who.empty()) {
      fields.emplace_back("Authorization", who);
    }
    return finish("PUT", kFile, fields);
  };
  EXPECT_EQ(put_as("Bearer one").status, 201);
  EXPECT_EQ(put_as("Bearer two").status, 422);
  EXPECT_EQ(put_as("").status, 422);
  EXPECT_EQ(field(put_as("Bearer one"), "Idempotency-Replayed"), "true");
  EXPECT_EQ(commits(), 1U);
}

TEST_F(PipelineOnceTest, ACookieIsNotKept) {
  backend_->sets_cookie = "session=1";
  EXPECT_EQ(field(put("1", "k", "content"), "Set-Cookie"), "session=1");
  const base::Reply second = put("1", "k", "content");
  EXPECT_EQ(field(second, "Idempotency-Replayed"), "true");
  EXPECT_EQ(field(second, "Set-Cookie"), "");
}

TEST_F(PipelineOnceTest, WhileOneRunsTheOthersAreRefused) {
  auto first = start("PUT", kFile, with_key("1", "k"));
  settle();
  EXPECT_EQ(put("1", "k", "content").status, 409);
  EXPECT_EQ(put("1", "other", "content").status, 201);
  first->body.end();
  settle();
  EXPECT_EQ(first->reply->status, 201);
  EXPECT_EQ(field(put("1", "k", ""), "Idempotency-Replayed"), "true");
}

TEST_F(PipelineOnceTest, WhatHadNoEffectIsForgotten) {
  backend_->commit_fails_with = base::Error{base::ErrorKind::kPreconditionFailed, "No."};
  EXPECT_EQ(put("1", "k", "content").status, 412);
  EXPECT_TRUE(answers_.rows.empty());
  backend_->commit_fails_with.reset();
  EXPECT_EQ(put("1", "k", "content").status, 201);
  EXPECT_EQ(commits(), 2U);
}

TEST_F(PipelineOnceTest, AClaimIsDurableBeforeTheEffect) {
  backend_->holds_commits = true;
  auto call = start("PUT", kFile, with_key("1", "k"));
  call->body.end();
  settle();
  EXPECT_EQ(commits(), 0U);
  EXPECT_EQ(only_row().claimed_by, "r-1");
  EXPECT_EQ(only_row().before, "-");
  EXPECT_TRUE(backend_->release_commit());
  settle();
  EXPECT_EQ(only_row().claimed_by, "");
  EXPECT_EQ(only_row().answer.status, 201);
}

TEST_F(PipelineOnceTest, WithoutTheLedgerNothingIsDone) {
  answers_.fails_with = base::Error{base::ErrorKind::kLedgerUnavailable, "Gone."};
  EXPECT_EQ(put("1", "k", "content").status, 503);
  EXPECT_EQ(commits(), 0U);
}

TEST_F(PipelineOnceTest, AClaimIsSettledByTheStamp) {
  leave_a_claim("-");
  backend_->wrote_last = {.exists = true, .request_id = "lost"};
  const base::Reply reply = put("1", "k", "content");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(field(reply, "Idempotency-Replayed"), "true");
  EXPECT_EQ(commits(), 0U);
  EXPECT_EQ(only_row().answer.status, 204);
}

TEST_F(PipelineOnceTest, AClaimWithoutEffectIsDoneNow) {
  leave_a_claim("before");
  backend_->wrote_last = {.exists = true, .request_id = "before"};
  const base::Reply reply = put("1", "k", "content");
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(field(reply, "Idempotency-Replayed"), "");
  EXPECT_EQ(commits(), 1U);
  EXPECT_EQ(only_row().claimed_by, "");
}

TEST_F(PipelineOnceTest, AnUnknownOutcomeIsSaid) {
  leave_a_claim("before");
  backend_->wrote_last = {.exists = true, .request_id = "somebody else"};
  const base::Reply reply = put("1", "k", "content");
  EXPECT_EQ(reply.status, 409);
  EXPECT_NE(text(reply).find(R"("applied":"unknown")"), std::string::npos);
  EXPECT_EQ(commits(), 0U);
  EXPECT_EQ(only_row().claimed_by, "lost");
  // Nothing was begun, so nobody has to wait for it.
  EXPECT_EQ(put("2", "other", "content").status, 201);
}

TEST_F(PipelineOnceTest, AnUpstreamThatFailedInTheMiddleLeavesTheClaim) {
  for (const int status : {500, 502, 504}) {
    backend_->commit_answers = status;
    const std::string key = std::to_string(status);
    EXPECT_EQ(put("1", key, "content").status, status);
    EXPECT_EQ(put("1", key, "content").status, 409);
  }
  for (const int status : {400, 404, 503}) {
    backend_->commit_answers = status;
    const std::string key = std::to_string(status);
    EXPECT_EQ(put("1", key, "content").status, status);
    EXPECT_EQ(put("1", key, "content").status, status) << "it is tried again";
  }
}

TEST_F(PipelineOnceTest, WhatIsReconstructedIsSaidToBeReplayedOnce) {
  leave_a_claim("before");
  backend_->wrote_last = {.exists = true, .request_id = "lost"};
  EXPECT_EQ(field(put("1", "k", "content"), "Idempotency-Replayed"), "true");
  const base::Reply again = put("1", "k", "content");
  EXPECT_EQ(again.status, 204);
  const auto fields = again.fields.list();
  EXPECT_EQ(std::ranges::count(fields, "Idempotency-Replayed", &base::OwnedField::first), 1);
}

TEST_F(PipelineOnceTest, AnUnknownCommitLeavesTheClaim) {
  backend_->commit_fails_with =
      base::Error{base::ErrorKind::kUpstreamTimeout, "Gone.", base::Applied::kUnknown};
  EXPECT_EQ(put("1", "k", "content").status, 504);
  EXPECT_EQ(only_row().claimed_by, "r-1");
}

TEST_F(PipelineOnceTest, AKeyMayBeRequired) {
  pending_.front().idempotency->required = true;
  auto call = start("PUT", kFile, {{"Fencing-Token", "1"}});
  call->body.end();
  settle();
  EXPECT_EQ(call->reply->status, 400);
  EXPECT_NE(text(*call->reply).find("idempotency-key-required"), std::string::npos);
  EXPECT_EQ(finish("GET", kFile, {{"Fencing-Token", "1"}}).status, 200);
  EXPECT_EQ(put("1", "k", "content").status, 201);
}

TEST_F(PipelineOnceTest, WhereItIsNotAskedForTheFieldIsNotLookedAt) {
  pending_.front().idempotency.reset();
  EXPECT_EQ(put("1", "k", "content").status, 201);
  EXPECT_EQ(put("1", "k", "other").status, 201);
  EXPECT_EQ(put("1", " bad key ", "x").status, 201);
  EXPECT_EQ(commits(), 3U);
}

TEST(ClaimOutcome, IsDecidedByWhoWroteLast) {
  const base::KeptRow claim{.print = "p", .claimed_by = "me", .before = "old", .answer = {}};
  const base::KeptRow created{.print = "p", .claimed_by = "me", .before = "-", .answer = {}};
  const base::KeptRow blind{.print = "p", .claimed_by = "me", .before = "", .answer = {}};
  const backends::LastWrite mine{true, "me"};
  const backends::LastWrite old{true, "old"};
  const backends::LastWrite other{true, "other"};
  const backends::LastWrite unstamped{true, ""};
  const backends::LastWrite absent{};
  using enum ClaimOutcome;
  for (const bool removes : {false, true}) {
    EXPECT_EQ(outcome_of_claim(claim, mine, removes, true), kApplied);
    EXPECT_EQ(outcome_of_claim(claim, old, removes, false), kNotApplied);
    EXPECT_EQ(outcome_of_claim(claim, old, removes, true), kUnknown);
    EXPECT_EQ(outcome_of_claim(claim, other, removes, false), kUnknown);
    EXPECT_EQ(outcome_of_claim(created, absent, removes, false), removes ? kNotApplied : kUnknown);
    EXPECT_EQ(outcome_of_claim(blind, unstamped, removes, false), kUnknown);
  }
  EXPECT_EQ(outcome_of_claim(claim, absent, true, true), kApplied);
  EXPECT_EQ(outcome_of_claim(claim, absent, false, false), kUnknown);
}

TEST_F(PipelineOnceTest, AnUnknownOutcomeOfStagingKeepsTheKey) {
  backend_->stage_fails_with =
      base::Error{base::ErrorKind::kUpstreamFailed, "too early", base::Applied::kUnknown};
  EXPECT_EQ(put("1", "k", "content").status, 502);
  EXPECT_EQ(only_row().claimed_by, "r-1");
  backend_->events.clear();
  for (const char* content : {"content", "content", "other"}) {
    const base::Reply reply = put("1", "k", content);
    EXPECT_EQ(reply.status, 409);
    EXPECT_NE(text(reply).find(R"("applied":"unknown")"), std::string::npos) << text(reply);
  }
  EXPECT_EQ(backend_->events, Events{}) << "nothing has gone to the upstream again";
  backend_->stage_fails_with.reset();
  EXPECT_EQ(put("1", "another", "content").status, 201);
}

TEST_F(PipelineOnceTest, AfterARestartTheClaimOfAnUnreadBodyIsThere) {
  backend_->stage_fails_with =
      base::Error{base::ErrorKind::kUpstreamFailed, "too early", base::Applied::kUnknown};
  EXPECT_EQ(put("1", "k", "content").status, 502);
  backend_->stage_fails_with.reset();
  Repeats fresh(answers_);
  pipeline_.emplace(
      PipelineParts{*routes_, gate_, intents_, audit_, staged_, clock_, {"Fencing-Token"}, fresh});
  const base::Reply reply = put("1", "k", "content");
  EXPECT_EQ(reply.status, 409);
  EXPECT_NE(text(reply).find(R"("applied":"unknown")"), std::string::npos) << text(reply);
  EXPECT_EQ(commits(), 0U);
}

TEST_F(PipelineOnceTest, AStageThatDidNothingLeavesTheKeyFree) {
  backend_->stage_fails_with = base::Error{base::ErrorKind::kUpstreamFailed, "gone"};
  EXPECT_EQ(put("1", "k", "content").status, 502);
  EXPECT_TRUE(answers_.rows.empty());
  backend_->stage_fails_with.reset();
  EXPECT_EQ(put("1", "k", "content").status, 201);
}

}  // namespace
}  // namespace fenceline::proxy
