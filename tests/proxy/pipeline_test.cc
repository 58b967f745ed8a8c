// The order of the protocol, seen from outside: each test says what may have happened at the
// backend when the answer is given.

#include "proxy/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/spawn.h"
#include "tests/support/coroutine.h"
#include "tests/support/fake_backend.h"
#include "tests/support/manual_ledger.h"

namespace fenceline::proxy {
namespace {

using base::Token;
using Events = std::vector<std::string>;

/// One request under way.
struct Call {
  std::vector<std::string> storage;  ///< What the head's views point to.
  base::RequestHead head;
  testing::FedBody body;
  std::optional<base::Reply> reply;
};

base::Awaitable<void> run(Pipeline& pipeline, base::TimerWheel& timers, Call& call) {
  const Request request{call.head, call.body, "127.0.0.1:9", "r-1", timers};
  auto reply = co_await pipeline.handle(request);
  call.reply = std::move(reply);
}

std::string field(const base::Reply& reply, std::string_view name) {
  return std::string(reply.fields.find(name).value_or(""));
}

std::string text(const base::Reply& reply) {
  const auto* body = std::get_if<std::string>(&reply.body);
  return body == nullptr ? "" : *body;
}

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() { add_route("exports", "/exports/{tenant}/{path...}", "exports/{tenant}"); }

  Route& add_route(const std::string& name, const std::string& match, const std::string& fence) {
    auto pattern = *config::Pattern::parse(match);
    auto key = *config::FenceTemplate::parse(fence, pattern);
    pending_.push_back(Route{.name = name,
                             .pattern = pattern,
                             .fence = key,
                             .allow = "GET, HEAD, PUT, DELETE",
                             .methods = {"GET", "HEAD", "PUT", "DELETE"},
                             .writes = config::Writes::kRequired,
                             .enforce = true,
                             .max_jump = 0,
                             .max_body_bytes = 100,
                             .drain = base::Milliseconds(1000),
                             .body_idle = base::Milliseconds(1000),
                             .backend = backend_,
                             .guarantee = backends::Guarantee::kStrict,
                             .guarantee_reason = "",
                             .metrics = RouteMetrics(registry_, name)});
    return pending_.back();
  }

  Pipeline& pipeline() {
    if (!pipeline_) {
      routes_.emplace(std::move(pending_));
      pipeline_.emplace(PipelineParts{
          *routes_, gate_, audit_, staged_, clock_, {"Fencing-Token", "X-Fencing-Token"}});
    }
    return *pipeline_;
  }

  /// Starts a request; `fields` are "Name: value".
  std::shared_ptr<Call> start(std::string_view method, std::string_view path,
                              std::initializer_list<std::pair<std::string, std::string>> fields) {
    auto call = std::make_shared<Call>();
    call->head.method = base::method_from(method);
    call->head.method_text = method;
    call->head.path = path;
    call->head.chunked = call->head.method == base::Method::kPut;
    call->storage.reserve(2 * fields.size());
    for (const auto& [name, value] : fields) {
      call->storage.push_back(name);
      call->storage.push_back(value);
      call->head.fields.push_back({call->storage[call->storage.size() - 2], call->storage.back()});
    }
    base::spawn(io_, run(pipeline(), timers_, *call), testing::nothing_thrown);
    calls_.push_back(call);
    poll();
    return call;
  }

  /// A request from its first to its last byte, with every ledger call answered.
  base::Reply finish(std::string_view method, std::string_view path,
                     std::initializer_list<std::pair<std::string, std::string>> fields) {
    auto call = start(method, path, fields);
    call->body.end();
    settle();
    EXPECT_TRUE(call->reply.has_value()) << "no answer";
    return call->reply ? std::move(*call->reply) : base::Reply{};
  }

  void poll() {
    io_.restart();
    io_.poll();
  }

  void settle() {
    poll();
    while (ledger_.waiting() > 0) {
      ledger_.answer();
      poll();
    }
  }

  static constexpr const char* kFile = "/exports/acme/a.csv";
  std::shared_ptr<testing::FakeBackend> backend_ = std::make_shared<testing::FakeBackend>();
  boost::asio::io_context io_{1};
  base::MetricRegistry registry_;
  base::SteadyClock clock_;
  base::TimerWheel timers_{base::Milliseconds(10), base::MonotonicTime{}};
  testing::ManualLedger ledger_;
  fencing::Gate gate_{ledger_, {}};
  Rejections rejections_{100};
  fencing::SourceWatch source_watch_{{}};
  Audit audit_{rejections_, source_watch_, clock_};
  StagedBytes staged_{1000, registry_.gauge("staged_bytes", "test", {})};
  std::vector<Route> pending_;
  std::optional<RouteTable> routes_;
  std::optional<Pipeline> pipeline_;
  std::vector<std::shared_ptr<Call>> calls_;
};

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
