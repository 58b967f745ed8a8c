// What is kept with the content, and files that others put there.

#include <sys/xattr.h>

#include <chrono>
#include <string>

#include "base/http_date.h"
#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

void age(const fs::path& path, std::chrono::seconds seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - seconds);
}

TEST_F(FilesBackendTest, ContentTypesAreCheckedAndKept) {
  open();
  put(backend(), "a", "x");
  EXPECT_EQ(get(backend(), "a").field("Content-Type"), "application/octet-stream");
  const std::string longest(255, 'a');
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Type", longest}}).status, 204);
  EXPECT_EQ(get(backend(), "a").field("Content-Type"), longest);
  for (const std::string& bad : {longest + "a", std::string("a\tb"), std::string("a\r\nX: y"),
                                 std::string("a\x7f"), std::string("\xc3\xa4")}) {
    EXPECT_EQ(put(backend(), "a", "x", {{"Content-Type", bad}}).error_name(), "malformed-request");
  }
  EXPECT_EQ(
      put(backend(), "a", "x", {{"Content-Type", "a/b"}, {"content-type", "a/b"}}).error_name(),
      "malformed-request");
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, WhatCannotBeKeptIsRefused) {
  open();
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Range", "bytes 0-0/5"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Encoding", "gzip"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Encoding", "identity"}}).status, 201);
}

TEST_F(FilesBackendTest, FilesOfOthersAreServed) {
  open();
  write(root() / "theirs", "content");
  const Answer fresh = get(backend(), "theirs");
  EXPECT_EQ(fresh.content, "content");
  EXPECT_EQ(fresh.field("Content-Type"), "application/octet-stream");
  EXPECT_TRUE(fresh.field("ETag").starts_with("W/\"")) << "changed just now";
  EXPECT_EQ(put(backend(), "theirs", "x", {{"If-Match", fresh.field("ETag")}}).error_name(),
            "precondition-failed");
  EXPECT_FALSE(backend().find_stamp("theirs").value());
  EXPECT_EQ(put(backend(), "theirs", "x", {{"If-Match", "*"}}).status, 204);
}

TEST_F(FilesBackendTest, AForeignAttributeIsNoMetadata) {
  open();
  for (const std::string& value : {std::string("3 34 n r text/x"), std::string("1 034 n r text/x"),
                                   std::string("junk"), std::string(600, 'x'), std::string()}) {
    write(root() / "theirs", "content");
    ASSERT_EQ(
        ::setxattr((root() / "theirs").c_str(), "user.fenceline", value.data(), value.size(), 0),
        0);
    EXPECT_EQ(get(backend(), "theirs").field("Content-Type"), "application/octet-stream");
    EXPECT_FALSE(backend().find_stamp("theirs").value());
  }
}

TEST_F(FilesBackendTest, AnEditInPlaceChangesTheTag) {
  open();
  const std::string before = put(backend(), "a", "1234").field("ETag");
  age(root() / "a", std::chrono::seconds(10));
  const std::string aged = get(backend(), "a").field("ETag");
  EXPECT_NE(aged, before);
  write(root() / "a", "12345");
  EXPECT_NE(get(backend(), "a").field("ETag"), aged);
  EXPECT_EQ(put(backend(), "a", "x", {{"If-Match", before}}).error_name(), "precondition-failed");
}

TEST_F(FilesBackendTest, TagsDoNotRepeatAfterARestart) {
  open();
  const std::string before = put(backend(), "a", "x").field("ETag");
  open();
  EXPECT_EQ(get(backend(), "a").field("ETag"), before);
  EXPECT_NE(put(backend(), "a", "x").field("ETag"), before);
}

TEST_F(FilesBackendTest, LastModifiedIsNeverInTheFuture) {
  open();
  put(backend(), "a", "x");
  age(root() / "a", std::chrono::hours(-24));
  const auto shown = base::parse_http_date(get(backend(), "a").field("Last-Modified"));
  ASSERT_TRUE(shown);
  EXPECT_LE(*shown, calls().wall_clock_ns() / 1'000'000'000);
}

TEST_F(FilesBackendTest, LargeContentIsSentFromTheFileThatWasOpened) {
  open();
  const std::string old(1 << 20, 'o');
  put(backend(), "a", old);
  const Request request(base::Method::kGet, "a");
  auto reply = run(backend().read(request.resource()));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(std::holds_alternative<base::FileSlice>(reply->body));
  put(backend(), "a", "new");
  remove(backend(), "a");
  EXPECT_EQ(answer_of(std::move(reply)).content, old);
}

TEST_F(FilesBackendTest, Capabilities) {
  open(backends::SyncMode::kFull);
  EXPECT_EQ(backend().capabilities().guarantee, backends::Guarantee::kStrict);
  EXPECT_EQ(backend().capabilities().assumption, "");
  open(backends::SyncMode::kNone);
  EXPECT_EQ(backend().capabilities().guarantee, backends::Guarantee::kBounded);
  EXPECT_NE(backend().capabilities().assumption, "");
}

TEST_F(FilesBackendTest, LargeStagedBodiesAreRemovedToo) {
  open(backends::SyncMode::kNone);
  {
    const Staged staged = stage_put(backend(), "a", std::string(20U << 20U, 'x'));
    ASSERT_TRUE(staged.write);
    EXPECT_EQ(leftovers(), 1U);
  }
  EXPECT_EQ(leftovers(), 0U);
}

}  // namespace
}  // namespace fenceline::testing
