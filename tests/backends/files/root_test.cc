// Opening a root: what is made, locked, swept and refused.

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777U;
}

TEST_F(FilesBackendTest, TheRootIsMadeWithItsPrivateDirectory) {
  open();
  EXPECT_EQ(mode_of(root()), 0755U);
  EXPECT_EQ(mode_of(root() / ".fenceline"), 0700U);
  EXPECT_EQ(mode_of(root() / ".fenceline/tmp"), 0700U);
  put(backend(), "a/b", "x");
  EXPECT_EQ(mode_of(root() / "a"), 0755U);
  EXPECT_EQ(mode_of(root() / "a/b"), 0644U);
}

TEST_F(FilesBackendTest, ASecondOwnerIsRefusedUntilTheFirstIsGone) {
  open();
  const auto second = try_open();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().detail.find(root() / ".fenceline/lock"), std::string::npos);
  EXPECT_NE(second.error().detail.find("Stop it"), std::string::npos);
  close();
  EXPECT_TRUE(try_open());
}

TEST_F(FilesBackendTest, TemporaryFilesOfAnEarlierProcessAreSwept) {
  open();
  put(backend(), "kept", "x");
  close();
  write(root() / ".fenceline/tmp/0123-1", "left");
  write(root() / ".fenceline/tmp/0123-2", "left");
  open();
  EXPECT_EQ(leftovers(), 0U);
  EXPECT_EQ(get(backend(), "kept").content, "x");
}

TEST_F(FilesBackendTest, ARootThatIsDisplacedSaysSo) {
  open();
  EXPECT_EQ(backend().displaced(), std::nullopt);
  fs::rename(root(), root().string() + "-moved");
  const std::string gone = backend().displaced().value_or("");
  EXPECT_NE(gone.find(root().string() + "\" was deleted or moved"), std::string::npos) << gone;
  fs::create_directory(root());
  const std::string replaced = backend().displaced().value_or("");
  EXPECT_NE(replaced.find("was replaced while it was served"), std::string::npos) << replaced;
  EXPECT_EQ(backend().out_of_service(), std::nullopt) << "what is open goes on";
  fs::remove(root());
  fs::rename(root().string() + "-moved", root());
  EXPECT_EQ(backend().displaced(), std::nullopt);
  fs::remove_all(root());
  EXPECT_NE(backend().displaced(), std::nullopt);
}

TEST_F(FilesBackendTest, AFileSystemWithoutAttributesIsRefused) {
  calls().fail(Call::kSetXattr, 1, ENOTSUP);
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find("extended attributes"), std::string::npos);
  EXPECT_NE(opened.error().detail.find(root().string()), std::string::npos);
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, AKernelWithoutOpenat2IsRefused) {
  calls().fail(Call::kOpen, 1, ENOSYS);
  EXPECT_NE(try_open().error().detail.find("Linux 5.6"), std::string::npos);
  calls().fail(Call::kOpen, 1, EPERM);
  EXPECT_NE(try_open().error().detail.find("seccomp"), std::string::npos);
}

TEST_F(FilesBackendTest, ThePrivateDirectoryMustBeReal) {
  fs::create_directories(outside());
  fs::create_directories(root());
  fs::create_directory_symlink(outside(), root() / ".fenceline");
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find(".fenceline"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(outside()));
}

TEST_F(FilesBackendTest, ARootThatIsAFileIsRefused) {
  write(root(), "x");
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find(root().string()), std::string::npos);
  EXPECT_EQ(read(root()), "x");
}

TEST_F(FilesBackendTest, AnErrorWhileOpeningReleasesTheLock) {
  calls().fail(Call::kCreate, 1, ENOSPC);
  EXPECT_EQ(try_open().error().kind, base::ErrorKind::kInsufficientStorage);
  EXPECT_TRUE(try_open());
}

}  // namespace
}  // namespace fenceline::testing
