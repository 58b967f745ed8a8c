#include "fencing/source_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace fenceline::fencing {
namespace {

using base::Token;
using std::chrono::minutes;

std::vector<Token> tokens_of(const std::vector<std::int64_t>& values) {
  std::vector<Token> tokens;
  for (const std::int64_t value : values) {
    tokens.push_back(Token::of(value));
  }
  return tokens;
}

TEST(LongestRiseTest, LengthAndLowestEnd) {
  struct Row {
    std::vector<std::int64_t> tokens;
    std::size_t length;
    std::int64_t last;
  };
  const Row rows[] = {{{}, 0, 0},           {{7}, 1, 7},           {{1, 2, 3}, 3, 3},
                      {{3, 2, 1}, 1, 1},    {{99, 1, 2, 3}, 3, 3}, {{1, 99, 2, 3}, 3, 3},
                      {{5, 6, 1, 2}, 2, 2}, {{1, 1, 1}, 1, 1}};
  for (const Row& row : rows) {
    const Rise rise = longest_rise(tokens_of(row.tokens));
    EXPECT_EQ(rise.length, row.length);
    EXPECT_EQ(rise.last, Token::of(row.last));
  }
}

class SourceWatchTest : public ::testing::Test {
 protected:
  std::optional<Suspicion> refuse(std::int64_t presented, std::int64_t mark = 100,
                                  const std::string& holder = {}, const std::string& key = "a") {
    return watch_.refused(key, {Token::of(presented), Token::of(mark), holder}, now_);
  }

  std::optional<Suspicion> suspicion(std::int64_t mark = 100, const std::string& key = "a") {
    return watch_.suspicion(key, Token::of(mark), now_);
  }

  SourceWatch watch_{{}};
  base::MonotonicTime now_{};
};

TEST_F(SourceWatchTest, FourTokensThatRiseBelowTheMarkAreSuspicious) {
  EXPECT_FALSE(refuse(1, 100, "w1"));
  EXPECT_FALSE(refuse(2, 100, "w2"));
  EXPECT_FALSE(refuse(2, 100, "w2"));
  EXPECT_FALSE(refuse(5, 100, "w1"));
  EXPECT_FALSE(suspicion());
  const auto told = refuse(6, 100, "w3");
  ASSERT_TRUE(told);
  EXPECT_EQ(told->mark, Token::of(100));
  EXPECT_EQ(told->presented, Token::of(6));
  EXPECT_EQ(told->rising, 4U);
  EXPECT_EQ(told->holders, 3U);
  EXPECT_TRUE(suspicion());
}

TEST_F(SourceWatchTest, OneZombieIsNotHoweverLongItInsists) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(refuse(99, 100, "old"));
  }
  EXPECT_FALSE(suspicion());
}

TEST_F(SourceWatchTest, ZombiesThatComeBackTheNewestFirstAreNot) {
  for (std::int64_t token = 99; token > 80; --token) {
    EXPECT_FALSE(refuse(token));
  }
}

TEST_F(SourceWatchTest, AZombieBetweenTheNewHoldersHidesNothing) {
  refuse(99);
  refuse(1);
  refuse(99);
  refuse(2);
  refuse(3);
  const auto told = refuse(4);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->presented, Token::of(4)) << "not the zombie's";
  EXPECT_EQ(told->holders, 0U);
}

TEST_F(SourceWatchTest, ARequestWithTheCurrentTokenEndsIt) {
  refuse(1);
  refuse(2);
  refuse(3);
  watch_.passed("other");
  watch_.passed("a");
  EXPECT_FALSE(refuse(4));
  EXPECT_FALSE(suspicion());
}

TEST_F(SourceWatchTest, AMarkThatMovesEndsIt) {
  refuse(1);
  refuse(2);
  refuse(3);
  EXPECT_FALSE(refuse(4, 101));
  refuse(5, 101);
  refuse(6, 101);
  EXPECT_TRUE(refuse(7, 101));
  EXPECT_FALSE(suspicion(7)) << "reset meanwhile";
  EXPECT_TRUE(suspicion(101));
}

TEST_F(SourceWatchTest, IsToldAgainAfterAWhileOnly) {
  refuse(1);
  refuse(2);
  refuse(3);
  ASSERT_TRUE(refuse(4));
  now_ += minutes(9);
  EXPECT_FALSE(refuse(5));
  EXPECT_TRUE(suspicion());
  now_ += minutes(1);
  const auto again = refuse(5);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rising, 5U);
}

TEST_F(SourceWatchTest, OldRefusalsDoNotCount) {
  refuse(1);
  refuse(2);
  refuse(3);
  now_ += minutes(61);
  EXPECT_FALSE(refuse(4));
  refuse(5);
  refuse(6);
  EXPECT_TRUE(refuse(7));
  now_ += minutes(61);
  EXPECT_FALSE(suspicion());
}

TEST_F(SourceWatchTest, KeysAndTokensAreBounded) {
  for (int key = 0; key < 5000; ++key) {
    const std::string name = "key/" + std::to_string(key);
    refuse(1, 100, {}, name);
    refuse(2, 100, {}, name);
    refuse(3, 100, {}, name);
  }
  EXPECT_FALSE(refuse(4, 100, {}, "key/0")) << "forgotten";
  EXPECT_TRUE(refuse(4, 100, {}, "key/4999"));
  for (std::int64_t token = 5; token < 1000; ++token) {
    refuse(token, 1000, {}, "key/4999");
  }
  EXPECT_EQ(suspicion(1000, "key/4999")->rising, 16U);
}

TEST(SourceWatchThreadsTest, ManyAtOnce) {
  SourceWatch watch({});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&watch, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = "key/" + std::to_string(i % 7);
        watch.refused(key, {Token::of(1 + i % 50), Token::of(100), "h"}, {});
        if (i % 5 == t) {
          watch.passed(key);
        }
        watch.suspicion(key, Token::of(100), {});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int i = 0; i < 7; ++i) {
    watch.passed("key/" + std::to_string(i));
    EXPECT_FALSE(watch.suspicion("key/" + std::to_string(i), Token::of(100), {}));
  }
}

}  // namespace
}  // namespace fenceline::fencing
