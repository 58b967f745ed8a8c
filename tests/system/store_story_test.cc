// The story of the README on every kind of store: worker A holds the lease with token 33, is paused
// in the middle, and wakes up after worker B has taken over with token 34.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"
#include "tests/system/store.h"

namespace fenceline::testing {
namespace {

using Outcome = Operation::Outcome;

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kKey = "exports/acme";
constexpr std::size_t kClients = 6;
constexpr std::string_view kOfB = "the report of worker B";

std::string upload_of_a() { return std::string(3 << 20, 'A'); }

class StoreStoryTest : public ::testing::TestWithParam<StoreCase> {
 protected:
  StoreStoryTest() : store_(GetParam().make()), server_(config_over(*store_)) {
    for (const char* tenant : {"acme", "tenant-0", "tenant-1"}) {
      store_->add_tenant(tenant);
    }
  }

  [[nodiscard]] Load load() const {
    Load load;
    load.may_tear = store_->tears();
    load.trouble = store_->is_somebody_elses() ? Trouble::kUpstreamMayFail : Trouble::kNone;
    return load;
  }

  /// Judges what the clients have seen; they end.
  void expect_the_promise_kept(RecordedClients& clients) {
    clients.hold();
    clients.wait_until_held();
    EXPECT_THAT(clients.judge(server_.process().port()), ::testing::IsEmpty());
    clients.go_on();
    clients.stop();
    EXPECT_THAT(clients.problems(), ::testing::IsEmpty());
    EXPECT_GE(clients.writes(Outcome::kDone), 1U);
    EXPECT_GE(clients.writes(Outcome::kFenced), 1U);
  }

  std::unique_ptr<Store> store_;
  FilesServer server_;
};

TEST_P(StoreStoryTest, AnOvertakenUploadIsRefusedAtItsCommit) {
  HalfUpload a(server_, kPath, 33, upload_of_a());
  const Response b = server_.put(kPath, 34, kOfB);
  EXPECT_EQ(b.status / 100, 2) << b.body;
  EXPECT_EQ(b.field("Fencing-Highest"), "34");

  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server_.content(kPath), kOfB);
  wait_until("nothing of A to be staged",
             [&] { return server_.metric("fenceline_staged_bytes") == 0; });
}

TEST_P(StoreStoryTest, ARestartForgetsNothing) {
  EXPECT_EQ(server_.put(kPath, 33, "the report of worker A").status / 100, 2);
  EXPECT_EQ(server_.put(kPath, 34, kOfB).status / 100, 2);
  EXPECT_EQ(server_.process().stop(), 0);
  server_.restart();
  expect_fenced(server_.put(kPath, 33, upload_of_a()), 33, 34);

  server_.kill_and_restart();
  EXPECT_EQ(server_.mark(kKey), 34);
  expect_fenced(server_.put(kPath, 33, upload_of_a()), 33, 34);
  EXPECT_EQ(server_.content(kPath), kOfB);
}

TEST_P(StoreStoryTest, AKillInTheMiddleOfTheUploadLeavesNothingOfIt) {
  HalfUpload a(server_, kPath, 33, upload_of_a());
  EXPECT_EQ(server_.put(kPath, 34, kOfB).status / 100, 2);
  server_.kill_and_restart();
  a.client().expect_closed();
  expect_fenced(server_.put(kPath, 33, upload_of_a()), 33, 34);
  EXPECT_EQ(server_.content(kPath), kOfB);
}

TEST_P(StoreStoryTest, ANewHolderThatOnlyReadsKeepsTheOldOneOut) {
  EXPECT_EQ(server_.put(kPath, 33, "before").status / 100, 2);
  HalfUpload a(server_, kPath, 33, upload_of_a());
  EXPECT_EQ(server_.ask("GET", kPath, 34).status, 200);
  expect_fenced(a.finish(), 33, 34);
  server_.kill_and_restart();
  expect_fenced(server_.put(kPath, 33, "after"), 33, 34);
  EXPECT_EQ(server_.content(kPath), "before");
}

TEST_P(StoreStoryTest, TheMarkOutlivesTheData) {
  EXPECT_EQ(server_.put(kPath, 33, "the report of worker A").status / 100, 2);
  HalfUpload a(server_, kPath, 33, upload_of_a());
  EXPECT_EQ(server_.ask("DELETE", kPath, 34).status / 100, 2);
  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server_.content(kPath), std::nullopt);
}

TEST_P(StoreStoryTest, NoKillBreaksThePromise) {
  RecordedClients clients(server_.process().port(), kClients, 20261130, load());
  for (int cycle = 0; cycle < 6; ++cycle) {
    const std::size_t enough = clients.answered() + 150;
    wait_until("150 more answers",
               [&] { return clients.answered() >= enough || !clients.problems().empty(); });
    ASSERT_THAT(clients.problems(), ::testing::IsEmpty()) << server_.process().log();
    server_.kill_and_restart();
    clients.server_restarted(server_.process().port());
  }
  expect_the_promise_kept(clients);
}

TEST_P(StoreStoryTest, NoKillOrPauseOfTheUpstreamBreaksThePromise) {
  if (!store_->can_be_paused()) {
    return;  // Nobody stands behind it, or only this process.
  }
  RecordedClients clients(server_.process().port(), kClients, 20261131, load());
  for (int cycle = 0; cycle < 6; ++cycle) {
    const std::size_t enough = clients.answered() + 150;
    wait_until("150 more answers",
               [&] { return clients.answered() >= enough || !clients.problems().empty(); });
    ASSERT_THAT(clients.problems(), ::testing::IsEmpty()) << server_.process().log();
    if (cycle % 2 == 0) {
      store_->kill_and_restart();
    } else {
      store_->pause();
      // A write that was only being staged is refused, and then none can get further.
      const std::size_t all = clients.answered() + 2 * kClients;
      wait_until("a write of unknown outcome, or everybody to be refused", [&] {
        return server_.metric("fenceline_unsettled_writes") > 0 || clients.answered() >= all;
      });
      store_->resume();
    }
  }
  expect_the_promise_kept(clients);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreStoryTest, ::testing::ValuesIn(all_stores()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fenceline::testing
