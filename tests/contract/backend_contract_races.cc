#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/backend_contract.h"

namespace fenceline::testing {
namespace {

constexpr std::size_t kWriters = 8;
constexpr int kRounds = 10;

// Commits all of them at once and gives the number of those that succeeded.
int commit_at_once(std::vector<Staged>& writes) {
  std::atomic<int> waiting = static_cast<int>(writes.size());
  std::atomic<int> won = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(writes.size());
    for (Staged& write : writes) {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0) {
          std::this_thread::yield();
        }
        const Answer answer = write.commit();
        if (answer.status != 0) {
          ++won;
        } else {
          EXPECT_EQ(answer.error_name(), "precondition-failed");
        }
      });
    }
  }
  return won;
}

std::vector<Staged> stage_rivals(backends::Backend& backend, const std::string& name,
                                 const Fields& fields) {
  std::vector<Staged> writes;
  for (std::size_t i = 0; i < kWriters; ++i) {
    writes.push_back(stage_put(backend, name, std::string(1, static_cast<char>('a' + i)), fields));
  }
  return writes;
}

TEST_P(VersionContract, OfRacingCreationsExactlyOneWins) {
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "race" + std::to_string(round);
    auto writes = stage_rivals(backend(), name, {{"If-None-Match", "*"}});
    EXPECT_EQ(commit_at_once(writes), 1);
    EXPECT_EQ(get(backend(), name).content.size(), 1U);
  }
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(VersionContract, OfRacingReplacementsOfOneVersionExactlyOneWins) {
  put(backend(), "a", "start");
  std::string etag = tag_of("a");
  for (int round = 0; round < kRounds; ++round) {
    auto writes = stage_rivals(backend(), "a", {{"If-Match", etag}});
    writes.push_back(stage_delete(backend(), "a", {{"If-Match", "\"other\""}}));
    EXPECT_EQ(commit_at_once(writes), 1);
    etag = get(backend(), "a").field("ETag");
  }
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(BackendContract, AReaderSeesOneWholeVersion) {
  // Below and above what is copied into an answer, and a length that says which.
  const std::vector<std::string> versions = {std::string(1'000, 'a'), std::string(100'000, 'b'),
                                             std::string(20'000, 'c')};
  put(backend(), "a", versions[0]);
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  const std::jthread reader([&] {
    while (!done || reads == 0) {
      const Answer answer = get(backend(), "a");
      EXPECT_EQ(answer.status, 200);
      EXPECT_TRUE(answer.content == versions[0] || answer.content == versions[1] ||
                  answer.content == versions[2]);
      ++reads;
    }
  });
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_EQ(put(backend(), "a", versions[i % versions.size()]).status, 204);
  }
  done = true;
}

}  // namespace
}  // namespace fenceline::testing
