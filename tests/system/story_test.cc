// docs/stories: what goes wrong with a lock that expires, played with the binary under test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kStories = fs::path(FENCELINE_SOURCE_DIR) / "docs/stories";

/// Every script but what they share.
std::vector<std::string> stories() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kStories)) {
    if (entry.path().extension() == ".sh" && entry.path().filename() != "lib.sh") {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string binary() {
  const char* path = std::getenv("FENCELINE_BINARY");
  return path == nullptr ? "FENCELINE_BINARY-is-not-set" : path;
}

class StoryTest : public ::testing::TestWithParam<std::string> {
 protected:
  ChildProcess play(const std::string& proxy) {
    return {{kStories / (GetParam() + ".sh"), "--binary", proxy}, folder_.at("output")};
  }

  TempFolder folder_;
};

TEST_P(StoryTest, EndsAsItSays) {
  ChildProcess story = play(binary());
  EXPECT_EQ(story.wait(), 0) << story.output();
  EXPECT_THAT(story.output(), HasSubstr("412"));
  EXPECT_THAT(contents_of(kStories / "README.md"), HasSubstr(GetParam() + ".sh"));
  EXPECT_THAT(contents_of(kStories / "../guide.md"), HasSubstr(GetParam() + ".sh"));
}

// A story that cannot fail shows nothing.
TEST_P(StoryTest, FailsWhereNothingIsFenced) {
  const std::string proxy = folder_.at("proxy.sh");
  std::ofstream(proxy)
      << "#!/bin/sh\nsed -i 's/^    fence:.*/&\\n    enforce: false/' \"$3\"\nexec " << binary()
      << " \"$@\"\n";
  fs::permissions(proxy, fs::perms::owner_all);
  ChildProcess story = play(proxy);
  EXPECT_EQ(story.wait(), 1) << story.output();
  EXPECT_THAT(story.output(), HasSubstr("not '412'"));
}

INSTANTIATE_TEST_SUITE_P(Every, StoryTest, ::testing::ValuesIn(stories()), [](const auto& each) {
  std::string name = each.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace fenceline::testing
