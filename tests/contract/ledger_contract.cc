#include "tests/contract/ledger_contract.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using fencing::KeyedMark;
using fencing::Mark;

constexpr std::int64_t kMaxToken = base::Token::kMax;

std::vector<std::string> keys_of(const std::vector<KeyedMark>& rows) {
  std::vector<std::string> keys;
  for (const KeyedMark& row : rows) {
    keys.push_back(row.key);
  }
  return keys;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_P(LedgerContract, AKeyThatWasNeverFencedHasAMarkWithoutToken) {
  EXPECT_EQ(find_now(ledger(), "a").value(), Mark{});
}

TEST_P(LedgerContract, ARaiseStoresTokenAndHolder) {
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(7, "worker-1")).value(), mark_of(7, "worker-1"));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(7, "worker-1"));
}

TEST_P(LedgerContract, ALowerTokenChangesNothing) {
  raise_now(ledger(), "a", mark_of(7, "worker-1")).value();
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(6, "worker-2")).value(), mark_of(7, "worker-1"));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(7, "worker-1"));
}

TEST_P(LedgerContract, AnEqualRaiseIsAnsweredWithTheMark) {
  raise_now(ledger(), "a", mark_of(7)).value();
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(7)).value(), mark_of(7));
}

TEST_P(LedgerContract, AnEqualTokenBindsAHolderOnlyIfNoneIsBound) {
  raise_now(ledger(), "a", mark_of(7)).value();
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(7, "first")).value(), mark_of(7, "first"));
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(7, "second")).value(), mark_of(7, "first"));
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(7)).value(), mark_of(7, "first"));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(7, "first"));
}

TEST_P(LedgerContract, AHigherTokenBringsItsHolderAlongOrNone) {
  raise_now(ledger(), "a", mark_of(7, "first")).value();
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(8, "second")).value(), mark_of(8, "second"));
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(9)).value(), mark_of(9));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(9));
}

TEST_P(LedgerContract, ARaiseWithoutTokenChangesNothing) {
  EXPECT_EQ(raise_now(ledger(), "a", Mark{}).value(), Mark{});
  raise_now(ledger(), "a", mark_of(7, "first")).value();
  EXPECT_EQ(raise_now(ledger(), "a", Mark{}).value(), mark_of(7, "first"));
  EXPECT_EQ(scan_now(ledger(), "", "", 10).value().size(), 1U);
}

TEST_P(LedgerContract, KeysAreIndependent) {
  raise_now(ledger(), "a", mark_of(7)).value();
  raise_now(ledger(), "b", mark_of(3)).value();
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(7));
  EXPECT_EQ(find_now(ledger(), "b").value(), mark_of(3));
  EXPECT_EQ(find_now(ledger(), "A").value(), Mark{}) << "keys are compared byte by byte";
  EXPECT_EQ(find_now(ledger(), "a ").value(), Mark{});
}

TEST_P(LedgerContract, TheGreatestTokenIsKept) {
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(kMaxToken)).value(), mark_of(kMaxToken));
  EXPECT_EQ(raise_now(ledger(), "a", mark_of(kMaxToken - 1)).value(), mark_of(kMaxToken));
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(kMaxToken));
}

TEST_P(LedgerContract, LongAndOddKeysAndHoldersAreKeptByteByByte) {
  const std::string odd = "\xC3\xA9/\xE2\x82\xAC/\xF0\x9F\x94\x92/'\"%_*?[]\\;--";
  const std::string decomposed = "e\xCC\x81/x";  // not the same key as the composed form
  const Keys keys = {std::string(base::FenceKey::kMaxBytes, 'k'), odd, decomposed,
                     "\xF4\x8F\xBF\xBF"};
  const std::string holder = std::string("\x00\xFF'\x01", 4) + std::string(252, 'h');
  std::int64_t token = 0;
  for (const std::string& key : keys) {
    raise_now(ledger(), key, mark_of(++token, holder)).value();
  }
  token = 0;
  for (const std::string& key : keys) {
    EXPECT_EQ(find_now(ledger(), key).value(), mark_of(++token, holder)) << key;
  }
  EXPECT_EQ(find_now(ledger(), "\xC3\xA9/x").value(), Mark{});
}

TEST_P(LedgerContract, AScanListsInByteOrderFromPageToPage) {
  const Keys keys = {"a", "a/b", "a0", "b", "\xC3\xA9", "\xE2\x82\xAC", "\xF4\x8F\xBF\xBF"};
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    raise_now(ledger(), *key, mark_of(static_cast<std::int64_t>(key->size()), *key)).value();
  }
  for (const std::size_t limit : {1U, 2U, 3U, 7U, 100U}) {
    Keys seen;
    std::string after;
    while (true) {
      const auto rows = scan_now(ledger(), "", after, limit).value();
      ASSERT_LE(rows.size(), limit);
      for (const KeyedMark& row : rows) {
        EXPECT_EQ(row.mark, mark_of(static_cast<std::int64_t>(row.key.size()), row.key));
        seen.push_back(row.key);
      }
      if (rows.size() < limit) {
        break;
      }
      after = rows.back().key;
    }
    EXPECT_EQ(seen, keys) << "limit " << limit;
  }
}

TEST_P(LedgerContract, AScanTakesAPrefixLiterally) {
  const Keys keys = {"a%b",
                     "aXb",
                     "a_b",
                     "a",
                     "ab",
                     "A",
                     "b",
                     "a\xC3\xBF",
                     "a\xF4\x8F\xBF\xBF"
                     "z"};
  for (const std::string& key : keys) {
    raise_now(ledger(), key, mark_of(1)).value();
  }
  const auto scan = [&](const std::string& prefix, const std::string& after = {}) {
    return keys_of(scan_now(ledger(), prefix, after, 100).value());
  };
  EXPECT_EQ(scan("a%"), Keys{"a%b"});
  EXPECT_EQ(scan("a_"), Keys{"a_b"});
  EXPECT_EQ(scan("A"), Keys{"A"});
  EXPECT_EQ(scan("a\xC3"), Keys{"a\xC3\xBF"}) << "a prefix may end inside a character";
  EXPECT_EQ(scan("a\xF4\x8F\xBF\xBF"), Keys{"a\xF4\x8F\xBF\xBF"
                                            "z"});
  EXPECT_EQ(scan("\xFF"), Keys{});
  EXPECT_EQ(scan("a").size(), 7U);
  EXPECT_EQ(scan("c"), Keys{});
  // `after` below, at and beyond the prefix.
  EXPECT_EQ(scan("a", "A").size(), 7U);
  EXPECT_EQ(scan("a", "a").size(), 6U);
  EXPECT_EQ(scan("ab", "aa"), Keys{"ab"});
  EXPECT_EQ(scan("a", "b"), Keys{});
  EXPECT_EQ(scan("", "b"), Keys{});
}

TEST_P(LedgerContract, AScanWithoutLimitToSpeakOfGivesAllAndWithLimitZeroNothing) {
  raise_now(ledger(), "a", mark_of(1)).value();
  EXPECT_EQ(scan_now(ledger(), "", "", std::numeric_limits<std::size_t>::max()).value().size(), 1U);
  EXPECT_TRUE(scan_now(ledger(), "", "", 0).value().empty());
}

TEST_P(LedgerContract, ACallbackMayCallTheLedgerAgain) {
  Arrivals<base::Result<Mark>> answers;
  ledger().raise(key_of("a"), mark_of(1), [&](const base::Result<Mark>& first) {
    ledger().find(key_of("a"), [&](const base::Result<Mark>& found) { answers.add(found); });
    answers.add(first);
  });
  for (const auto& answer : answers.wait_for(2)) {
    EXPECT_EQ(answer.value(), mark_of(1));
  }
}

TEST_P(LedgerContract, RacingRaisesGoUpOnlyAndEndAtTheHighest) {
  constexpr int kThreads = 8;
  constexpr int kRaises = 300;
  const Keys keys = {"a", "b", "c"};
  std::vector<std::map<std::string, std::int64_t>> highest(kThreads);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t + 1));
      std::map<std::string, std::int64_t> seen;
      for (int i = 0; i < kRaises; ++i) {
        const std::string& key = keys[random() % keys.size()];
        const auto token = static_cast<std::int64_t>(random() % 100'000 + 1);
        const auto after = raise_now(ledger(), key, mark_of(token)).value().token.value();
        // At least what was offered, and never below what this thread was told before.
        if (after < token || after < seen[key]) {
          ++wrong;
        }
        seen[key] = after;
        highest[static_cast<std::size_t>(t)][key] =
            std::max(highest[static_cast<std::size_t>(t)][key], token);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
  for (const std::string& key : keys) {
    std::int64_t expected = 0;
    for (auto& of_thread : highest) {
      expected = std::max(expected, of_thread[key]);
    }
    EXPECT_EQ(find_now(ledger(), key).value(), mark_of(expected));
  }
}

TEST_P(LedgerContract, DestroyedWithWorkPendingItAnswersEveryCallbackOnce) {
  constexpr std::size_t kCalls = 400;
  std::vector<std::atomic<int>> called(kCalls);
  std::atomic<std::int64_t> acknowledged = 0;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const auto token = static_cast<std::int64_t>(i + 1);
    const auto answered = [&, i, token](const base::Result<Mark>& result) {
      ++called[i];
      if (!result) {
        EXPECT_EQ(result.error().kind, base::ErrorKind::kShuttingDown);
      } else if (i % 2 == 0) {
        EXPECT_GE(result->token.value(), token);
        acknowledged = std::max(acknowledged.load(), token);
      }
    };
    if (i % 2 == 0) {
      ledger().raise(key_of("a"), mark_of(token), answered);
    } else {
      ledger().find(key_of("a"), answered);
    }
  }
  ledger_.reset();
  for (std::size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(called[i].load(), 1) << "call " << i;
  }
  if (GetParam().durable) {
    reopen();
    EXPECT_GE(find_now(ledger(), "a").value().token.value(), acknowledged.load());
  }
}

TEST_P(LedgerContract, ADurableLedgerKeepsItsMarksWhenReopened) {
  const std::map<std::string, Mark> marks = {
      {"a", mark_of(kMaxToken, "first")}, {"b", mark_of(1)}, {"\xE2\x82\xAC", mark_of(2, "x")}};
  for (const auto& [key, mark] : marks) {
    raise_now(ledger(), key, mark).value();
  }
  reopen();
  for (const auto& [key, mark] : marks) {
    EXPECT_EQ(find_now(ledger(), key).value(), GetParam().durable ? mark : Mark{}) << key;
  }
  EXPECT_EQ(raise_now(ledger(), "b", mark_of(2)).value(), mark_of(2));
}

TEST_P(LedgerContract, TheIdentityIsThatOfTheMarks) {
  const std::string identity = ledger().identity();
  EXPECT_EQ(identity.size(), 32U);
  EXPECT_EQ(identity.find_first_not_of("0123456789abcdef"), std::string::npos) << identity;
  raise_now(ledger(), "a", mark_of(7)).value();
  EXPECT_EQ(ledger().identity(), identity);
  reopen();
  EXPECT_EQ(ledger().identity() == identity, GetParam().durable)
      << "kept with the marks, and lost with them";
  const TempFolder other;
  EXPECT_NE(GetParam().open(other.path())->identity(), identity);
}

}  // namespace fenceline::testing
