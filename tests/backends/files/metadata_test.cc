#include "backends/files/metadata.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace fenceline::backends::files {
namespace {

TEST(FileMetadata, IsReadAsWritten) {
  for (const std::string& type : {std::string(), std::string("text/plain; charset=utf-8")}) {
    const Metadata written{base::Token::of(base::Token::kMax), "ab-1", "request-1", type};
    const std::string text = encode(written);
    const auto found = decode(text);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->token, written.token);
    EXPECT_EQ(found->nonce, written.nonce);
    EXPECT_EQ(found->request_id, written.request_id);
    EXPECT_EQ(found->content_type, written.content_type);
  }
  EXPECT_FALSE(decode(encode({base::Token(), "n", "", ""}))->token.exists());
}

TEST(FileMetadata, AnythingElseIsForeign) {
  for (const char* text : {"", "1", "1 ", "1 2", "1 2 n", "1 2 n r", "2 2 n r t", "1 x n r t",
                           "1 -1 n r t", "1 02 n r t", "1 9223372036854775808 n r t", "1 2  r t",
                           "1 2 n\" r t", "1 2 n r t\n", "1 2 n r \xc3\xa4", " 1 2 n r t"}) {
    EXPECT_FALSE(decode(text)) << text;
  }
}

TEST(FileMetadata, TagsOfForeignFilesAreWeakUntilTheyHaveSettled) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat status {};
  status.st_ino = 5;
  status.st_mtim.tv_sec = 90;
  status.st_ctim.tv_sec = 100;
  const std::string settled = foreign_etag(status, 102 * kSecond);
  EXPECT_TRUE(settled.starts_with("\"x5-"));
  EXPECT_EQ(foreign_etag(status, 102 * kSecond - 1), "W/" + settled);
  EXPECT_EQ(foreign_etag(status, 50 * kSecond), "W/" + settled) << "changed in the future";
  status.st_size = 1;
  EXPECT_NE(foreign_etag(status, 102 * kSecond), settled);
}

TEST(FileMetadata, TagsOfFilesWithAnyTime) {
  for (const std::int64_t seconds : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                     std::int64_t{10413792000},  // 2300-01-01
                                     std::numeric_limits<std::int64_t>::max()}) {
    struct stat status {};
    status.st_mtim.tv_sec = seconds;
    status.st_ctim.tv_sec = seconds;
    EXPECT_TRUE(etag_of("ab-1", status).starts_with("\"ab-1-")) << seconds;
    EXPECT_EQ(foreign_etag(status, 1'796'000'000'000'000'000).starts_with("W/"), seconds > 0)
        << seconds;
  }
}

}  // namespace
}  // namespace fenceline::backends::files
