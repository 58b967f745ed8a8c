// The disk fails, fills up or loses power at every point of a write.

#include <string>

#include "tests/backends/sqlite/sqlite_fixture.h"
#include "tests/support/idle_pool.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/small_disk.h"

namespace fenceline::testing {
namespace {

using base::Applied;
using Fault = PowerLossVfs::Fault;

/// A backend on the disk of `PowerLossVfs`.
class Disk {
 public:
  std::unique_ptr<backends::Backend> open(const std::string& database) {
    wait_until_idle(pool_, kThreads);
    auto opened = backends::open_sqlite_backend({.database = database, .pool = pool_});
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    return *std::move(opened);
  }

  [[nodiscard]] std::filesystem::path at(const std::string& name) const {
    return folder_.path() / name;
  }
  PowerLossVfs& vfs() { return vfs_; }

 private:
  TempFolder folder_;
  PowerLossVfs vfs_{true};
  static constexpr std::size_t kThreads = 2;
  base::WorkerPool pool_{kThreads};
};

/// Content and mark, by what a restart finds.
void expect_restart_finds(Disk& disk, const std::string& folder, const Answer& answer,
                          const std::string& trace) {
  const auto backend = disk.open((disk.at(folder) / "data.db").string());
  const std::string content = get(*backend, "a").content;
  const bool done = answer.status != 0;
  if (done || answer.error->applied == Applied::kNo) {
    EXPECT_EQ(content, done ? std::string(9000, 'n') : "old") << trace << " in " << folder;
  } else {
    EXPECT_TRUE(content == "old" || content == std::string(9000, 'n')) << trace;
  }
  // Data and mark share their fate.
  const bool raised = put(*backend, "b", "x", {}, stamp_of("k", 1)).error_name() == "stale-token";
  EXPECT_EQ(raised, content != "old") << trace << " in " << folder;
  EXPECT_NE(put(*backend, "b", "x", {}, stamp_of("k", 3)).status, 0) << trace;
}

class SqliteFaults : public ::testing::TestWithParam<Fault> {
 protected:
  /// False when there was no n-th call any more.
  static bool write_with_fault(Fault fault, int nth) {
    Disk disk;
    std::filesystem::create_directory(disk.at("live"));
    auto backend = disk.open((disk.at("live") / "data.db").string());
    EXPECT_EQ(put(*backend, "a", "old", {}, stamp_of("k", 1)).status, 201);
    disk.vfs().fail(fault, nth, 1);
    const Answer answer = put(*backend, "a", std::string(9000, 'n'), {}, stamp_of("k", 2));
    const bool struck = disk.vfs().struck();
    disk.vfs().heal();
    const std::string trace =
        "fault " + std::to_string(static_cast<int>(fault)) + " at " + std::to_string(nth);
    if (struck && fault == Fault::kDiskFull) {
      EXPECT_EQ(answer.error_name(), "insufficient-storage") << trace;
      EXPECT_EQ(answer.error->applied, Applied::kNo) << trace;
      EXPECT_FALSE(backend->out_of_service()) << trace;
    }
    if (struck && fault == Fault::kSyncFails) {
      EXPECT_EQ(answer.error_name(), "storage-failed") << trace;
      EXPECT_EQ(answer.error->applied, Applied::kUnknown) << trace;
      EXPECT_TRUE(backend->out_of_service()) << trace;
      const Answer next = put(*backend, "c", "x");
      EXPECT_EQ(next.error_name(), "storage-failed") << trace;
      EXPECT_EQ(next.error->applied, Applied::kNo) << trace;
    }
    disk.vfs().leave_what_is_durable(disk.at("live"), disk.at("power"));
    expect_restart_finds(disk, "power", answer, trace);
    backend.reset();
    expect_restart_finds(disk, "live", answer, trace);
    return struck;
  }
};

TEST_P(SqliteFaults, EveryCallOfAWrite) {
  int nth = 1;
  while (write_with_fault(GetParam(), nth)) {
    ++nth;
    ASSERT_LT(nth, 100);
  }
  EXPECT_GT(nth, 1) << "no call was ever hit";
}

std::string name_of(const ::testing::TestParamInfo<Fault>& tested) {
  if (tested.param == Fault::kDiskFull) {
    return "disk_full";
  }
  return tested.param == Fault::kIoError ? "io_error" : "sync_fails";
}

INSTANTIATE_TEST_SUITE_P(All, SqliteFaults,
                         ::testing::Values(Fault::kDiskFull, Fault::kIoError, Fault::kSyncFails),
                         name_of);

TEST(SqlitePowerLoss, WhatWasAnsweredIsThere) {
  Disk disk;
  std::filesystem::create_directory(disk.at("live"));
  // Each after another cut has a folder of its own: a read that ends late keeps a database open.
  auto backend = disk.open((disk.at("live") / "data.db").string());
  for (int i = 1; i <= 40; ++i) {
    const std::string name = "doc" + std::to_string(i % 7);
    ASSERT_NE(put(*backend, name, std::to_string(i), {}, stamp_of("k", i)).status, 0);
    if (i % 10 == 0) {
      const auto power = disk.at("power" + std::to_string(i));
      disk.vfs().leave_what_is_durable(disk.at("live"), power);
      const auto after = disk.open((power / "data.db").string());
      EXPECT_EQ(get(*after, name).content, std::to_string(i));
      EXPECT_EQ(put(*after, name, "x", {}, stamp_of("k", i - 1)).error_name(), "stale-token");
    }
  }
  EXPECT_EQ(fenced_get(*backend, "doc1", stamp_of("k", 99)).status, 200);
  disk.vfs().leave_what_is_durable(disk.at("live"), disk.at("power"));
  const auto after = disk.open((disk.at("power") / "data.db").string());
  EXPECT_EQ(put(*after, "doc1", "x", {}, stamp_of("k", 98)).error_name(), "stale-token");
}

TEST(SqliteFullDisk, TheOldContentIsIntactAndSmallWritesGoOn) {
  const TempFolder folder;
  const SmallDisk disk(folder.at("disk"), std::size_t{4} << 20);
  base::WorkerPool pool(2);
  auto opened = backends::open_sqlite_backend({.database = disk.at("data.db"), .pool = pool});
  ASSERT_TRUE(opened) << opened.error().detail;
  backends::Backend& backend = **opened;
  ASSERT_EQ(put(backend, "a", "old").status, 201);
  disk.fill();
  const Answer full = put(backend, "a", std::string(1'000'000, 'x'), {}, stamp_of("k", 2));
  EXPECT_EQ(full.error_name(), "insufficient-storage");
  EXPECT_EQ(full.error->applied, Applied::kNo);
  EXPECT_EQ(get(backend, "a").content, "old");
  EXPECT_FALSE(backend.out_of_service());

  // A large one and a small one in one group: only the large one is too much.
  disk.make_room();
  std::vector<Staged> writes;
  writes.push_back(stage_put(backend, "small1", "x"));
  writes.push_back(stage_put(backend, "large", std::string(8'000'000, 'x')));
  writes.push_back(stage_put(backend, "small2", "x"));
  ForeignConnection other(disk.at("data.db"));
  other.run("BEGIN IMMEDIATE");
  const auto answers = commit_together(writes, [&] { other.run("COMMIT"); });
  EXPECT_EQ(answers[0].status, 201);
  EXPECT_EQ(answers[1].error_name(), "insufficient-storage");
  EXPECT_EQ(answers[2].status, 201);
  EXPECT_EQ(put(backend, "a", std::string(100'000, 'x')).status, 204);
}

}  // namespace
}  // namespace fenceline::testing
