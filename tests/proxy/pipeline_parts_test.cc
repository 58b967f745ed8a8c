// A DeleteObjects request that is a write for each of its objects: all of them pass the fence or
// none, and then each is by itself.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/proxy/s3_pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

using backends::WriteIntent;
using base::Applied;
using base::Error;
using base::ErrorKind;
using testing::FakePart;

const Error kLost{ErrorKind::kUpstreamTimeout, "no answer", Applied::kUnknown, {}};
const Error kRefused{ErrorKind::kOverloaded, "lost the race", Applied::kNo, {}};

FakePart part(const std::string& intent, std::optional<Error> fails_with = {}) {
  return {.intent = WriteIntent{.data = intent, .shared = false},
          .fails_with = std::move(fails_with)};
}

class PipelinePartsTest : public PipelineS3Test {
 protected:
  PipelinePartsTest() { backend_->parts = {part("of a"), part("of b"), part("of c")}; }

  base::Reply remove(const std::string& token = "fence-5") {
    return send("POST", "/media?delete", token, deletion_of({"a", "b", "c"}));
  }

  /// A write of one object.
  int put(const std::string& key, const std::string& token) {
    const auto parts = std::exchange(backend_->parts, {});
    const int status = send("PUT", "/media/" + key, token).status;
    backend_->parts = parts;
    return status;
  }

  /// The request, up to the commit of its first object, which is held.
  std::shared_ptr<Call> hold_first() {
    backend_->holds_parts = true;
    auto call = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
    call->body.feed(deletion_of({"a", "b", "c"}));
    call->body.end();
    settle();
    EXPECT_FALSE(call->reply.has_value());
    return call;
  }

  void release() {
    ASSERT_TRUE(backend_->release_commit());
    settle();
  }
};

TEST_F(PipelinePartsTest, EachIsCommittedInItsOrder) {
  const base::Reply deleted = remove();
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(field(deleted, "Fencing-Highest"), "5");
  EXPECT_NE(text(deleted).find("<Deleted><Key>a</Key></Deleted><Deleted><Key>b</Key></Deleted>"
                               "<Deleted><Key>c</Key></Deleted></DeleteResult>"),
            std::string::npos)
      << text(deleted);
  EXPECT_EQ(backend_->events, (Events{"stage ", "commit 0", "commit 1", "commit 2"}));
  EXPECT_FALSE(intents_.any_unsettled());
  EXPECT_TRUE(ledger_.intents.empty()) << "nothing stays on record of what is known";
  EXPECT_EQ(put("b", "fence-4"), 412);
  EXPECT_EQ(put("b", "fence-6"), 201);
}

TEST_F(PipelinePartsTest, AStaleTokenForOneChangesNothing) {
  EXPECT_EQ(put("b", "fence-7"), 201);
  backend_->events.clear();
  const base::Reply stale = remove("fence-6");
  EXPECT_EQ(stale.status, 412);
  EXPECT_NE(text(stale).find("<FencingKey>media/b</FencingKey>"), std::string::npos);
  EXPECT_TRUE(backend_->events.empty()) << backend_->events.front();
}

TEST_F(PipelinePartsTest, EachIsOnRecordUnderItsKeyBeforeTheFirstIsCommitted) {
  backend_->parts[1].intent.reset();
  auto call = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  call->body.feed(deletion_of({"c", "a", "b"}));
  call->body.end();
  poll();
  for (int i = 0; i < 4; ++i) {  // three raises, one record
    ledger_.answer();
    poll();
  }
  EXPECT_EQ(backend_->events, (Events{"stage "}));
  ledger_.answer();
  backend_->holds_parts = true;
  poll();
  ASSERT_EQ(ledger_.intents.size(), 2U);
  for (const auto& intent : ledger_.intents) {
    EXPECT_EQ(intent.key, intent.data == "of a" ? "media/c" : "media/b") << intent.data;
  }
  backend_->holds_parts = false;
  release();
  EXPECT_TRUE(call->reply.has_value());
}

TEST_F(PipelinePartsTest, OneThatCannotBeRecordedStopsAll) {
  auto call = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  call->body.feed(deletion_of({"a", "b", "c"}));
  call->body.end();
  poll();
  for (int i = 0; i < 5; ++i) {
    ledger_.answer();
  }
  ledger_.refuse();
  settle();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 503);
  EXPECT_EQ(backend_->events, (Events{"stage "}));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelinePartsTest, OneInDoubtHoldsBackItsKeyAlone) {
  backend_->parts[1].fails_with = kLost;
  const base::Reply told = remove();
  EXPECT_EQ(told.status, 200);
  EXPECT_NE(text(told).find("<Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>InternalError"
                            "</Code><Message>no answer</Message><FencingApplied>unknown"
                            "</FencingApplied></Error><Deleted><Key>c</Key></Deleted>"),
            std::string::npos)
      << text(told);
  const auto unsettled = intents_.list_unsettled("", 10);
  ASSERT_EQ(unsettled.size(), 1U);
  EXPECT_EQ(unsettled[0].intent.data, "of b");
  backend_->can.settle_after.reset();
  EXPECT_EQ(put("a", "fence-6"), 201);
  EXPECT_EQ(put("b", "fence-5"), 201) << "its own holder is not held back";
  EXPECT_EQ(put("b", "fence-6"), 503);
  EXPECT_EQ(put("c", "fence-6"), 201);
}

TEST_F(PipelinePartsTest, OneInDoubtWithoutARecordHoldsTheGate) {
  backend_->parts[1] = {.fails_with = kLost};
  EXPECT_EQ(remove().status, 200);
  EXPECT_EQ(put("b", "fence-6"), 503);
  EXPECT_EQ(put("a", "fence-6"), 201);
}

TEST_F(PipelinePartsTest, OneThatCouldNotBeStagedIsToldAndNotCommitted) {
  backend_->parts[0] = {.fails_with = kRefused, .staged = false};
  const base::Reply told = remove();
  EXPECT_NE(text(told).find("<Error><Key>a</Key><Code>SlowDown</Code>"), std::string::npos);
  EXPECT_EQ(backend_->events, (Events{"stage ", "commit 1", "commit 2"}));
}

TEST_F(PipelinePartsTest, WhoIsNewerWaitsForOneObjectOnly) {
  const auto zombie = hold_first();
  const auto put_newer = [this](const std::string& target) {
    const auto parts = std::exchange(backend_->parts, {});
    auto newer = start("PUT", target, {{"X-Amz-Security-Token", "fence-6"}});
    newer->body.end();
    settle();
    backend_->parts = parts;
    return newer;
  };
  const auto first = put_newer("/media/a");
  const auto second = put_newer("/media/b");
  EXPECT_FALSE(first->reply.has_value()) << "the older request is inside";
  EXPECT_FALSE(second->reply.has_value());
  release();
  ASSERT_TRUE(first->reply.has_value()) << "its object is done";
  EXPECT_EQ(first->reply->status, 201);
  ASSERT_TRUE(second->reply.has_value()) << "its object is left alone";
  EXPECT_EQ(second->reply->status, 201);
  EXPECT_FALSE(zombie->reply.has_value());
  release();
  ASSERT_TRUE(zombie->reply.has_value());
  EXPECT_NE(text(*zombie->reply)
                .find("<Deleted><Key>a</Key></Deleted><Error><Key>b</Key>"
                      "<Code>PreconditionFailed</Code><Message>Token 5 is older than 6"),
            std::string::npos)
      << text(*zombie->reply);
  EXPECT_NE(text(*zombie->reply).find("<Deleted><Key>c</Key></Deleted>"), std::string::npos);
  EXPECT_EQ(backend_->events,
            (Events{"stage ", "stage a", "stage b", "commit 0", "commit", "commit", "commit 2"}));
  EXPECT_EQ(field(*zombie->reply, "Fencing-Highest"), "6");
  const auto refusals = rejections_.latest(10);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].highest.value(), 6);
}

/// One fence for all of the bucket.
class PipelinePartsOneFenceTest : public PipelinePartsTest {
 protected:
  PipelinePartsOneFenceTest() {
    pending_.pop_back();
    add_s3_route("media", "/media/{key...}", "media", config::Writes::kRequired);
  }
};

TEST_F(PipelinePartsOneFenceTest, WhoIsNewerStopsTheRest) {
  const auto zombie = hold_first();
  const auto parts = std::exchange(backend_->parts, {});
  auto newer = start("PUT", "/media/other", {{"X-Amz-Security-Token", "fence-6"}});
  newer->body.end();
  settle();
  EXPECT_FALSE(newer->reply.has_value());
  release();
  ASSERT_TRUE(newer->reply.has_value());
  EXPECT_EQ(newer->reply->status, 201);
  ASSERT_TRUE(zombie->reply.has_value());
  EXPECT_EQ(backend_->events, (Events{"stage ", "stage other", "commit 0", "commit"}));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(PipelinePartsOneFenceTest, EachIsOnRecordUnderTheOneKey) {
  backend_->parts[2].fails_with = kLost;
  EXPECT_EQ(remove().status, 200);
  const auto unsettled = intents_.list_unsettled("", 10);
  ASSERT_EQ(unsettled.size(), 1U);
  EXPECT_EQ(unsettled[0].intent.key, "media");
  EXPECT_EQ(unsettled[0].intent.data, "of c");
}

TEST_F(PipelinePartsTest, NoneBeginsWhenTheTimeIsOver) {
  const auto call = hold_first();
  timers_.advance(base::MonotonicTime{} + kPartsLimit + base::Milliseconds(20));
  release();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_NE(text(*call->reply)
                .find("<Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>SlowDown</Code>"),
            std::string::npos)
      << text(*call->reply);
  EXPECT_EQ(backend_->events, (Events{"stage ", "commit 0"}));
  EXPECT_FALSE(intents_.any_unsettled()) << "what was not begun is off the record";
}

/// An older deletion of "b" is in doubt, and this one is to replace it.
class PipelinePartsReplaceTest : public PipelinePartsTest {
 protected:
  PipelinePartsReplaceTest() {
    backend_->parts[1].fails_with = kLost;
    remove("fence-4");
    backend_->parts[1].fails_with.reset();
    backend_->events.clear();
    backend_->bearing = backends::Bearing::kReplaces;
    backend_->can.settle_after.reset();
  }
};

TEST_F(PipelinePartsReplaceTest, SuccessNeedsNoSecondLook) {
  EXPECT_EQ(remove().status, 200);
  EXPECT_EQ(backend_->events, (Events{"stage ", "commit 0", "commit 1", "commit 2"}));
}

TEST_F(PipelinePartsReplaceTest, NothingIsAcknowledgedWhereItWasNotReplaced) {
  backend_->parts[1].fails_with = kRefused;
  const base::Reply told = remove();
  EXPECT_EQ(told.status, 503) << text(told);
  EXPECT_NE(text(told).find("<FencingApplied>unknown</FencingApplied>"), std::string::npos);
  EXPECT_NE(text(told).find("Send it again"), std::string::npos) << text(told);
  EXPECT_EQ(backend_->events,
            (Events{"stage ", "commit 0", "commit 1", "commit 2", "revoke of b"}));
  backend_->revokes = backends::Revocation::kRevoked;
  const base::Reply harmless = remove();
  EXPECT_EQ(harmless.status, 200) << "the older one takes no effect any more";
  EXPECT_NE(text(harmless).find("<Error><Key>b</Key><Code>SlowDown</Code>"), std::string::npos);
}

}  // namespace
}  // namespace fenceline::proxy
