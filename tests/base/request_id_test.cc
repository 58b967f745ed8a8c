#include "base/request_id.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace fenceline::base {
namespace {

TEST(RequestIdTest, IsNonceInSixteenHexDigitsThenCounter) {
  EXPECT_EQ(RequestIds(0xAB, 7).next().view(), "00000000000000ab-7");
  EXPECT_EQ(RequestIds(0, 0).next().view(), "0000000000000000-0");
}

TEST(RequestIdTest, TheLargestFits) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(RequestIds(kMax, kMax).next().view(), "ffffffffffffffff-18446744073709551615");
}

TEST(RequestIdTest, TwoProcessesDoNotShareTheirIds) {
  RequestIds one;
  RequestIds two;
  EXPECT_NE(one.next().view(), two.next().view());
}

TEST(RequestIdTest, DoNotRepeatAcrossThreads) {
  constexpr std::size_t kEach = 2000;
  RequestIds ids(1);
  std::vector<std::vector<RequestId>> given(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(given.size());
    for (auto& mine : given) {
      threads.emplace_back([&ids, &mine] {
        for (std::size_t i = 0; i < kEach; ++i) {
          mine.push_back(ids.next());
        }
      });
    }
  }
  std::set<std::string> all;
  for (const auto& mine : given) {
    for (const RequestId& id : mine) {
      all.emplace(id.view());
    }
  }
  EXPECT_EQ(all.size(), given.size() * kEach);
}

}  // namespace
}  // namespace fenceline::base
