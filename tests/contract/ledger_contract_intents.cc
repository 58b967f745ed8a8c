// What every ledger must do with the writers on record.

#include <atomic>
#include <string>
#include <vector>

#include "tests/contract/ledger_contract.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using fencing::Intent;
using Intents = std::vector<Intent>;

}  // namespace

TEST_P(LedgerContract, AnIntentIsOnRecordUntilItIsDropped) {
  EXPECT_EQ(intents_now(ledger()).value(), Intents{});
  EXPECT_TRUE(put_now(ledger(), intent_of("a", 7, "PUT /x")));
  EXPECT_EQ(intents_now(ledger()).value(), Intents{intent_of("a", 7, "PUT /x")});
  EXPECT_TRUE(drop_now(ledger(), {intent_of("a", 7, "PUT /x")}));
  EXPECT_EQ(intents_now(ledger()).value(), Intents{});
}

TEST_P(LedgerContract, PuttingAndDroppingAnIntentTwiceIsAsOnce) {
  const Intent intent = intent_of("a", 7);
  EXPECT_TRUE(put_now(ledger(), intent));
  EXPECT_TRUE(put_now(ledger(), intent));
  EXPECT_EQ(intents_now(ledger()).value(), Intents{intent});
  EXPECT_TRUE(drop_now(ledger(), {intent, intent}));
  EXPECT_TRUE(drop_now(ledger(), {intent, intent_of("never", 1)}));
  EXPECT_TRUE(drop_now(ledger(), {}));
  EXPECT_EQ(intents_now(ledger()).value(), Intents{});
}

TEST_P(LedgerContract, IntentsDifferByKeyTokenRouteAndData) {
  Intent elsewhere = intent_of("a", 7);
  elsewhere.route = "other";
  const Intents all = {intent_of("a", 7), intent_of("a", 7, "x"), elsewhere, intent_of("a", 8),
                       intent_of("A", 7)};
  for (const Intent& intent : all) {
    EXPECT_TRUE(put_now(ledger(), intent));
  }
  EXPECT_EQ(intents_now(ledger()).value().size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(drop_now(ledger(), {all[i]}));
    EXPECT_EQ(intents_now(ledger()).value().size(), all.size() - i - 1);
  }
}

TEST_P(LedgerContract, IntentsAreListedByKeyTokenRouteAndData) {
  Intent elsewhere = intent_of("a", 7, "a");
  elsewhere.route = "Orders";
  const Intents all = {elsewhere,
                       intent_of("a", 7),
                       intent_of("a", 7, "x"),
                       intent_of("a", 10),
                       intent_of("a", base::Token::kMax),
                       intent_of("a/b", 1),
                       intent_of("\xF4\x8F\xBF\xBF", 1)};
  for (auto intent = all.rbegin(); intent != all.rend(); ++intent) {
    EXPECT_TRUE(put_now(ledger(), *intent));
  }
  EXPECT_EQ(intents_now(ledger()).value(), all);
}

TEST_P(LedgerContract, APutDropsOthersWithIt) {
  EXPECT_TRUE(put_now(ledger(), intent_of("a", 7, "x")));
  EXPECT_TRUE(put_now(ledger(), intent_of("a", 7, "y")));
  EXPECT_TRUE(put_now(ledger(), intent_of("b", 7)));
  EXPECT_TRUE(
      put_now(ledger(), intent_of("a", 8), {intent_of("a", 7, "x"), intent_of("a", 7, "y")}));
  EXPECT_EQ(intents_now(ledger()).value(), (Intents{intent_of("a", 8), intent_of("b", 7)}));
  EXPECT_TRUE(put_now(ledger(), intent_of("a", 8), {intent_of("a", 8)}));
  EXPECT_EQ(intents_now(ledger()).value(), (Intents{intent_of("a", 8), intent_of("b", 7)}))
      << "what is put is on record, whatever is dropped";
}

TEST_P(LedgerContract, ChangesOfIntentsTakeEffectInTheirOrder) {
  const Intent intent = intent_of("a", 7);
  constexpr std::size_t kRounds = 50;
  Arrivals<bool> answers;
  const auto count = [&answers](const base::Result<void>& result) {
    answers.add(result.has_value());
  };
  for (std::size_t i = 0; i < kRounds; ++i) {
    ledger().put_intent(intent, {}, count);
    ledger().drop_intents({intent}, count);
  }
  ledger().put_intent(intent, {}, count);
  for (const bool done : answers.wait_for(2 * kRounds + 1)) {
    EXPECT_TRUE(done);
  }
  EXPECT_EQ(intents_now(ledger()).value(), Intents{intent});
}

TEST_P(LedgerContract, IntentsAndMarksDoNotTouchEachOther) {
  EXPECT_TRUE(put_now(ledger(), intent_of("a", 7)));
  EXPECT_EQ(find_now(ledger(), "a").value(), fencing::Mark{});
  EXPECT_TRUE(scan_now(ledger(), "", "", 10).value().empty());
  raise_now(ledger(), "a", mark_of(100)).value();
  reset_now(ledger(), "a", order_to(5)).value();
  EXPECT_EQ(intents_now(ledger()).value(), Intents{intent_of("a", 7)});
  EXPECT_TRUE(drop_now(ledger(), {intent_of("a", 7)}));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(5));
}

TEST_P(LedgerContract, ADurableLedgerKeepsItsIntentsWhenReopened) {
  const Intents all = {intent_of("a", base::Token::kMax, std::string(2048, '~')),
                       intent_of("\xE2\x82\xAC/'\"%", 1, "PUT /a'\"%2F")};
  EXPECT_TRUE(put_now(ledger(), intent_of("gone", 1)));
  EXPECT_TRUE(put_now(ledger(), intent_of("dropped", 1)));
  EXPECT_TRUE(put_now(ledger(), all[0], {intent_of("gone", 1)}));
  EXPECT_TRUE(put_now(ledger(), all[1]));
  EXPECT_TRUE(drop_now(ledger(), {intent_of("dropped", 1)}));
  reopen();
  EXPECT_EQ(intents_now(ledger()).value(), GetParam().durable ? all : Intents{});
}

TEST_P(LedgerContract, DestroyedWithIntentsPendingItAnswersEachOnce) {
  constexpr std::size_t kCalls = 200;
  std::vector<std::atomic<int>> called(2 * kCalls);
  std::vector<std::atomic<bool>> stored(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    const auto expect_stopping = [](const base::Error& error) {
      EXPECT_EQ(error.kind, base::ErrorKind::kShuttingDown);
    };
    ledger().put_intent(intent_of("a", static_cast<std::int64_t>(i + 1)), {},
                        [&, i, expect_stopping](const base::Result<void>& result) {
                          ++called[2 * i];
                          stored[i] = result.has_value();
                          if (!result) {
                            expect_stopping(result.error());
                          }
                        });
    ledger().list_intents([&, i, expect_stopping](const base::Result<Intents>& result) {
      ++called[2 * i + 1];
      if (!result) {
        expect_stopping(result.error());
      }
    });
  }
  ledger_.reset();
  for (std::size_t i = 0; i < 2 * kCalls; ++i) {
    EXPECT_EQ(called[i].load(), 1) << "call " << i;
  }
  if (GetParam().durable) {
    reopen();
    Intents expected;
    for (std::size_t i = 0; i < kCalls; ++i) {
      if (stored[i]) {
        expected.push_back(intent_of("a", static_cast<std::int64_t>(i + 1)));
      }
    }
    EXPECT_EQ(intents_now(ledger()).value(), expected);
  }
}

}  // namespace fenceline::testing
