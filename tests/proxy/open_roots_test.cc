#include "proxy/open_roots.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/temp_folder.h"

namespace fenceline::proxy {
namespace {

using backends::SyncMode;
using fenceline::testing::TempFolder;

class OpenRootsTest : public ::testing::Test {
 protected:
  base::Result<std::shared_ptr<backends::Backend>> open(SyncMode sync = SyncMode::kNone) {
    return roots_.open(root_, root_, sync);
  }

  /// As another process, or an effect that has not ended, would have it.
  base::Result<std::unique_ptr<backends::Backend>> open_outside() {
    backends::FilesOptions options{.root = root_, .pool = pool_};
    options.sync = SyncMode::kNone;
    return backends::open_files_backend(std::move(options));
  }

  TempFolder folder_;
  std::string root_ = folder_.at("root");
  base::WorkerPool pool_{1};
  base::MetricRegistry registry_;
  OpenRoots roots_{"0123456789abcdef0123456789abcdef", registry_, pool_};
};

TEST_F(OpenRootsTest, ARootIsOpenOnceAndUntilTheLastHolderLetsGo) {
  auto first = open();
  ASSERT_TRUE(first) << first.error().detail;
  auto second = open();
  ASSERT_TRUE(second);
  EXPECT_EQ(first->get(), second->get());
  first->reset();
  EXPECT_FALSE(open_outside());
  second->reset();
  EXPECT_TRUE(open_outside());
  EXPECT_TRUE(open(SyncMode::kFull)) << "nobody holds it, so it may be opened otherwise";
}

TEST_F(OpenRootsTest, AnOpenRootKeepsItsSync) {
  auto first = open();
  ASSERT_TRUE(first);
  const auto other = open(SyncMode::kFull);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().detail.find("open with another `sync`"), std::string::npos);
}

TEST_F(OpenRootsTest, ARootThatWasLetGoIsWaitedForAndAStrangersIsNot) {
  auto stranger = open_outside();
  ASSERT_TRUE(stranger);
  EXPECT_FALSE(open());
  stranger->reset();
  ASSERT_TRUE(open());
  auto late = open_outside();
  ASSERT_TRUE(late);
  auto opening = std::async(std::launch::async, [this] { return open().has_value(); });
  late->reset();
  EXPECT_TRUE(opening.get());
}

}  // namespace
}  // namespace fenceline::proxy
