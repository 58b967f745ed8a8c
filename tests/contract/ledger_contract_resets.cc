// What every ledger must do with an operator's reset.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/ledger_contract.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using fencing::Mark;
using fencing::ResetOutcome;
using fencing::ResetRecord;
using fencing::ResetVerdict;

}  // namespace

TEST_P(LedgerContract, AResetLowersTheMarkAndDropsItsHolder) {
  raise_now(ledger(), "a", mark_of(100, "worker-1")).value();
  const ResetOutcome lowered{ResetVerdict::kApplies, mark_of(100, "worker-1"), mark_of(5)};
  EXPECT_EQ(reset_now(ledger(), "a", order_to(5)).value(), lowered);
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(5));
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(4)).value(), mark_of(5)) << "it goes up from there";
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(6, "worker-2")).value(), mark_of(6, "worker-2"));
}

TEST_P(LedgerContract, AResetThatDoesNotFitChangesNothingAndLeavesNoTrace) {
  raise_now(ledger(), "a", mark_of(100, "worker-1")).value();
  EXPECT_EQ(reset_now(ledger(), "a", order_to(101)).value().verdict, ResetVerdict::kNotLower);
  EXPECT_EQ(reset_now(ledger(), "a", order_to(5, 99)).value().verdict, ResetVerdict::kMoved);
  EXPECT_EQ(reset_now(ledger(), "b", order_to(5)).value().verdict, ResetVerdict::kNeverFenced);
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(100, "worker-1"));
  EXPECT_EQ(find_now(ledger(), "b").value(), Mark{});
  EXPECT_TRUE(resets_now(ledger(), "a", 10).value().empty());
  EXPECT_TRUE(resets_now(ledger(), "b", 10).value().empty());
}

TEST_P(LedgerContract, AResetThatIsSentTwiceAppliesOnce) {
  raise_now(ledger(), "a", mark_of(100)).value();
  EXPECT_EQ(reset_now(ledger(), "a", order_to(5, 100)).value().verdict, ResetVerdict::kApplies);
  EXPECT_EQ(reset_now(ledger(), "a", order_to(5, 100)).value().verdict, ResetVerdict::kUnchanged);
  EXPECT_EQ(resets_now(ledger(), "a", 10).value().size(), 1U);
}

TEST_P(LedgerContract, ResetsAreKeptWithWhatTheyChangedTheNewestFirst) {
  raise_now(ledger(), "a", mark_of(100, "worker-1")).value();
  raise_now(ledger(), "ab", mark_of(7)).value();
  auto first = order_to(50);
  first.reason = "etcd \xE2\x82\xAC was restored; 'quoted' \"twice\"";
  first.by = "root@host";
  first.peer = "127.0.0.1:4711";
  first.at_ms = 2000;
  auto second = order_to(5, 50);
  second.at_ms = 1000;  // the wall clock went back
  reset_now(ledger(), "a", first).value();
  reset_now(ledger(), "a", second).value();
  reset_now(ledger(), "ab", order_to(6)).value();
  const ResetRecord older{mark_of(100, "worker-1"),
                          base::Token::of(50),
                          first.reason,
                          first.by,
                          first.peer,
                          first.at_ms};
  const ResetRecord newer{mark_of(50), base::Token::of(5), second.reason,
                          second.by,   second.peer,        second.at_ms};
  EXPECT_EQ(resets_now(ledger(), "a", 10).value(), (std::vector{newer, older}));
  EXPECT_EQ(resets_now(ledger(), "a", 1).value(), std::vector{newer});
  EXPECT_TRUE(resets_now(ledger(), "a", 0).value().empty());
  EXPECT_EQ(resets_now(ledger(), "ab", 10).value().size(), 1U);
  reopen();
  if (GetParam().durable) {
    EXPECT_EQ(resets_now(ledger(), "a", 10).value(), (std::vector{newer, older}));
    EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(5));
  }
}

TEST_P(LedgerContract, RacingResetsWithOneFromApplyOnce) {
  raise_now(ledger(), "a", mark_of(100)).value();
  std::atomic<int> applied = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto outcome = reset_now(ledger(), "a", order_to(10 + t, 100)).value();
      applied += outcome.verdict == ResetVerdict::kApplies ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(applied.load(), 1);
  const auto rows = resets_now(ledger(), "a", 10).value();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(find_now(ledger(), "a").value().token, rows.front().to);
}

TEST_P(LedgerContract, DestroyedWithResetsPendingItAnswersEachOnce) {
  constexpr std::size_t kCalls = 100;
  raise_now(ledger(), "a", mark_of(1000)).value();
  std::vector<std::atomic<int>> called(kCalls);
  std::atomic<std::int64_t> lowest = 1000;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const auto to = static_cast<std::int64_t>(900 - i);
    const auto answered = [&, i, to](const base::Result<ResetOutcome>& outcome) {
      ++called[i];
      if (outcome) {
        lowest = std::min(lowest.load(), to);
      } else {
        EXPECT_EQ(outcome.error().kind, base::ErrorKind::kShuttingDown);
      }
    };
    ledger().reset(key_of("a"), order_to(to), answered);
  }
  ledger_.reset();
  for (std::size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(called[i].load(), 1) << "call " << i;
  }
  if (GetParam().durable) {
    reopen();
    EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(lowest.load()));
  }
}

}  // namespace fenceline::testing
