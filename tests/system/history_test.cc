#include "tests/support/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fenceline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

/// Histories of the file `f` under the key `k`, written by hand.
struct HistoryBuilder {
  std::vector<Operation> operations{};

  HistoryBuilder& add(Kind kind, std::int64_t token, std::int64_t value, std::int64_t start,
                      std::int64_t end, Outcome outcome = Outcome::kDone) {
    operations.push_back({kind, "k", "f", token, value, start, end, outcome});
    return *this;
  }
  HistoryBuilder& write(std::int64_t token, std::int64_t value, std::int64_t start,
                        std::int64_t end, Outcome outcome = Outcome::kDone) {
    return add(Kind::kWrite, token, value, start, end, outcome);
  }
  HistoryBuilder& remove(std::int64_t token, std::int64_t start, std::int64_t end,
                         Outcome outcome = Outcome::kDone) {
    return add(Kind::kDelete, token, 0, start, end, outcome);
  }
  HistoryBuilder& read(std::int64_t value, std::int64_t start, std::int64_t end) {
    return add(Kind::kRead, 0, value, start, end);
  }
  HistoryBuilder& fenced_read(std::int64_t token, std::int64_t value, std::int64_t start,
                              std::int64_t end) {
    return add(Kind::kRead, token, value, start, end);
  }
  /// Puts the last operation on another file under the same key.
  HistoryBuilder& elsewhere() {
    operations.back().resource = "other";
    return *this;
  }

  [[nodiscard]] std::vector<std::string> violations() const { return violations_of(operations); }
};

HistoryBuilder history() { return {}; }

TEST(HistoryTest, AllowsTheStory) {
  EXPECT_THAT(history()
                  .read(0, 1, 2)
                  .write(33, 100, 3, 4)
                  .read(100, 5, 6)
                  .write(33, 101, 7, 20, Outcome::kFenced)
                  .write(34, 200, 8, 9)
                  .read(200, 21, 22)
                  .fenced_read(35, 200, 23, 24)
                  .remove(35, 25, 26)
                  .read(0, 27, 28)
                  .violations(),
              IsEmpty());
}

TEST(HistoryTest, AllowsEitherOrderOfConcurrentWritesOfOneToken) {
  for (const std::int64_t last : {100, 200}) {
    EXPECT_THAT(
        history().write(33, 100, 1, 10).write(33, 200, 2, 9).read(last, 11, 12).violations(),
        IsEmpty());
  }
}

TEST(HistoryTest, AllowsAnUnknownWriteToApplyOrNot) {
  for (const std::int64_t seen : {100, 200}) {
    EXPECT_THAT(history()
                    .write(33, 100, 1, 2)
                    .write(34, 200, 3, 4, Outcome::kUnknown)
                    .read(seen, 5, 6)
                    .violations(),
                IsEmpty());
  }
}

TEST(HistoryTest, AllowsAReadToSeeAWriteThatIsNotYetAnswered) {
  EXPECT_THAT(history().write(33, 100, 1, 10).read(100, 2, 3).read(100, 4, 5).violations(),
              IsEmpty());
}

TEST(HistoryTest, RefusesAcceptedTokensThatGoDown) {
  EXPECT_THAT(history().write(34, 100, 1, 2).write(33, 200, 3, 4).violations(),
              ElementsAre(HasSubstr("the token 34 had been accepted")));
}

TEST(HistoryTest, RefusesThemOverTheFilesOfOneKey) {
  EXPECT_THAT(history().write(34, 100, 1, 2).elsewhere().write(33, 200, 3, 4).violations(),
              ElementsAre(HasSubstr("the token 34 had been accepted")));
}

TEST(HistoryTest, RefusesThemAfterAFencedRead) {
  EXPECT_THAT(history().fenced_read(34, 0, 1, 2).write(33, 200, 3, 4).violations(),
              ElementsAre(HasSubstr("the token 34 had been accepted")));
}

TEST(HistoryTest, RefusesTheEffectOfARefusedWrite) {
  for (const Outcome outcome : {Outcome::kFenced, Outcome::kNotApplied}) {
    EXPECT_THAT(
        history().write(34, 100, 1, 2).write(33, 200, 3, 4, outcome).read(200, 5, 6).violations(),
        ElementsAre(HasSubstr("must have no effect")));
  }
}

TEST(HistoryTest, RefusesAStaleEffectWithoutAnAnswer) {
  EXPECT_THAT(history()
                  .write(34, 100, 1, 2)
                  .write(33, 200, 3, 4, Outcome::kUnknown)
                  .read(200, 5, 6)
                  .violations(),
              ElementsAre(HasSubstr("must have no effect")));
}

TEST(HistoryTest, RefusesAnEffectThatLandsAfterANewerOne) {
  EXPECT_THAT(history()
                  .write(33, 100, 1, 9, Outcome::kUnknown)
                  .write(34, 200, 2, 3)
                  .read(200, 4, 5)
                  .read(100, 6, 7)
                  .violations(),
              ElementsAre(HasSubstr("an acknowledged effect was lost or a stale one happened")));
}

TEST(HistoryTest, RefusesALostWrite) {
  EXPECT_THAT(history().write(33, 100, 1, 2).read(0, 3, 4).violations(),
              ElementsAre(HasSubstr("no delete explains it")));
  EXPECT_THAT(history().write(33, 100, 1, 2).write(33, 200, 3, 4).read(100, 5, 6).violations(),
              ElementsAre(HasSubstr("an acknowledged effect was lost")));
}

TEST(HistoryTest, RefusesALostDelete) {
  EXPECT_THAT(history().write(33, 100, 1, 2).remove(33, 3, 4).read(100, 5, 6).violations(),
              ElementsAre(HasSubstr("an acknowledged effect was lost")));
}

TEST(HistoryTest, RefusesARefusedDeleteThatRemoves) {
  EXPECT_THAT(
      history().write(34, 100, 1, 2).remove(33, 3, 4, Outcome::kFenced).read(0, 5, 6).violations(),
      ElementsAre(HasSubstr("no delete explains it")));
}

TEST(HistoryTest, RefusesTornContent) {
  EXPECT_THAT(history().write(33, 100, 1, 2).read(-1, 3, 4).violations(),
              ElementsAre(HasSubstr("what nobody wrote")));
}

TEST(HistoryTest, RefusesReadsThatGoBack) {
  EXPECT_THAT(history()
                  .write(33, 100, 1, 2)
                  .write(33, 200, 3, 20, Outcome::kUnknown)
                  .read(200, 4, 5)
                  .read(100, 6, 7)
                  .violations(),
              ElementsAre(HasSubstr("an acknowledged effect was lost")));
  EXPECT_THAT(history()
                  .write(33, 100, 1, 2)
                  .remove(33, 3, 20, Outcome::kUnknown)
                  .read(0, 4, 5)
                  .read(100, 6, 7)
                  .violations(),
              ElementsAre(HasSubstr("an acknowledged effect was lost")));
}

TEST(HistoryTest, RefusesAnOlderWriteAfterAFencedRead) {
  EXPECT_THAT(history()
                  .write(33, 100, 1, 9, Outcome::kUnknown)
                  .fenced_read(34, 0, 2, 3)
                  .read(100, 4, 5)
                  .violations(),
              ElementsAre(HasSubstr("it landed after that read")));
}

TEST(HistoryTest, RemembersAnEarlierFencedReadBelowALaterOne) {
  EXPECT_THAT(history()
                  .write(32, 100, 1, 20, Outcome::kUnknown)
                  .fenced_read(33, 0, 2, 3)
                  .fenced_read(34, 100, 4, 5)
                  .violations(),
              ElementsAre(HasSubstr("which an earlier read with token 33 had not seen")));
  EXPECT_THAT(history()
                  .write(32, 100, 1, 20, Outcome::kUnknown)
                  .fenced_read(33, 100, 2, 3)
                  .fenced_read(34, 100, 4, 5)
                  .violations(),
              IsEmpty());
}

TEST(HistoryTest, RefusesAFencedReadOfANewerWrite) {
  EXPECT_THAT(history().write(35, 100, 1, 10).fenced_read(34, 100, 2, 9).violations(),
              ElementsAre(HasSubstr("saw the effect of the higher token 35")));
}

TEST(HistoryTest, RefusesWhatWasSentLater) {
  EXPECT_THAT(history().read(100, 1, 2).write(33, 100, 3, 4).violations(),
              ElementsAre(HasSubstr("only sent later")));
}

TEST(HistoryTest, RefusesARefusalWithoutAReason) {
  EXPECT_THAT(history().write(33, 100, 1, 2).write(33, 200, 3, 4, Outcome::kFenced).violations(),
              ElementsAre(HasSubstr("no higher token was sent")));
}

}  // namespace
}  // namespace fenceline::testing
