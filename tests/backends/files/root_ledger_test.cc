// Which ledger a root is used with, and roots inside roots.

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

const std::string kFirst = "11111111aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kSecond = "22222222bbbbbbbbbbbbbbbbbbbbbbbb";

class RootLedgerTest : public FilesBackendTest {
 protected:
  [[nodiscard]] fs::path file() const { return root() / ".fenceline/ledger"; }

  /// Opens, which must fail, and gives the sentence.
  std::string refusal() {
    const auto opened = try_open();
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().detail;
  }

  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(RootLedgerTest, TheFirstLedgerIsWrittenDownAndMayComeBack) {
  for (const auto sync : {backends::SyncMode::kFull, backends::SyncMode::kNone}) {
    use_ledger(kFirst);
    open(sync);
    EXPECT_EQ(read(file()), kFirst + "\n");
    EXPECT_EQ(leftovers(), 0U);
    put(backend(), "a", "x");
    open(sync);
    EXPECT_EQ(get(backend(), "a").content, "x");
    close();
    fs::remove(file());
  }
}

TEST_F(RootLedgerTest, AnotherLedgerIsRefusedUntilTheFileIsRemoved) {
  use_ledger(kFirst);
  open();
  put(backend(), "a", "x");
  close();
  write(root() / ".fenceline/tmp/0123-1", "left");
  use_ledger(kSecond);
  const std::string sentence = refusal();
  EXPECT_TRUE(contains(sentence, root().string())) << sentence;
  EXPECT_TRUE(contains(sentence, "the ledger 11111111,")) << sentence;
  EXPECT_TRUE(contains(sentence, "the ledger 22222222 ")) << sentence;
  EXPECT_TRUE(contains(sentence, "remove " + file().string())) << sentence;
  EXPECT_EQ(read(file()), kFirst + "\n");
  EXPECT_EQ(leftovers(), 1U) << "what is not ours is not swept";
  fs::remove(file());
  open();
  EXPECT_EQ(read(file()), kSecond + "\n");
  use_ledger(kFirst);
  close();
  EXPECT_TRUE(contains(refusal(), "the ledger 22222222,"));
}

TEST_F(RootLedgerTest, AFileThatIsNoIdentityIsRefused) {
  use_ledger(kFirst);
  for (const std::string& content :
       {std::string(), std::string("\n"), kFirst.substr(0, 31), kFirst + "a", kFirst + "\n\n",
        std::string(1000, '\x01'), "\n" + kFirst}) {
    write(file(), content);
    EXPECT_TRUE(contains(refusal(), "were fenced by the ledger")) << content;
    EXPECT_EQ(read(file()), content);
  }
}

TEST_F(RootLedgerTest, AFileThatCannotBeReadIsRefused) {
  use_ledger(kFirst);
  open();
  close();
  calls().fail(Call::kRead, 1, EIO);
  EXPECT_TRUE(contains(refusal(), root().string()));
  fs::remove(file());
  fs::create_symlink("tmp", file());
  EXPECT_TRUE(contains(refusal(), root().string()));
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal(), root().string()));
}

TEST_F(RootLedgerTest, WithoutAnIdentityNothingIsKeptOrAsked) {
  open();
  EXPECT_FALSE(fs::exists(file()));
  close();
  write(file(), kFirst);
  open();
}

TEST_F(RootLedgerTest, WhatCannotBeMadeDurableIsNotBelieved) {
  use_ledger(kFirst);
  open(backends::SyncMode::kNone);
  close();
  fs::remove(file());
  // With SyncMode::kNone nothing else is synced: file, private directory, root.
  for (const int nth : {1, 2, 3}) {
    calls().fail(Call::kFsync, nth, EIO);
    EXPECT_FALSE(try_open(backends::SyncMode::kNone)) << nth;
    EXPECT_TRUE(calls().hit()) << nth;
    EXPECT_FALSE(fs::exists(file())) << nth;
  }
  for (const Call call : {Call::kRename, Call::kWrite}) {
    calls().fail(call, 1, ENOSPC);
    EXPECT_EQ(try_open().error().kind, base::ErrorKind::kInsufficientStorage);
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_EQ(leftovers(), 0U);
  }
  open();
  close();
  // A predecessor that was killed between its rename and its fsync looks like this.
  calls().fail(Call::kFsync, 1, EIO);
  EXPECT_FALSE(try_open(backends::SyncMode::kNone));
  EXPECT_TRUE(calls().hit());
}

TEST_F(RootLedgerTest, ARootInsideAnotherIsRefusedAndNotMade) {
  open();
  close();
  base::WorkerPool pool(1);
  fs::create_directory_symlink(root(), outside());
  for (const fs::path& inside : {root() / "a/b", root() / "a", root() / ".fenceline/tmp",
                                 outside() / "a", root() / "x/../a"}) {
    const auto opened =
        backends::open_files_backend({.root = inside.string(), .pool = pool, .syscalls = &calls()});
    ASSERT_FALSE(opened) << inside;
    EXPECT_TRUE(contains(opened.error().detail, (root() / ".fenceline/lock").string()))
        << opened.error().detail;
    EXPECT_TRUE(contains(opened.error().detail, inside.string())) << opened.error().detail;
  }
  EXPECT_FALSE(fs::exists(root() / "a"));
  open();
}

TEST_F(RootLedgerTest, ARootBesideAnotherIsServed) {
  open();
  base::WorkerPool pool(1);
  EXPECT_TRUE(backends::open_files_backend(
      {.root = root().string() + "2", .pool = pool, .syscalls = &calls()}));
}

}  // namespace
}  // namespace fenceline::testing
