#include "fencing/decide.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace fenceline::fencing {
namespace {

using base::Token;

// --- decide: every combination of a small world, against rules that are written another way ---

constexpr std::array<const char*, 3> kHolders = {"", "first", "second"};
constexpr std::int64_t kHighest = 4;

Verdict verdict(std::int64_t mark, const char* bound, std::int64_t token, const char* holder,
                std::int64_t max_jump = 0) {
  return decide(Mark{Token::of(mark), bound}, Claim{Token::of(token), holder, max_jump});
}

TEST(DecideTest, TheWholeSmallWorld) {
  for (std::int64_t mark = 0; mark <= kHighest; ++mark) {
    for (const std::string bound : kHolders) {
      if (mark == 0 && !bound.empty()) {
        continue;  // no token, no holder
      }
      for (std::int64_t token = 1; token <= kHighest; ++token) {
        for (const std::string holder : kHolders) {
          for (std::int64_t max_jump = 0; max_jump <= kHighest; ++max_jump) {
            const Verdict got = verdict(mark, bound.c_str(), token, holder.c_str(), max_jump);
            const bool below = token < mark;
            const bool equal = token == mark;
            const bool names_nobody_new = holder.empty() || holder == bound;
            const bool far = max_jump != 0 && mark != 0 && token > mark + max_jump;
            EXPECT_EQ(got == Verdict::kStale, below);
            EXPECT_EQ(got == Verdict::kCurrent, equal && names_nobody_new);
            EXPECT_EQ(got == Verdict::kHolderConflict,
                      equal && !names_nobody_new && !bound.empty());
            EXPECT_EQ(got == Verdict::kTooFarAhead, far);
            EXPECT_EQ(got == Verdict::kRaises,
                      (token > mark && !far) || (equal && bound.empty() && !holder.empty()));
          }
        }
      }
    }
  }
}

TEST(DecideTest, OnlyAVerdictThatRaisesChangesTheMark) {
  for (std::int64_t mark = 1; mark <= kHighest; ++mark) {
    for (const std::string bound : kHolders) {
      for (std::int64_t token = 1; token <= kHighest; ++token) {
        for (const std::string holder : kHolders) {
          const Mark before{Token::of(mark), bound};
          const bool raises =
              decide(before, Claim{Token::of(token), holder, 0}) == Verdict::kRaises;
          EXPECT_EQ(merged(before, Mark{Token::of(token), holder}) != before, raises)
              << mark << bound << " " << token << holder;
        }
      }
    }
  }
}

TEST(DecideTest, TheEndsOfTheTokenRangeDoNotOverflow) {
  EXPECT_EQ(verdict(0, "", Token::kMax, ""), Verdict::kRaises);
  EXPECT_EQ(verdict(0, "", Token::kMax, "", Token::kMax), Verdict::kRaises);
  EXPECT_EQ(verdict(1, "", Token::kMax, "", Token::kMax - 2), Verdict::kTooFarAhead);
  EXPECT_EQ(verdict(Token::kMax - 1, "", Token::kMax, "", 1), Verdict::kRaises);
  EXPECT_EQ(verdict(Token::kMax, "", Token::kMax, ""), Verdict::kCurrent);
  EXPECT_EQ(verdict(Token::kMax, "", 1, "", 1), Verdict::kStale);
}

TEST(DecideTest, TheFirstTokenOfAKeyMayBeAny) {
  EXPECT_EQ(verdict(0, "", 10, "", 10), Verdict::kRaises);
  // A key that was never fenced takes any first token.
  EXPECT_EQ(verdict(0, "", 11, "", 10), Verdict::kRaises);
  EXPECT_EQ(verdict(1, "", 12, "", 10), Verdict::kTooFarAhead);
}

// --- decide_entry ---

EntryFacts facts(std::int64_t announced, bool durable, std::int64_t inside,
                 std::int64_t unsettled) {
  return EntryFacts{Token::of(announced), durable, Token::of(inside), Token::of(unsettled)};
}

TEST(DecideEntryTest, TheWholeSmallWorld) {
  for (std::int64_t announced = 1; announced <= kHighest; ++announced) {
    for (const bool durable : {false, true}) {
      for (std::int64_t inside = 0; inside <= announced; ++inside) {
        for (std::int64_t unsettled = 0; unsettled <= announced; ++unsettled) {
          for (std::int64_t token = 1; token <= announced; ++token) {
            const Entry got =
                decide_entry(facts(announced, durable, inside, unsettled), Token::of(token));
            const bool newest = token == announced;
            const bool older_inside = inside != 0 && inside < token;
            const bool older_in_doubt = unsettled != 0 && unsettled < token;
            EXPECT_EQ(got == Entry::kFenced, !newest);
            EXPECT_EQ(got == Entry::kUnsettled, newest && older_in_doubt);
            EXPECT_EQ(got == Entry::kWait, newest && !older_in_doubt && (!durable || older_inside));
            EXPECT_EQ(got == Entry::kEnter, newest && durable && !older_inside && !older_in_doubt);
          }
        }
      }
    }
  }
}

TEST(DecideEntryTest, CommitsOfOneTokenRunSideBySideAlsoWhenOneIsInDoubt) {
  EXPECT_EQ(decide_entry(facts(3, true, 3, 3), Token::of(3)), Entry::kEnter);
}

TEST(DecideEntryTest, ATokenThatIsNotTheAnnouncedOneNeverEnters) {
  EXPECT_EQ(decide_entry(facts(2, true, 0, 0), Token::of(1)), Entry::kFenced);
  EXPECT_EQ(decide_entry(facts(2, true, 0, 0), Token::of(3)), Entry::kFenced);
}

}  // namespace
}  // namespace fenceline::fencing
