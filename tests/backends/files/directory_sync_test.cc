#include "backends/files/directory_sync.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fenceline::backends::files {
namespace {

// Everything on one thread: an fsync runs `during`, in which the test lets others join, and posted
// work waits until the test runs it.
class DirectorySyncTest : public ::testing::Test {
 protected:
  void sync(std::uint64_t inode, const std::string& who) {
    sync_.sync(inode, std::make_shared<const base::UniqueFd>(),
               [this, who](int code) { results_.emplace_back(who, code); });
  }

  void run_posted() {
    while (!posted_.empty()) {
      auto work = std::move(posted_.front());
      posted_.pop_front();
      work();
    }
  }

  int fsyncs_ = 0;
  int code_ = 0;
  std::function<void()> during_;
  std::vector<std::pair<std::string, int>> results_;
  std::deque<std::function<void()>> posted_;
  DirectorySync sync_{[this](int) {
                        ++fsyncs_;
                        if (auto during = std::exchange(during_, nullptr)) {
                          during();
                        }
                        return code_;
                      },
                      [this](std::function<void()> work) { posted_.push_back(std::move(work)); }};
};

using Results = std::vector<std::pair<std::string, int>>;

TEST_F(DirectorySyncTest, OneAloneSyncsAtOnce) {
  sync(1, "a");
  EXPECT_EQ(results_, (Results{{"a", 0}}));
  sync(1, "b");
  EXPECT_EQ(fsyncs_, 2);
  EXPECT_TRUE(posted_.empty());
}

TEST_F(DirectorySyncTest, WhoComesDuringARoundSharesTheNext) {
  during_ = [this] {
    sync(1, "b");
    sync(1, "c");
    EXPECT_TRUE(results_.empty()) << "a running fsync does not cover later renames";
  };
  sync(1, "a");
  EXPECT_EQ(results_, (Results{{"a", 0}}));
  run_posted();
  EXPECT_EQ(results_, (Results{{"a", 0}, {"b", 0}, {"c", 0}}));
  EXPECT_EQ(fsyncs_, 2);
}

TEST_F(DirectorySyncTest, OtherDirectoriesDoNotWait) {
  during_ = [this] {
    sync(2, "b");
    EXPECT_EQ(results_, (Results{{"b", 0}}));
  };
  sync(1, "a");
  EXPECT_EQ(fsyncs_, 2);
}

TEST_F(DirectorySyncTest, AfterAFailureNothingIsTriedAgain) {
  during_ = [this] { sync(1, "b"); };
  code_ = -EIO;
  sync(1, "a");
  EXPECT_EQ(results_, (Results{{"a", -EIO}, {"b", -EIO}}));
  code_ = 0;
  sync(1, "c");
  sync(2, "d");
  EXPECT_EQ(results_.at(2), (std::pair<std::string, int>{"c", -EIO}));
  EXPECT_EQ(results_.at(3), (std::pair<std::string, int>{"d", -EIO}));
  EXPECT_EQ(fsyncs_, 1);
  EXPECT_TRUE(posted_.empty());
}

TEST_F(DirectorySyncTest, AGroupThatWaitsElsewhereFailsToo) {
  during_ = [this] {
    sync(1, "b");
    code_ = -EIO;
    sync(2, "c");
    code_ = 0;
  };
  sync(1, "a");
  run_posted();
  EXPECT_EQ(results_, (Results{{"c", -EIO}, {"a", 0}, {"b", -EIO}}));
  EXPECT_EQ(fsyncs_, 2);
}

}  // namespace
}  // namespace fenceline::backends::files
