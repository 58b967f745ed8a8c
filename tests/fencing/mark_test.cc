#include "fencing/mark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/ledger_calls.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::mark_of;

std::vector<Mark> small_world() {
  std::vector<Mark> marks = {Mark{}};
  for (std::int64_t token = 1; token <= 3; ++token) {
    for (const char* holder : {"", "first", "second"}) {
      marks.push_back(mark_of(token, holder));
    }
  }
  return marks;
}

TEST(MarkTest, AHigherTokenWinsAndBringsItsHolderAlong) {
  EXPECT_EQ(merged(mark_of(1, "first"), mark_of(2, "second")), mark_of(2, "second"));
  EXPECT_EQ(merged(mark_of(1, "first"), mark_of(2)), mark_of(2));
  EXPECT_EQ(merged(Mark{}, mark_of(base::Token::kMax, "first")),
            mark_of(base::Token::kMax, "first"));
}

TEST(MarkTest, ALowerTokenChangesNothing) {
  // A holder comes with a token or not at all.
  EXPECT_EQ(merged(Mark{}, Mark{base::Token(), "first"}), Mark{});
  EXPECT_EQ(merged(mark_of(2, "first"), mark_of(1, "second")), mark_of(2, "first"));
  EXPECT_EQ(merged(mark_of(2), mark_of(1, "second")), mark_of(2));
}

TEST(MarkTest, AnEqualTokenBindsOnlyTheFirstHolder) {
  EXPECT_EQ(merged(mark_of(2), mark_of(2, "first")), mark_of(2, "first"));
  EXPECT_EQ(merged(mark_of(2, "first"), mark_of(2, "second")), mark_of(2, "first"));
  EXPECT_EQ(merged(mark_of(2, "first"), mark_of(2)), mark_of(2, "first"));
}

TEST(MarkTest, MergingNeverGoesDownAndARepetitionChangesNothing) {
  for (const Mark& stored : small_world()) {
    for (const Mark& offered : small_world()) {
      const Mark after = merged(stored, offered);
      EXPECT_EQ(after.token, std::max(stored.token, offered.token));
      EXPECT_TRUE(after == stored || after == offered ||
                  (after.token == stored.token && after.holder == offered.holder));
      EXPECT_EQ(merged(after, offered), after) << "a raise may be repeated";
      EXPECT_EQ(merged(after, stored), after) << "an old mark takes nothing back";
    }
  }
}

TEST(MarkTest, MergingInOneGroupIsTheSameAsOneAfterTheOther) {
  for (const Mark& stored : small_world()) {
    for (const Mark& first : small_world()) {
      for (const Mark& second : small_world()) {
        EXPECT_EQ(merged(stored, merged(first, second)), merged(merged(stored, first), second));
      }
    }
  }
}

}  // namespace
}  // namespace fenceline::fencing
