// The cut disk must lose what a disk may lose, and nothing else: otherwise cuts prove nothing.

#include "tests/campaign/power_disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/faults/cut_disk/volatile_image.h"
#include "tests/support/child_process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

constexpr std::size_t kBlock = VolatileImage::kBlockBytes;

TEST(VolatileImageTest, KeepsWhatWasFlushedAndAnyPartOfTheRest) {
  std::mt19937_64 random(1);
  std::set<std::string> left;
  for (int i = 0; i < 200; ++i) {
    VolatileImage image(std::vector<char>(3 * kBlock, '-'));
    image.write(0, std::string(3 * kBlock, 'a'));
    image.flush();
    image.write(kBlock, std::string(2 * kBlock, 'b'));
    image.write(2 * kBlock, std::string(kBlock, 'c'));
    EXPECT_EQ(image.read(2 * kBlock, 1), "c");
    const VolatileImage::Cut cut = image.cut(random);
    EXPECT_EQ(cut.writes, 2U);
    EXPECT_EQ(cut.blocks, 3U);
    EXPECT_EQ(image.read(0, kBlock), std::string(kBlock, 'a'));
    std::string blocks;
    for (std::size_t block = 1; block < 3; ++block) {
      blocks += image.read(block * kBlock, 1);
      EXPECT_EQ(image.read(block * kBlock, kBlock), std::string(kBlock, blocks.back()));
    }
    left.insert(blocks);
  }
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("aa", "ab", "ac", "ba", "bb", "bc"));
}

class PowerDiskTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view content, bool durable) {
    const base::UniqueFd fd(
        ::open(disk_.at(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::write(fd.get(), content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    if (durable) {
      EXPECT_EQ(::fsync(fd.get()), 0);
    }
  }

  /// Cuts the power at the next operation of the disk, which this asks for.
  std::string cut_now() {
    disk_.cut_after(0);
    base::UniqueFd root(::open(disk_.at("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ::syncfs(root.get());
    root.reset();
    wait_until("the power to go", [&] { return disk_.is_cut(); });
    return disk_.power_cycle();
  }

  TempFolder folder_;
  PowerDisk disk_{folder_.path().string(), 1};
};

TEST_F(PowerDiskTest, LosesWhatWasNotSynced) {
  write("durable", "is kept", true);
  write("volatile", "is lost", false);
  EXPECT_THAT(cut_now(), ::testing::StartsWith("cut after "));
  EXPECT_EQ(contents_of(disk_.at("durable")), "is kept");
  EXPECT_NE(::access(disk_.at("volatile").c_str(), F_OK), 0);
}

TEST_F(PowerDiskTest, LosesARenameWhoseDirectoryWasNotSynced) {
  write("file", "the old content", true);
  write("new", "the new content", true);
  ASSERT_EQ(::rename(disk_.at("new").c_str(), disk_.at("file").c_str()), 0);
  cut_now();
  EXPECT_EQ(contents_of(disk_.at("file")), "the old content");
}

TEST_F(PowerDiskTest, KeepsEverythingWithoutACut) {
  write("volatile", "is kept", false);
  EXPECT_EQ(disk_.power_cycle(), "");
  EXPECT_EQ(contents_of(disk_.at("volatile")), "is kept");
}

}  // namespace
}  // namespace fenceline::testing
