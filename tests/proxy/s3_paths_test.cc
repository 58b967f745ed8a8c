#include "proxy/s3_paths.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/pattern.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Level;

S3Paths paths(std::string_view pattern, std::vector<std::string> hosts = {}) {
  return {*config::Pattern::parse(pattern), std::move(hosts)};
}

struct Case {
  std::string pattern;
  std::string path;
  Level level;
  std::string bucket;
  std::string raw_key;
};

TEST(S3PathsTest, PathStyle) {
  const std::vector<Case> cases = {
      {"/media/{key...}", "/media/a", Level::kObject, "media", "a"},
      {"/media/{key...}", "/media", Level::kBucket, "media", ""},
      {"/media/{key...}", "/media/", Level::kBucket, "media", ""},
      {"/media/{key...}", "/m%65dia/a", Level::kObject, "media", "a"},
      {"/media/{key...}", "/media//a", Level::kObject, "media", "/a"},
      {"/media/{key...}", "/media//", Level::kObject, "media", "/"},
      {"/media/{key...}", "/media/a/", Level::kObject, "media", "a/"},
      {"/media/{key...}", "/media/../a", Level::kObject, "media", "../a"},
      {"/media/{key...}", "/media/a%2Fb", Level::kObject, "media", "a%2Fb"},
      {"/{bucket}/{key...}", "/", Level::kService, "", ""},
      {"/{bucket}/{key...}", "/one", Level::kBucket, "one", ""},
      {"/{bucket}/{key...}", "/one/", Level::kBucket, "one", ""},
      {"/{bucket}/{key...}", "/one/two/three", Level::kObject, "one", "two/three"},
      {"/s3/{bucket}/{key...}", "/s3", Level::kService, "", ""},
      {"/s3/{bucket}/{key...}", "/s3/one/k", Level::kObject, "one", "k"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.path);
    const auto place = paths(each.pattern).by_path(each.path);
    ASSERT_TRUE(place && *place);
    EXPECT_EQ((*place)->level, each.level);
    EXPECT_EQ((*place)->bucket, each.bucket);
    EXPECT_EQ((*place)->raw_key, each.raw_key);
  }
}

TEST(S3PathsTest, OtherPathsAreNotTaken) {
  for (const std::string path : {"/", "/med", "/mediax", "/mediax/a", "/Media/a", "/media%2Fa"}) {
    SCOPED_TRACE(path);
    const auto place = paths("/media/{key...}").by_path(path);
    ASSERT_TRUE(place);
    EXPECT_FALSE(*place);
  }
}

TEST(S3PathsTest, WhatIsNoBucketIsRefused) {
  for (const std::string path : {"/a/k", "/..//k", "/UPPER/k", "//k", "/a%2Fb/k", "/a%zz/k"}) {
    SCOPED_TRACE(path);
    const auto place = paths("/{bucket}/{key...}").by_path(path);
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, "InvalidBucketName");
  }
}

TEST(S3PathsTest, VirtualHostStyle) {
  const S3Paths any = paths("/{bucket}/{key...}", {"s3.example.com"});
  const auto object = any.by_host("one.s3.example.com:8080", "/two//three");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->level, Level::kObject);
  EXPECT_EQ(object->bucket, "one");
  EXPECT_EQ(object->raw_key, "two//three");
  EXPECT_EQ(any.by_host("ONE.S3.Example.com", "/")->level, Level::kBucket);
  EXPECT_EQ(any.by_host("a.dotted.s3.example.com", "/k")->bucket, "a.dotted");

  const S3Paths one = paths("/media/{key...}", {"s3.example.com"});
  EXPECT_TRUE(one.by_host("media.s3.example.com", "/k"));
  EXPECT_FALSE(one.by_host("other.s3.example.com", "/k"));
}

TEST(S3PathsTest, OtherHostsNameNoBucket) {
  const S3Paths any = paths("/{bucket}/{key...}", {"s3.example.com"});
  for (const std::string host : {"s3.example.com", ".s3.example.com", "ones3.example.com", "",
                                 "one.s3.example.com.evil.org", "127.0.0.1:80", "[::1]"}) {
    SCOPED_TRACE(host);
    EXPECT_FALSE(any.by_host(host, "/k"));
  }
}

TEST(S3PathsTest, TheMoreSpecificGoesFirst) {
  EXPECT_TRUE(paths("/media/{key...}").before(paths("/{bucket}/{key...}")));
  EXPECT_FALSE(paths("/{bucket}/{key...}").before(paths("/media/{key...}")));
  EXPECT_TRUE(paths("/s3/{bucket}/{key...}").before(paths("/{bucket}/{key...}")));
}

}  // namespace
}  // namespace fenceline::proxy
