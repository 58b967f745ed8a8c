#include "backends/s3/place.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/s3/object_name.h"
#include "tests/backends/s3/s3_driver.h"

namespace fenceline::backends::s3 {
namespace {

S3Options options_with(Addressing addressing) {
  S3Options options;
  options.http.client.host = "s3.example.com";
  options.http.client.port = 9000;
  options.addressing = addressing;
  return options;
}

TEST(S3Place, PathStyle) {
  const S3Options options = options_with(Addressing::kPath);
  const Place object = place_of(options, "media", "a b//../c+d");
  EXPECT_EQ(object.host, "s3.example.com:9000");
  EXPECT_EQ(object.target({}), "/media/a%20b//../c%2Bd");
  EXPECT_EQ(object.target("acl"), "/media/a%20b//../c%2Bd?acl");
  EXPECT_EQ(place_of(options, "media", {}).target("list-type=2"), "/media?list-type=2");
  EXPECT_EQ(place_of(options, {}, {}).target({}), "/");
}

TEST(S3Place, VirtualHostStyle) {
  const S3Options options = options_with(Addressing::kVirtualHost);
  const Place object = place_of(options, "media", "a/b");
  EXPECT_EQ(object.host, "media.s3.example.com:9000");
  EXPECT_EQ(object.target({}), "/a/b");
  EXPECT_EQ(place_of(options, "media", {}).target("uploads"), "/?uploads");
  EXPECT_EQ(place_of(options, {}, {}).host, "s3.example.com:9000");
}

TEST(S3Place, TheUsualPortIsNotSaid) {
  S3Options options = options_with(Addressing::kVirtualHost);
  options.http.client.tls = true;
  options.http.client.port = 443;
  EXPECT_EQ(place_of(options, "media", "a").host, "media.s3.example.com");
}

TEST(S3Place, AFixedBucketStandsForTheClients) {
  S3Options options;
  EXPECT_EQ(bucket_upstream(options, "media"), "media");
  options.bucket = "store";
  EXPECT_EQ(bucket_upstream(options, "media"), "store");
  EXPECT_EQ(bucket_upstream(options, {}), "") << "on the level of the service there is none";
}

TEST(S3Query, IsSortedAndEncodedOneWay) {
  EXPECT_EQ(query_upstream("uploadId=b%2fc&partNumber=1").value(), "partNumber=1&uploadId=b%2Fc");
  EXPECT_EQ(query_upstream("prefix=%61%7e%20+&list-type=2").value(), "list-type=2&prefix=a~%20%2B");
  EXPECT_EQ(query_upstream("uploads").value(), "uploads");
  EXPECT_EQ(query_upstream("uploads=").value(), "uploads");
  EXPECT_EQ(query_upstream("prefix=a=b").value(), "prefix=a%3Db");
  EXPECT_EQ(query_upstream("&&a=1&").value(), "a=1");
  EXPECT_EQ(query_upstream("").value(), "");
}

TEST(S3Query, LeavesOutWhoTheClientWas) {
  EXPECT_EQ(query_upstream("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2Fb&X-Amz-Date=c&"
                           "X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Signature=d&"
                           "X-Amz-Security-Token=fence-7&X-Amz-Content-Sha256=e&"
                           "x-id=PutObject&versionId=v")
                .value(),
            "versionId=v");
}

TEST(S3Query, BrokenEncodingIsRefused) {
  for (const char* const broken : {"a=%", "a=%1", "a=%zz", "%4=b"}) {
    const auto refused = query_upstream(broken);
    ASSERT_FALSE(refused) << broken;
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_EQ(refused.error().code, "InvalidArgument");
  }
}

TEST(S3CopySource, NamesTheBucketOfTheUpstream) {
  S3Options options;
  options.bucket = "store";
  const S3Request request{.bucket = "media"};
  EXPECT_EQ(copy_source_upstream(options, request, "media/a%20b%2Bc").value(), "/store/a%20b%2Bc");
  EXPECT_EQ(
      copy_source_upstream(options, request, "/media/a?versionId=v%2F1").value().substr(0, 19),
      "/store/a?versionId=");
}

TEST(S3CopySource, AnotherBucketIsRefused) {
  S3Options options;
  options.bucket = "store";
  const S3Request request{.bucket = "media"};
  for (const char* const other : {"store/a", "/other/a"}) {
    const auto refused = copy_source_upstream(options, request, other);
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_EQ(refused.error().code, "InvalidArgument");
  }
}

}  // namespace
}  // namespace fenceline::backends::s3
