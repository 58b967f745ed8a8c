#include "client/source_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fenceline::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SourceUrl, IsCutIntoItsParts) {
  auto url =
      parse_source_url("Redis://me:p%40ss:w@a:1,[::1]:2,c/3?prefix=x%2Fy&ca=/etc/ca.pem", 6379);
  ASSERT_TRUE(url) << url.error().detail;
  EXPECT_EQ(url->scheme, "redis");
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "p@ss:w");
  EXPECT_THAT(url->hosts,
              ElementsAre(SourceHost{"a", 1}, SourceHost{"::1", 2}, SourceHost{"c", 6379}));
  EXPECT_EQ(url->path, "/3");
  EXPECT_EQ(url->take("prefix"), "x/y");
  EXPECT_FALSE(url->check_all_taken());
  EXPECT_EQ(url->take("ca"), "/etc/ca.pem");
  EXPECT_EQ(url->take("ca"), std::nullopt);
  EXPECT_TRUE(url->check_all_taken());
}

TEST(SourceUrl, AnEmptyUserIsNotNoUser) {
  EXPECT_EQ(parse_source_url("redis://:secret@h", 1)->user, "");
  EXPECT_EQ(parse_source_url("redis://:secret@h", 1)->password, "secret");
  EXPECT_EQ(parse_source_url("redis://h", 1)->user, std::nullopt);
}

TEST(SourceUrl, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.1:8080", "no scheme"},  {"://h:1", "no scheme"},
      {"redis://", "no host"},          {"redis://a,,b", "no host"},
      {"redis://a:0", "port of 'a:0'"}, {"redis://a:65536", "1 to 65535"},
      {"redis://a:12x", "1 to 65535"},  {"redis://::1", "brackets"},
      {"redis://[::1", "closing"},      {"redis://[::1]6379", "Behind"},
      {"redis://a:1,a:1", "twice"},     {"redis://a?x", "name=value"},
      {"redis://a?=x", "name=value"},   {"redis://a?x=1&x=2", "twice"},
      {"redis://a/%zz", "%25"},         {"redis://a/%00", "%25"},
      {"redis://a/%4", "%25"},          {"redis://a#b", "%23"},
  };
  for (const auto& [text, reason] : cases) {
    const auto url = parse_source_url(text, 6379);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_THAT(url.error().detail, HasSubstr(reason)) << text;
  }
  EXPECT_FALSE(parse_source_url("fenceline://h", 0));
}

TEST(SourceUrl, ThePasswordIsNeverSaid) {
  for (const char* text : {"redis://u:s3cret%@h", "redis://u:s3cret@h:0", "redis://u:s3cret@"}) {
    const auto url = parse_source_url(text, 6379);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().detail, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace fenceline::client
