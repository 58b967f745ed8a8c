#include "fencing/key_range.h"

#include <gtest/gtest.h>

namespace fenceline::fencing {
namespace {

using namespace std::string_literals;

TEST(KeyRangeTest, NoPrefixMeansEveryKey) {
  const KeyRange range = range_of("", "");
  EXPECT_EQ(range.first, "");
  EXPECT_EQ(range.end, std::nullopt);
}

TEST(KeyRangeTest, APrefixEndsBeforeItsSuccessor) {
  const KeyRange range = range_of("exports/", "");
  EXPECT_EQ(range.first, "exports/");
  EXPECT_EQ(range.end, "exports0");
}

TEST(KeyRangeTest, TheSuccessorCarriesOverBytes0xFF) {
  EXPECT_EQ(range_of("a\xFF", "").end, "b");
  EXPECT_EQ(range_of("a\xFF\xFF", "").end, "b");
  EXPECT_EQ(range_of("a\x7F", "").end, "a\x80");
  EXPECT_EQ(range_of("\xFF\xFF", "").end, std::nullopt);
}

TEST(KeyRangeTest, AfterMovesTheStartJustBeyondIt) {
  EXPECT_EQ(range_of("a", "ab").first, "ab\0"s);
  EXPECT_EQ(range_of("a", "a").first, "a\0"s);
  EXPECT_EQ(range_of("", "a").first, "a\0"s);
}

TEST(KeyRangeTest, AfterBelowThePrefixChangesNothing) {
  EXPECT_EQ(range_of("b", "a").first, "b");
  EXPECT_EQ(range_of("b", "").first, "b");
}

TEST(KeyRangeTest, AfterBeyondThePrefixGivesAnEmptyRange) {
  const KeyRange range = range_of("a", "c");
  EXPECT_GE(range.first, range.end);
}

}  // namespace
}  // namespace fenceline::fencing
