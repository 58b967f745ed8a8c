// What a Redlock survives, and what it refuses, in front of real servers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/boottime_clock.h"
#include "client/redlock_command.h"
#include "client/sources/redlock_admin.h"
#include "client/sources/redlock_scripts.h"
#include "client/token_source.h"
#include "tests/client/redis_server.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using client::Grant;
using client::LeaseOrder;
using client::redis::bulk;
using client::redis::integer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMember = "fenceline:redlock:member";
constexpr const char* kToken = "fenceline:redlock:{exports/42}:token";
constexpr const char* kLock = "fenceline:redlock:{exports/42}:lock";

const base::BoottimeClock& the_clock() {
  static const base::BoottimeClock clock;
  return clock;
}

LeaseOrder order(Milliseconds ttl = Milliseconds(10'000)) {
  LeaseOrder order;
  order.keys = {base::FenceKey::parse("exports/42").value()};
  order.holder = "worker@host";
  order.attempt = "attempt";
  order.ttl = ttl;
  return order;
}

std::unique_ptr<client::TokenSource> open(const RedlockServer& redlock) {
  return client::make_source(redlock.url(), the_clock()).value();
}

/// Takes and releases the lease; 0 if it is not granted.
std::int64_t next_token(client::TokenSource& source) {
  LeaseOrder patient = order();
  patient.wait = Milliseconds(5'000);
  const auto grant = source.acquire(patient, {});
  if (!grant) {
    return 0;
  }
  EXPECT_TRUE(source.release(*grant));
  return grant->token.value();
}

base::Result<bool> init(const RedlockServer& redlock, std::int64_t floor = 0) {
  return client::init_redlock(client::parse_source_url(redlock.url(), 1).value(), {.floor = floor},
                              {});
}

base::Result<client::RedlockResynced> resync(RedlockServer& redlock, std::size_t node,
                                             std::optional<std::int64_t> floor = {}) {
  client::RedlockResync resync;
  resync.node = {"localhost", redlock.node(node).port()};
  resync.floor = floor;
  resync.longest_ttl = Milliseconds(100);
  return client::resync_redlock(client::parse_source_url(redlock.url(), 1).value(), resync,
                                the_clock(), {});
}

TEST(Redlock, WithoutInitNothingIsGranted) {
  RedlockServer redlock(3, RedlockServer::Init::kNotYet);
  const auto source = open(redlock);
  const auto refused = source->acquire(order(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUpstreamFailed);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr("no member"), HasSubstr("redlock-init")));
  EXPECT_THAT(source->warnings().value(), Contains(HasSubstr("redlock-init")).Times(3));
  EXPECT_EQ(init(redlock), true);
  EXPECT_EQ(init(redlock), false);
  EXPECT_EQ(next_token(*source), 1);
  EXPECT_THAT(source->warnings().value(), IsEmpty());
}

TEST(Redlock, InitRefusesWhatIsInUse) {
  RedlockServer redlock(3);
  ASSERT_EQ(next_token(*open(redlock)), 1);
  redlock.wipe(1);
  const auto again = init(redlock);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kMarkConflict);
  EXPECT_THAT(again.error().detail, AllOf(HasSubstr(redlock.node(1).address() + " is no member"),
                                          HasSubstr("redlock-resync")));
  redlock.node(2).kill();
  EXPECT_EQ(init(redlock).error().kind, ErrorKind::kUpstreamFailed);
}

TEST(Redlock, InitThatWasCutOffGoesOn) {
  RedlockServer redlock(3, RedlockServer::Init::kNotYet);
  redlock.node(0).ask({"SET", kMember, "40"});
  EXPECT_EQ(init(redlock).error().kind, ErrorKind::kMarkConflict) << "another floor";
  EXPECT_EQ(init(redlock, 40), true);
  EXPECT_EQ(next_token(*open(redlock)), 41);
}

TEST(Redlock, AMinorityThatIsDeadOrFrozenDoesNotStopIt) {
  RedlockServer redlock(5);
  const auto source = open(redlock);
  ASSERT_EQ(next_token(*source), 1);
  redlock.node(0).pause();
  redlock.node(1).kill();
  const auto start = the_clock().now();
  const Grant grant = source->acquire(order(), {}).value();
  EXPECT_LT(the_clock().now() - start, Milliseconds(1'500)) << "the frozen one was waited for";
  EXPECT_TRUE(source->renew(grant, {}));
  EXPECT_EQ(source->show(grant.keys.front()).value().value().holder, "worker@host");
  EXPECT_TRUE(source->release(grant));
  EXPECT_EQ(grant.token.value(), 2);

  redlock.node(2).kill();
  const auto refused = source->acquire(order(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUpstreamFailed);
  EXPECT_THAT(refused.error().detail,
              AllOf(HasSubstr(redlock.node(0).address()), HasSubstr(redlock.node(1).address()),
                    HasSubstr(redlock.node(2).address())));
  redlock.node(0).resume();
}

TEST(Redlock, AWipedNodeTakesNoPartUntilItIsBroughtBack) {
  RedlockServer redlock(3);
  const auto source = open(redlock);
  ASSERT_EQ(next_token(*source), 1);
  redlock.wipe(0);
  EXPECT_EQ(next_token(*source), 2);
  EXPECT_EQ(redlock.node(0).ask({"GET", kToken}), client::redis::Reply());
  EXPECT_THAT(source->warnings().value(), ElementsAre(HasSubstr("redlock-resync")));

  const auto back = resync(redlock, 0);
  ASSERT_TRUE(back) << back.error().detail;
  EXPECT_EQ(back->floor, 2 + client::kResyncJump);
  EXPECT_EQ(back->asked, 2U);
  EXPECT_EQ(next_token(*source), 3 + client::kResyncJump);
  EXPECT_THAT(source->warnings().value(), IsEmpty());
}

TEST(Redlock, ResyncWaitsForWhatIsHeld) {
  RedlockServer redlock(3);
  const auto source = open(redlock);
  const Grant grant = source->acquire(order(Milliseconds(1'500)), {}).value();
  redlock.wipe(2);
  const auto back = resync(redlock, 2);
  ASSERT_TRUE(back) << back.error().detail;
  EXPECT_GT(back->waited, Milliseconds(0));
  EXPECT_GE(the_clock().now(), grant.valid_until);
}

TEST(Redlock, WhereAMajorityHasForgottenAFloorIsNeeded) {
  RedlockServer redlock(3);
  const auto source = open(redlock);
  ASSERT_EQ(next_token(*source), 1);
  redlock.wipe(0);
  redlock.wipe(1);
  EXPECT_EQ(next_token(*source), 0);
  const auto refused = resync(redlock, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kMarkConflict);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr("--floor"), HasSubstr("no member either")));
  EXPECT_EQ(next_token(*source), 0);
  EXPECT_THAT(resync(redlock, 0, 0).error().detail, HasSubstr("below 1"));

  const auto back = resync(redlock, 0, 50);
  ASSERT_TRUE(back) << back.error().detail;
  EXPECT_EQ(back->waited, Milliseconds(100));
  EXPECT_EQ(next_token(*source), 51);
  ASSERT_TRUE(resync(redlock, 1)) << "now a majority of the others has data again";
  EXPECT_GT(next_token(*source), 51);
}

// Without the marker this gives token 11 a second time: the nodes that are left have never seen the
// last ten.
TEST(Redlock, NodesThatAreWipedWhileOthersAreBehindLoseNoToken) {
  RedlockServer redlock(5);
  const auto source = open(redlock);
  for (std::int64_t i = 1; i <= 10; ++i) {
    ASSERT_EQ(next_token(*source), i);
  }
  redlock.node(3).pause();
  redlock.node(4).pause();
  for (std::int64_t i = 11; i <= 20; ++i) {
    ASSERT_EQ(next_token(*source), i);
  }
  redlock.node(3).resume();
  redlock.node(4).resume();
  wait_until("all nodes to answer", [&] {
    return redlock.node(3).ask({"PING"}) == client::redis::status("PONG") &&
           redlock.node(4).ask({"PING"}) == client::redis::status("PONG");
  });
  ASSERT_EQ(redlock.node(4).ask({"GET", kToken}), bulk("10")) << "they have missed them";
  redlock.wipe(0);
  redlock.wipe(1);
  redlock.node(2).pause();
  EXPECT_EQ(next_token(*source), 0) << "only nodes that have missed them are left";
  redlock.node(2).resume();
  redlock.resync(0);
  redlock.resync(1);
  redlock.node(2).pause();
  EXPECT_GT(next_token(*source), 20);
  redlock.node(2).resume();
}

TEST(Redlock, FlushedNodesAndTheDeathOfAllLoseNoToken) {
  RedlockServer redlock(5);
  const auto source = open(redlock);
  ASSERT_EQ(next_token(*source), 1);
  redlock.node(1).ask({"FLUSHALL"});
  redlock.node(4).ask({"FLUSHALL"});
  EXPECT_EQ(next_token(*source), 2);
  redlock.kill();
  redlock.restart();
  EXPECT_EQ(next_token(*source), 3);
}

// A client that was paused between LOCK and COMMIT for longer than its ttl. This check, and no
// clock, is what keeps tokens apart.
TEST(Redlock, ALockThatWentToSomebodyElseIsNotCommitted) {
  RedisServer node;
  node.ask({"SET", kMember, "0"});
  const auto run = [&](std::string_view script, const std::string& owner, const std::string& more) {
    return node.ask({"EVAL", std::string(script), "3", kLock, kToken, kMember, owner, more});
  };
  using client::redis::array;
  EXPECT_EQ(run(client::redlock::kLock, "a", "60000"), array({integer(1), integer(0)}));
  EXPECT_EQ(run(client::redlock::kCommit, "b", "1"), integer(0));
  node.ask({"DEL", kLock});
  EXPECT_EQ(run(client::redlock::kCommit, "a", "1"), integer(0)) << "it has expired";
  EXPECT_EQ(run(client::redlock::kLock, "b", "60000"), array({integer(1), integer(0)}));
  EXPECT_EQ(run(client::redlock::kCommit, "b", "1"), integer(1));
  EXPECT_EQ(run(client::redlock::kCommit, "a", "1"), integer(0)) << "both would have token 1";
  EXPECT_EQ(run(client::redlock::kCommit, "b", "1"), integer(1)) << "again";
  node.ask({"DEL", kMember});
  EXPECT_EQ(run(client::redlock::kCommit, "b", "2"), integer(-1));
  EXPECT_EQ(run(client::redlock::kLock, "b", "60000"), array({integer(-1)}));
  EXPECT_EQ(node.ask({"GET", kToken}), bulk("1"));
}

TEST(Redlock, WhatAMajorityHoldsForOthersIsLeftAlone) {
  RedlockServer redlock(3);
  const auto source = open(redlock);
  ASSERT_EQ(next_token(*source), 1);
  for (const std::size_t node : {std::size_t{0}, std::size_t{1}}) {
    redlock.node(node).ask({"SET", kLock, "other@host#x", "PX", "60000"});
  }
  const auto refused = source->acquire(order(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLeaseHeld);
  EXPECT_THAT(refused.error().detail, HasSubstr("other@host"));
  EXPECT_EQ(redlock.node(2).ask({"EXISTS", kLock}), integer(0)) << "what it got is given back";
}

TEST(Redlock, CountersThatLuaCannotCountAreRefused) {
  RedlockServer redlock(3);
  redlock.node(1).ask({"SET", kToken, "9007199254740991"});
  const auto refused = open(redlock)->acquire(order(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("2^53"));
  EXPECT_EQ(redlock.node(0).ask({"EXISTS", kLock}), integer(0));
}

TEST(RedlockCommand, SaysWhatIsWrongByItsExitCode) {
  RedlockServer redlock(3, RedlockServer::Init::kNotYet);
  client::RedlockOptions options;
  options.source = redlock.url();
  options.floor = "7";
  EXPECT_EQ(client::run_redlock(options, {}), 0);
  EXPECT_EQ(next_token(*open(redlock)), 8);
  redlock.wipe(0);
  EXPECT_EQ(client::run_redlock(options, {}), 3);
  options.command = client::RedlockOptions::Command::kResync;
  options.floor = "";
  options.node = "localhost:1";
  EXPECT_EQ(client::run_redlock(options, {}), 2) << "none of the nodes";
  options.node = redlock.node(0).address();
  EXPECT_EQ(client::run_redlock(options, {}), 0);
  redlock.node(0).kill();
  EXPECT_EQ(client::run_redlock(options, {}), 1);
  options.source = "redis://localhost:1";
  EXPECT_EQ(client::run_redlock(options, {}), 2);
}

}  // namespace
}  // namespace fenceline::testing
