// What a name may reach, and what not.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <cstring>
#include <string>

#include "backends/files/paths.h"
#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;
using backends::files::check_name;

// The answers to all methods, for names on which they agree.
void expect_all(backends::Backend& backend, const std::string& name, const std::string& error) {
  SCOPED_TRACE(name);
  EXPECT_EQ(get(backend, name).error_name(), error);
  EXPECT_EQ(head(backend, name).error_name(), error);
  EXPECT_EQ(put(backend, name, "x").error_name(), error);
  EXPECT_EQ(remove(backend, name).error_name(), error);
}

TEST(FileNames, AreCheckedBeforeAnySystemCall) {
  for (const char* name :
       {"", "a", "a/b", ".a", "..a", "a.", ".fencelinex", "a/.fenceline", "a b"}) {
    EXPECT_TRUE(check_name(name)) << name;
  }
  for (const char* name : {"/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b"}) {
    EXPECT_EQ(check_name(name).error().kind, base::ErrorKind::kMalformedRequest) << name;
  }
  EXPECT_EQ(check_name(std::string("a\0b", 3)).error().kind, base::ErrorKind::kMalformedRequest);
  for (const char* name : {".fenceline", ".fenceline/lock", ".fenceline/"}) {
    EXPECT_EQ(check_name(name).error().kind, base::ErrorKind::kForbiddenName) << name;
  }
  EXPECT_TRUE(check_name(std::string(255, 'a')));
  EXPECT_EQ(check_name(std::string(256, 'a')).error().kind, base::ErrorKind::kTargetTooLong);
  std::string long_name = "a";
  while (long_name.size() < 4095) {
    long_name += "/a";
  }
  EXPECT_TRUE(check_name(long_name));
  EXPECT_EQ(check_name(long_name + "/a").error().kind, base::ErrorKind::kTargetTooLong);
}

TEST_F(FilesBackendTest, ThePrivateDirectoryIsReserved) {
  open();
  expect_all(backend(), ".fenceline", "forbidden-name");
  expect_all(backend(), ".fenceline/lock", "forbidden-name");
  expect_all(backend(), ".fenceline/tmp/x", "forbidden-name");
  EXPECT_EQ(get(backend(), ".fenceline/").error_name(), "forbidden-name");
  EXPECT_EQ(backend().find_stamp(".fenceline/lock").error().kind, base::ErrorKind::kForbiddenName);
}

TEST_F(FilesBackendTest, SymlinksAreNeverFollowed) {
  open();
  write(outside() / "secret", "secret");
  write(root() / "plain", "plain");
  fs::create_symlink(outside() / "secret", root() / "link");
  fs::create_directory_symlink(outside(), root() / "dir");
  fs::create_symlink("plain", root() / "inner");
  fs::create_symlink("nowhere", root() / "dangling");
  for (const char* name : {"link", "dir/secret", "inner", "dangling", "dir/new"}) {
    expect_all(backend(), name, "forbidden-name");
  }
  EXPECT_EQ(get(backend(), "dir").error_name(), "forbidden-name");
  EXPECT_EQ(get(backend(), "dir/").error_name(), "forbidden-name");
  EXPECT_EQ(put(backend(), "dir/sub/new", "x").error_name(), "forbidden-name");
  EXPECT_EQ(read(outside() / "secret"), "secret");
  EXPECT_EQ(read(root() / "plain"), "plain");
  EXPECT_FALSE(fs::exists(outside() / "new"));
  EXPECT_FALSE(fs::exists(outside() / "sub"));
  EXPECT_TRUE(fs::is_symlink(root() / "link"));
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, SpecialFilesAreNeitherServedNorWaitedFor) {
  open();
  ASSERT_EQ(::mkfifo((root() / "fifo").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(&address.sun_path[0], (root() / "socket").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  expect_all(backend(), "fifo", "forbidden-name");
  expect_all(backend(), "socket", "forbidden-name");
  ::close(socket);
  if (::mknod((root() / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    expect_all(backend(), "null", "forbidden-name");
  }
  EXPECT_EQ(get(backend(), "").content, "{\"entries\":[]}");
}

TEST_F(FilesBackendTest, FilesAndDirectoriesInEachOthersWay) {
  open();
  put(backend(), "file", "x");
  put(backend(), "dir/file", "x");
  EXPECT_EQ(put(backend(), "dir", "y").error_name(), "name-conflict");
  EXPECT_EQ(remove(backend(), "dir").error_name(), "name-conflict");
  EXPECT_EQ(put(backend(), "file/below", "y").error_name(), "name-conflict");
  EXPECT_EQ(put(backend(), "file/far/below", "y").error_name(), "name-conflict");
  EXPECT_EQ(get(backend(), "file/below").error_name(), "not-found");
  EXPECT_EQ(remove(backend(), "file/below").error_name(), "not-found");
  EXPECT_EQ(put(backend(), "", "y").error_name(), "name-conflict");
  EXPECT_EQ(remove(backend(), "").error_name(), "name-conflict");
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, ATrailingSlashMeansADirectory) {
  open();
  put(backend(), "file", "x");
  EXPECT_EQ(get(backend(), "file/").error_name(), "not-found");
  EXPECT_EQ(put(backend(), "new/", "x").error_name(), "malformed-request");
  EXPECT_EQ(remove(backend(), "file/").error_name(), "malformed-request");
  EXPECT_EQ(put(backend(), "/", "x").error_name(), "malformed-request");
}

TEST_F(FilesBackendTest, LongNamesAreTargetTooLong) {
  open();
  expect_all(backend(), std::string(256, 'a'), "target-too-long");
  EXPECT_EQ(put(backend(), std::string(255, 'a'), "x").status, 201);
}

TEST_F(FilesBackendTest, ARefusedConditionMakesNoDirectories) {
  open();
  EXPECT_EQ(put(backend(), "x/y", "x", {{"If-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_FALSE(fs::exists(root() / "x"));
}

TEST_F(FilesBackendTest, OtherMethodsAreNotTaken) {
  open();
  const Request request(base::Method::kPost, "a");
  PiecesBody body({});
  const auto staged = run(backend().stage(request.resource(), body, {}));
  EXPECT_EQ(staged.error().kind, base::ErrorKind::kMethodNotAllowed);
}

}  // namespace
}  // namespace fenceline::testing
