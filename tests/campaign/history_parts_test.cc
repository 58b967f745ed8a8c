#include "tests/support/history_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace fenceline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

Operation operation(Kind kind, std::int64_t token, std::int64_t value, std::int64_t start,
                    Outcome outcome = Outcome::kDone) {
  return {kind, "k", "f", token, value, start, start + 1, outcome};
}

/// `parts` as the operations after what is known of `before`.
std::vector<std::string> judge_after(const std::vector<Operation>& before,
                                     std::vector<Operation> part) {
  std::vector<Operation> history = last_known(before);
  history.insert(history.end(), part.begin(), part.end());
  return violations_of(history);
}

std::vector<Operation> first_part() {
  return {operation(Kind::kWrite, 33, 100, 1), operation(Kind::kWrite, 34, 200, 3),
          operation(Kind::kRead, 0, 200, 5), operation(Kind::kRead, 35, 200, 7)};
}

TEST(HistoryPartsTest, KeepsTheLastReadAndWhatItSaw) {
  EXPECT_THAT(last_known(first_part()), SizeIs(2));
  EXPECT_THAT(judge_after(first_part(),
                          {operation(Kind::kRead, 0, 200, 9), operation(Kind::kWrite, 35, 300, 11),
                           operation(Kind::kRead, 36, 300, 13)}),
              IsEmpty());
}

TEST(HistoryPartsTest, RefusesWhatWasReplacedInAPartBefore) {
  EXPECT_THAT(judge_after(first_part(), {operation(Kind::kRead, 0, 100, 9)}),
              ElementsAre(HasSubstr("what nobody wrote")));
}

TEST(HistoryPartsTest, RefusesATokenOfAPartBefore) {
  EXPECT_THAT(judge_after(first_part(), {operation(Kind::kWrite, 34, 300, 9)}),
              ElementsAre(HasSubstr("the token 35 had been accepted")));
}

TEST(HistoryPartsTest, RefusesTheLossOfAPartBefore) {
  EXPECT_THAT(judge_after(first_part(), {operation(Kind::kRead, 0, 0, 9)}),
              ElementsAre(HasSubstr("no delete explains it")));
}

TEST(HistoryPartsTest, ASeenWriteHasHappenedWhateverItsClientWasTold) {
  const std::vector<Operation> before = {operation(Kind::kWrite, 33, 100, 1, Outcome::kUnknown),
                                         operation(Kind::kRead, 34, 100, 3)};
  EXPECT_THAT(judge_after(before, {operation(Kind::kRead, 0, 0, 9)}), SizeIs(1));
}

TEST(HistoryPartsTest, ACutMayUndoWhatWasOnlyRead) {
  for (const std::int64_t token : {0, 34}) {
    const std::vector<Operation> before = {operation(Kind::kWrite, 33, 100, 1),
                                           operation(Kind::kWrite, 34, 200, 3, Outcome::kUnknown),
                                           operation(Kind::kRead, token, 200, 5)};
    std::vector<Operation> after = without_what_a_cut_may_undo(before);
    after.push_back(operation(Kind::kRead, 35, 100, 7));
    EXPECT_THAT(violations_of(after), IsEmpty());
  }
}

TEST(HistoryPartsTest, ACutMayUndoADeleteWithoutAnswer) {
  std::vector<Operation> history = without_what_a_cut_may_undo(
      {operation(Kind::kWrite, 33, 100, 1), operation(Kind::kDelete, 33, 0, 3, Outcome::kUnknown),
       operation(Kind::kRead, 0, 0, 5)});
  history.push_back(operation(Kind::kRead, 34, 100, 7));
  EXPECT_THAT(violations_of(history), IsEmpty());
}

TEST(HistoryPartsTest, ACutDoesNotUndoATokenThatWasAccepted) {
  std::vector<Operation> history = without_what_a_cut_may_undo(
      {operation(Kind::kWrite, 34, 100, 1, Outcome::kUnknown), operation(Kind::kRead, 34, 100, 3)});
  history.push_back(operation(Kind::kWrite, 33, 200, 5));
  EXPECT_THAT(violations_of(history), ElementsAre(HasSubstr("the token 34 had been accepted")));
}

TEST(HistoryPartsTest, ACutMustNotUndoWhatANewHolderHasRead) {
  std::vector<Operation> history = {operation(Kind::kWrite, 33, 100, 1),
                                    operation(Kind::kWrite, 34, 200, 3, Outcome::kUnknown),
                                    operation(Kind::kRead, 35, 200, 5)};
  history = without_what_a_cut_may_undo(history);
  history.push_back(operation(Kind::kRead, 36, 100, 7));
  EXPECT_THAT(violations_of(history), ElementsAre(HasSubstr("an acknowledged effect was lost")));
}

TEST(HistoryPartsTest, ACutMustNotUndoWhatWasAnswered) {
  std::vector<Operation> history = without_what_a_cut_may_undo(
      {operation(Kind::kWrite, 33, 100, 1), operation(Kind::kWrite, 34, 200, 3)});
  history.push_back(operation(Kind::kRead, 35, 100, 7));
  EXPECT_THAT(violations_of(history), ElementsAre(HasSubstr("an acknowledged effect was lost")));
}

}  // namespace
}  // namespace fenceline::testing
