// What the ledger has acknowledged is there after kill -9, after a power loss, and when the disk
// fails or is full at any point.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fencing/sqlite_ledger.h"
#include "tests/fencing/child_process.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

namespace fs = std::filesystem;
using ::fenceline::testing::Arrivals;
using ::fenceline::testing::ChildProcess;
using ::fenceline::testing::find_now;
using ::fenceline::testing::key_of;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::PowerLossVfs;
using ::fenceline::testing::raise_now;
using ::fenceline::testing::TempFolder;
using Marks = std::map<std::string, std::int64_t>;

base::Result<std::unique_ptr<Ledger>> open_at(const std::string& path,
                                              Arrivals<LedgerFailure>* failures = nullptr) {
  SqliteLedgerOptions options;
  options.path = path;
  if (failures != nullptr) {
    options.on_failure = [failures](const LedgerFailure& failure) { failures->add(failure); };
  }
  return open_sqlite_ledger(std::move(options));
}

void expect_at_least(Ledger& ledger, const Marks& acknowledged) {
  for (const auto& [key, token] : acknowledged) {
    const auto found = find_now(ledger, key);
    ASSERT_TRUE(found.has_value()) << found.error().detail;
    EXPECT_GE(found->token.value(), token) << key;
  }
}

// --- kill -9 ---

constexpr int kKilledKeys = 5;

std::string killed_key(std::int64_t token) { return "key/" + std::to_string(token % kKilledKeys); }

/// Raises one key after the other for ever, several at a time, and reports what is acknowledged.
int raise_for_ever(const std::string& path, std::int64_t first,
                   const ChildProcess::Parent& parent) {
  const auto ledger = open_at(path).value();
  constexpr std::size_t kAtATime = 8;
  std::int64_t token = first;
  while (true) {
    Arrivals<bool> answered;
    for (std::size_t i = 0; i < kAtATime; ++i, ++token) {
      ledger->raise(key_of(killed_key(token)), mark_of(token),
                    [&, token](const base::Result<Mark>& result) {
                      if (result) {
                        parent.report(token);
                      }
                      answered.add(true);
                    });
    }
    answered.wait_for(kAtATime);
  }
}

TEST(LedgerDurabilityTest, NothingAcknowledgedIsLostByKillMinus9) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  Marks acknowledged;
  std::int64_t highest = 0;
  for (int round = 0; round < 20; ++round) {
    ChildProcess child([&](const ChildProcess::Parent& parent) {
      return raise_for_ever(path, highest + 1, parent);
    });
    const auto note = [&](std::int64_t token) {
      acknowledged[killed_key(token)] = std::max(acknowledged[killed_key(token)], token);
      highest = std::max(highest, token);
    };
    for (int i = 0; i < 17 + round * 3; ++i) {
      const std::int64_t token = child.next_report();
      ASSERT_GT(token, 0) << "the child ended by itself";
      note(token);
    }
    child.kill_now();
    for (const std::int64_t token : child.remaining_reports()) {
      note(token);
    }
    const auto ledger = open_at(path);
    ASSERT_TRUE(ledger.has_value()) << ledger.error().detail;
    expect_at_least(**ledger, acknowledged);
  }
  EXPECT_EQ(acknowledged.size(), static_cast<std::size_t>(kKilledKeys));
}

// --- failing disk ---

/// Raises three keys in turn; what was acknowledged goes into `acknowledged`.
void raise_some(Ledger& ledger, std::int64_t first, Marks& acknowledged) {
  for (std::int64_t token = first; token < first + 9; ++token) {
    const std::string key = "key/" + std::to_string(token % 3) + std::string(500, 'x');
    const auto after = raise_now(ledger, key, mark_of(token));
    if (after) {
      EXPECT_GE(after->token.value(), token);
      acknowledged[key] = after->token.value();
    } else {
      EXPECT_EQ(after.error().kind, base::ErrorKind::kLedgerUnavailable);
    }
  }
}

/// Opens what a power loss would leave now of the ledger in `folder`.
void expect_durable(PowerLossVfs& vfs, const TempFolder& folder, const Marks& marks) {
  vfs.leave_what_is_durable(folder.path(), folder.path() / "left");
  const auto left = open_at(folder.at("left/ledger.db"));
  ASSERT_TRUE(left.has_value()) << left.error().detail;
  expect_at_least(**left, marks);
}

class FailingDiskTest : public ::testing::TestWithParam<PowerLossVfs::Fault> {
 protected:
  /// One life of a ledger in which the `nth` call fails. False if there were fewer.
  bool survives(int nth, int times) {
    const TempFolder folder;
    const std::string path = folder.at("ledger.db");
    PowerLossVfs vfs;
    Marks acknowledged;
    {
      const auto ledger = open_at(path).value();
      raise_some(*ledger, 1, acknowledged);
    }
    EXPECT_EQ(acknowledged.size(), 3U);
    vfs.fail(GetParam(), nth, times);
    if (auto ledger = open_at(path)) {
      raise_some(**ledger, 10, acknowledged);
    } else {
      EXPECT_EQ(ledger.error().kind, base::ErrorKind::kLedgerUnavailable);
    }
    const bool struck = vfs.struck();
    vfs.heal();
    expect_durable(vfs, folder, acknowledged);
    reopen_and_check(vfs, folder, acknowledged);
    return struck;
  }

  /// After the restart everything that can be read is durable, also what only the page cache of the
  /// predecessor held, and the ledger works.
  static void reopen_and_check(PowerLossVfs& vfs, const TempFolder& folder, Marks& acknowledged) {
    const auto ledger = open_at(folder.at("ledger.db"));
    ASSERT_TRUE(ledger.has_value()) << ledger.error().detail;
    Marks readable;
    for (const auto& [key, token] : acknowledged) {
      readable[key] = find_now(**ledger, key).value().token.value();
      EXPECT_GE(readable[key], token);
    }
    expect_durable(vfs, folder, readable);
    raise_some(**ledger, 100, acknowledged);
    for (const auto& [key, token] : acknowledged) {
      EXPECT_GE(token, 106) << key;
    }
    expect_durable(vfs, folder, acknowledged);
  }
};

TEST_P(FailingDiskTest, NoFailedCallMakesASuccessOfWhatIsNotDurable) {
  for (const int times : {1, 1'000'000}) {
    int nth = 1;
    while (survives(nth, times)) {
      ASSERT_FALSE(HasFailure()) << "call " << nth << " failed " << times << " times";
      ++nth;
    }
    EXPECT_GT(nth, 9) << "every commit made at least one such call";
  }
}

INSTANTIATE_TEST_SUITE_P(Every, FailingDiskTest,
                         ::testing::Values(PowerLossVfs::Fault::kDiskFull,
                                           PowerLossVfs::Fault::kIoError,
                                           PowerLossVfs::Fault::kSyncFails),
                         [](const auto& fault) {
                           switch (fault.param) {
                             case PowerLossVfs::Fault::kDiskFull:
                               return "DiskFull";
                             case PowerLossVfs::Fault::kIoError:
                               return "IoError";
                             default:
                               return "SyncFails";
                           }
                         });

TEST(LedgerDurabilityTest, EveryAnswerIsDurableBeforeItIsGiven) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db")).value();
  for (std::int64_t token = 1; token <= 10; ++token) {
    raise_now(*ledger, "key", mark_of(token)).value();
    expect_durable(vfs, folder, {{"key", token}});
  }
}

TEST(LedgerDurabilityTest, AfterAFailedSyncEverythingIsRefusedUntilRestart) {
  const TempFolder folder;
  PowerLossVfs vfs;
  Arrivals<LedgerFailure> failures;
  auto ledger = open_at(folder.at("ledger.db"), &failures).value();
  raise_now(*ledger, "key", mark_of(1)).value();
  vfs.fail(PowerLossVfs::Fault::kSyncFails, 1, 1);
  EXPECT_FALSE(raise_now(*ledger, "key", mark_of(2)).has_value());
  EXPECT_TRUE(vfs.struck());
  // The disk is well again, but nobody knows what it holds.
  EXPECT_FALSE(raise_now(*ledger, "key", mark_of(3)).has_value());
  EXPECT_FALSE(find_now(*ledger, "key").has_value());
  EXPECT_FALSE(testing::scan_now(*ledger, "", "", 10).has_value());
  ASSERT_EQ(failures.all().size(), 1U);
  EXPECT_TRUE(failures.all()[0].until_restart);
  ledger.reset();
  ledger = open_at(folder.at("ledger.db")).value();
  EXPECT_EQ(raise_now(*ledger, "key", mark_of(3)).value(), mark_of(3));
}

// --- full disk ---

/// Raises ever new keys until the ledger refuses one. Gives up after what fits nowhere.
void raise_until_full(Ledger& ledger, Marks& acknowledged) {
  for (int i = 1; i < 20'000; ++i) {
    const std::string key = std::to_string(i) + std::string(1000, 'k');
    const auto after = raise_now(ledger, key, mark_of(i));
    if (!after) {
      EXPECT_EQ(after.error().kind, base::ErrorKind::kLedgerUnavailable);
      return;
    }
    acknowledged[key] = i;
  }
  FAIL() << "the disk never became full";
}

/// The ledger refuses while the disk is full, says so once, and works when `make_room` was called.
void expect_recovery(const std::string& path, const std::function<void()>& make_room) {
  Arrivals<LedgerFailure> failures;
  Marks acknowledged;
  {
    const auto ledger = open_at(path, &failures).value();
    raise_until_full(*ledger, acknowledged);
    EXPECT_FALSE(raise_now(*ledger, std::string(1000, 'm'), mark_of(1)).has_value());
    expect_at_least(*ledger, acknowledged);
    const auto reported = failures.all();
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_FALSE(reported[0].until_restart) << reported[0].text;
    make_room();
    EXPECT_EQ(raise_now(*ledger, "late", mark_of(1)).value(), mark_of(1));
    acknowledged["late"] = 1;
    expect_at_least(*ledger, acknowledged);
  }
  const auto ledger = open_at(path).value();
  expect_at_least(*ledger, acknowledged);
}

/// Limits the size of any file for as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() { lift(); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  void lift() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(LedgerDurabilityTest, AFileSizeLimitIsLikeAFullDisk) {
  const TempFolder folder;
  FileSizeLimit limit(256U << 10U);
  expect_recovery(folder.at("ledger.db"), [&] { limit.lift(); });
}

/// A file system of 1 MiB over `folder` for as long as it lives.
class SmallDisk {
 public:
  explicit SmallDisk(const TempFolder& folder)
      : path_(folder.path()),
        mounted_(::mount("none", path_.c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~SmallDisk() {
    if (mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  fs::path path_;
  bool mounted_;
};

TEST(LedgerDurabilityTest, AFullDiskIsRefusedAndWorksAgainWhenThereIsRoom) {
  const TempFolder folder;
  const SmallDisk disk(folder);
  if (!disk.mounted()) {
    GTEST_SKIP() << "needs the right to mount a tmpfs; AFileSizeLimitIsLikeAFullDisk does not";
  }
  std::ofstream(folder.at("ballast")) << std::string(512U << 10U, 'b');
  expect_recovery(folder.at("ledger.db"), [&] { fs::remove(folder.at("ballast")); });
}

}  // namespace
}  // namespace fenceline::fencing
