// What is found at the opening: files of every wrong kind, second users, files that move.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "backends/sqlite/database_file.h"
#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

class SqliteOpeningTest : public SqliteBackendTest {
 protected:
  /// The sentence of a refusal, which names the file.
  std::string refusal() {
    const auto opened = try_open();
    EXPECT_FALSE(opened);
    if (opened) {
      return {};
    }
    EXPECT_EQ(opened.error().kind, base::ErrorKind::kStorageFailed);
    EXPECT_NE(opened.error().detail.find(database()), std::string::npos) << opened.error().detail;
    return opened.error().detail;
  }

  void write_file(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

TEST_F(SqliteOpeningTest, FoldersAndFileAreMade) {
  auto with = options();
  with.database = (folder() / "a/b/data.db").string();
  const auto opened = try_open(std::move(with));
  ASSERT_TRUE(opened) << opened.error().detail;
  struct stat status {};
  ASSERT_EQ(::stat((folder() / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(SqliteOpeningTest, WhatIsNoDatabaseStaysAsItIs) {
  const std::string content =
      "This is no database, but a text of somebody's.\n" + std::string(5000, 'x');
  write_file(database(), content);
  EXPECT_HAS(refusal(), "no SQLite database");
  EXPECT_EQ(read_file(database()), content);
}

TEST_F(SqliteOpeningTest, ADamagedDatabaseIsRefused) {
  open();
  put(backend(), "a", "x");
  close();
  std::string bytes = read_file(database());
  // The page of the schema.
  bytes.replace(100, 8, 8, '\xff');
  write_file(database(), bytes);
  EXPECT_HAS(refusal(), "backup");
  EXPECT_EQ(read_file(database()), bytes);
}

TEST_F(SqliteOpeningTest, ADamagedPageIsFoundInUse) {
  given("CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  open();
  for (int i = 0; i < 30; ++i) {
    put(backend(), "doc" + std::to_string(i), std::string(3000, 'x'));
  }
  close();
  std::string bytes = read_file(database());
  const std::size_t tail = bytes.size() - 20 * 4096;
  bytes.replace(tail, 20 * 4096, 20 * 4096, '\xa5');
  write_file(database(), bytes);
  open();
  int failed = 0;
  for (int i = 0; i < 30; ++i) {
    const Answer answer = get(backend(), "doc" + std::to_string(i));
    if (answer.status == 0) {
      EXPECT_EQ(answer.error_name(), "storage-failed");
      EXPECT_HAS(answer.error->detail, "data.db");
      ++failed;
    }
  }
  EXPECT_GT(failed, 0);
  bool out = false;
  for (int i = 0; i < 30 && !out; ++i) {
    const Answer answer = put(backend(), "doc" + std::to_string(i), "y");
    EXPECT_TRUE(answer.status == 204 || answer.error->applied == base::Applied::kNo);
    out = backend().out_of_service().has_value();
  }
  EXPECT_TRUE(out);
  ASSERT_EQ(alarms().size(), 1U);
  EXPECT_HAS(alarms()[0], database());
}

TEST_F(SqliteOpeningTest, WhatIsLostIsNotBegunAnew) {
  write_file(database(), "");
  EXPECT_HAS(refusal(), "empty");
  fs::remove(database());
  write_file(database() + "-wal", "x");
  EXPECT_HAS(refusal(), "its log");
  fs::remove(database() + "-wal");
  fs::create_symlink(folder() / "nothing.db", database());
  EXPECT_HAS(refusal(), "a symbolic link to nothing");
  EXPECT_FALSE(fs::exists(folder() / "nothing.db"));
}

TEST_F(SqliteOpeningTest, OtherThingsOfThatNameAreRefused) {
  fs::create_directory(database());
  EXPECT_HAS(refusal(), "not a regular file");
  fs::remove(database());
  open();
  close();
  fs::create_hard_link(database(), folder() / "other.db");
  EXPECT_HAS(refusal(), "hard links");
  fs::remove(folder() / "other.db");
  EXPECT_TRUE(try_open());
}

TEST_F(SqliteOpeningTest, Utf16IsRefused) {
  given("PRAGMA encoding='UTF-16'; CREATE TABLE t(x)");
  EXPECT_HAS(refusal(), "UTF-8");
}

TEST_F(SqliteOpeningTest, ASecondFencelineIsRefused) {
  open();
  close();
  const base::UniqueFd other(::open((database() + ".lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  ASSERT_GT(::pwrite(other.get(), "4711", 4, 0), 0);
  ASSERT_EQ(::ftruncate(other.get(), 4), 0);
  EXPECT_HAS(refusal(), "process 4711");
}

TEST_F(SqliteOpeningTest, TwoRoutesOfOneProcessShareADatabase) {
  open();
  auto with = options();
  with.table = "others";
  // The same file by another name.
  with.database = (folder() / "x/../data.db").string();
  fs::create_directory(folder() / "x");
  auto second = try_open(with);
  ASSERT_TRUE(second) << second.error().detail;
  EXPECT_EQ(put(backend(), "a", "one", {}, stamp_of("k", 5)).status, 201);
  EXPECT_EQ(put(**second, "a", "two", {}, stamp_of("k", 4)).error_name(), "stale-token");
  EXPECT_EQ(put(**second, "a", "two", {}, stamp_of("k", 5)).status, 201);
  EXPECT_EQ(get(backend(), "a").content, "one");

  with.marks = "other_marks";
  const auto third = try_open(with);
  ASSERT_FALSE(third);
  EXPECT_HAS(third.error().detail, "share one table of marks");

  close();
  EXPECT_EQ(get(**second, "a").content, "two");
  EXPECT_EQ(put(**second, "a", "three").status, 204);
  second->reset();
  open();
  EXPECT_EQ(get(backend(), "a").content, "one");
}

TEST_F(SqliteOpeningTest, AFileThatMovedTakesNoWrites) {
  open();
  put(backend(), "a", "x");
  EXPECT_FALSE(backend().displaced());
  fs::rename(database(), folder() / "moved.db");
  EXPECT_HAS(backend().displaced().value_or(""), database());
  const Answer answer = put(backend(), "a", "y");
  EXPECT_EQ(answer.error_name(), "storage-failed");
  EXPECT_EQ(answer.error->applied, base::Applied::kNo);
  EXPECT_HAS(backend().out_of_service().value_or(""), "moved");
  EXPECT_EQ(alarms().size(), 1U);
  // Also when it is back: what happened meanwhile is not known.
  fs::rename(folder() / "moved.db", database());
  EXPECT_EQ(put(backend(), "a", "y").error_name(), "storage-failed");
  EXPECT_EQ(stage_put(backend(), "a", "y").write.error().kind, base::ErrorKind::kStorageFailed);
  EXPECT_EQ(get(backend(), "a").content, "x");
  open();
  EXPECT_EQ(get(backend(), "a").content, "x");
  EXPECT_EQ(put(backend(), "a", "y").status, 204);
}

TEST_F(SqliteOpeningTest, ADatabaseWithoutTheRightToWriteIsRefused) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root, to be another user for a moment";
  }
  constexpr uid_t kNobody = 65534;
  open();
  close();
  ASSERT_EQ(::chown(folder().c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chown((database() + ".lock").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(database().c_str(), 0444), 0);
  ASSERT_EQ(::seteuid(kNobody), 0);
  const auto opened = try_open();
  ASSERT_EQ(::chmod(folder().c_str(), 0500), 0);
  const auto locked = try_open();
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(::chmod(folder().c_str(), 0700), 0);
  ASSERT_FALSE(opened);
  EXPECT_HAS(opened.error().detail, "Give this user the right to write");
  EXPECT_HAS(opened.error().detail, database());
  ASSERT_FALSE(locked);
  EXPECT_HAS(locked.error().detail, database());
}

TEST_F(SqliteOpeningTest, ALockOfAnotherProcessAtTheOpening) {
  given("PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
  auto other = foreign();
  other.run("BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
  auto with = options();
  with.busy_timeout = base::Milliseconds{50};
  const auto opened = try_open(with);
  ASSERT_FALSE(opened);
  EXPECT_HAS(opened.error().detail, "Another process has it locked");
  other.run("COMMIT");
  EXPECT_TRUE(try_open(with));
}

TEST_F(SqliteOpeningTest, ACheckpointKeepsForeignWritersOut) {
  namespace sqlite = backends::sqlite;
  auto file = sqlite::open_database_file(database(), "marks", base::Milliseconds{1000});
  ASSERT_TRUE(file) << file.error().detail;
  ASSERT_TRUE(file->writer->run("CREATE TABLE t(x); INSERT INTO t VALUES(1)"));
  auto other = foreign();
  other.run("BEGIN IMMEDIATE");
  EXPECT_EQ(sqlite::checkpoint(*file->writer, *file->guard).value(), false);
  other.run("ROLLBACK");
  EXPECT_EQ(sqlite::checkpoint(*file->writer, *file->guard).value(), true);
  other.run("BEGIN IMMEDIATE; COMMIT");
  // Everything was copied: the file alone has it.
  fs::copy_file(database(), folder() / "copy.db");
  EXPECT_EQ(ForeignConnection((folder() / "copy.db").string()).value("SELECT x FROM t"), "1");
}

}  // namespace
}  // namespace fenceline::testing
