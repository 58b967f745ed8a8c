#include "backends/files/metadata.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace fenceline::backends::files {
namespace {

constexpr std::string_view kNonce = "0123456789abcdef-2f";
constexpr std::string_view kRequest = "fedcba9876543210-1000000";

Metadata metadata(std::int64_t token, std::string_view nonce, std::string_view request_id,
                  std::string_view type) {
  return {base::Token::of(token), PackedId(nonce), PackedId(request_id), type};
}

std::string text(const PackedId& id) {
  PackedId::Space space;
  return std::string(id.text(space));
}

TEST(FileMetadata, IsReadAsWritten) {
  for (const std::string& type : {std::string(), std::string("text/plain; charset=utf-8")}) {
    for (const std::string_view nonce : {std::string_view("ab-1"), kNonce}) {
      const std::string value = encode(metadata(base::Token::kMax, nonce, kRequest, type));
      const auto found = decode(value);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->token.value(), base::Token::kMax);
      EXPECT_EQ(text(found->nonce), nonce);
      EXPECT_EQ(text(found->request_id), kRequest);
      EXPECT_EQ(found->content_type, type);
    }
  }
  const std::string none = encode(metadata(0, "n", "", ""));
  EXPECT_FALSE(decode(none)->token.exists());
}

TEST(FileMetadata, FitsBesideTheInode) {
  const std::string value =
      encode(metadata(base::Token::kMax, kNonce, kRequest, "application/octet-stream"));
  EXPECT_LE(value.size(), 60U);
}

TEST(FileMetadata, TheFirstFormatIsReadStill) {
  const auto found = decode("1 34 ab-1 request-1 text/plain; charset=utf-8");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token.value(), 34);
  EXPECT_EQ(text(found->nonce), "ab-1");
  EXPECT_EQ(text(found->request_id), "request-1");
  EXPECT_EQ(found->content_type, "text/plain; charset=utf-8");
}

TEST(FileMetadata, AnythingElseIsForeign) {
  for (const char* text : {"", "1", "1 ", "1 2", "1 2 n", "1 2 n r", "2 2 n r t", "1 x n r t",
                           "1 -1 n r t", "1 02 n r t", "1 9223372036854775808 n r t", "1 2  r t",
                           "1 2 n\" r t", "1 2 n r t\n", "1 2 n r \xc3\xa4", " 1 2 n r t"}) {
    EXPECT_FALSE(decode(text)) << text;
  }
  EXPECT_FALSE(decode("1 2 n " + std::string(65, 'r') + " t"));
  const std::string whole = encode(metadata(34, kNonce, kRequest, "text/plain"));
  const std::size_t type_at = whole.size() - std::string_view("text/plain").size();
  for (std::size_t size = 0; size < type_at; ++size) {
    EXPECT_FALSE(decode(std::string_view(whole).substr(0, size))) << size;
  }
  for (const std::string& value :
       {std::string("\x02\x22\x00\x01r", 5), std::string("\x02\x22\x01\"\x01r"),
        std::string("\x02\x22\x01\nr\x01r"), std::string("\x02\x22\x01n\x01\n"),
        std::string("\x02\x22\x01n\x01rt\n"), std::string("\x02\x22\x01n\xf2r"),
        std::string("\x02\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x01n\x01r"),
        "\x03" + whole.substr(1)}) {
    EXPECT_FALSE(decode(value)) << value;
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
