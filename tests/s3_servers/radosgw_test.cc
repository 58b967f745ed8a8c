// The S3 backend in front of radosgw.

#include "tests/s3_servers/radosgw.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/s3/s3_driver.h"
#include "tests/support/s3_server.h"

namespace fenceline::testing {
namespace {

using backends::Guarantee;

class Radosgw : public ::testing::Test {
 protected:
  [[nodiscard]] std::string stored(const std::string& key) const {
    return radosgw().call("GET", "/" + bucket + "/" + key).body;
  }

  const std::string bucket = next_bucket();
};

TEST_F(Radosgw, TheProbeFindsWhatItReallyDoes) {
  S3Driver driver(probed_options(bucket));
  EXPECT_FALSE(driver.backend().out_of_service());
  EXPECT_EQ(driver.guarantee_of("PutObject").guarantee, Guarantee::kStrict)
      << driver.guarantee_of("PutObject").how;
  for (const char* const operation : {"DeleteObject", "CopyObject", "DeleteObjects"}) {
    EXPECT_EQ(driver.guarantee_of(operation).guarantee, Guarantee::kBounded)
        << driver.guarantee_of(operation).how;
  }
  EXPECT_EQ(driver.guarantee_of("CompleteMultipartUpload").guarantee, Guarantee::kBounded)
      << driver.guarantee_of("CompleteMultipartUpload").how;
  EXPECT_EQ(driver.backend().capabilities().guarantee, Guarantee::kBounded);
  EXPECT_TRUE(radosgw().keys(bucket).empty()) << "the probe cleans up";
  EXPECT_EQ(radosgw().uploads(bucket), 0U);
}

TEST_F(Radosgw, WritesUnderAConditionThatItTakes) {
  S3Driver driver(probed_options(bucket));
  const Answer made = driver.put("a", "one");
  EXPECT_EQ(made.status, 200) << made.content;
  EXPECT_EQ(driver.put("a", "two", {}, 2).status, 200);
  EXPECT_EQ(stored("a"), "two");
  EXPECT_EQ(driver.put("a", "three", {{"If-None-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_EQ(driver.put("a", "three", {{"If-Match", made.field("ETag")}}).error_name(),
            "precondition-failed");
  EXPECT_EQ(driver.put("absent", "x", {{"If-Match", "*"}}).error->code, "NoSuchKey");
  const std::string current = driver.head("a").field("ETag");
  EXPECT_EQ(driver.put("a", "three", {{"If-Match", current}}).status, 200)
      << "quoted, which this server by itself never takes";
  EXPECT_EQ(driver.put("new", "x", {{"If-None-Match", "*"}}).status, 200);
  EXPECT_EQ(stored("a"), "three");
}

TEST_F(Radosgw, AWriteThatOthersOvertookIsToldToTheClient) {
  S3Driver driver(probed_options(bucket));
  driver.put("a", "one");
  S3Staged staged = driver.stage({.operation = "PutObject", .key = "a", .content = "ours"});
  EXPECT_EQ(radosgw().call("PUT", "/" + bucket + "/a", "theirs").status, 200);
  EXPECT_EQ(staged.commit().error_name(), "overloaded") << "the record names the older state";
  EXPECT_EQ(stored("a"), "theirs");
}

TEST_F(Radosgw, AStreamThatOthersOvertookIsRefused) {
  S3Driver driver(probed_options(bucket));
  driver.put("a", "one");
  S3Staged staged =
      driver.stage({.operation = "PutObject", .key = "a", .content = std::string(3'000'000, 'x')});
  EXPECT_EQ(radosgw().call("PUT", "/" + bucket + "/a", "theirs").status, 200);
  EXPECT_EQ(staged.commit().error_name(), "overloaded");
  EXPECT_EQ(stored("a"), "theirs");
}

TEST_F(Radosgw, TheRecordNamesTheStateThatAWriteWaitsFor) {
  S3Driver driver(probed_options(bucket));
  using backends::Bearing;
  using backends::Revocation;
  const auto staged_put = [&](const std::string& content) {
    return driver.stage({.operation = "PutObject", .key = "a", .content = content});
  };
  S3Staged creation = staged_put("one");
  const std::string creates = creation.intent()->data;
  EXPECT_EQ(driver.revoke(creates).value(), Revocation::kUnknown) << "it is still absent";
  S3Staged rival = staged_put("two");
  EXPECT_EQ(rival.bearing_on(creates), Bearing::kReplaces);
  EXPECT_EQ(rival.commit().status, 200);
  EXPECT_EQ(driver.revoke(creates).value(), Revocation::kDormant);
  EXPECT_NE(creation.commit().status, 200) << "the older one comes late, and changes nothing";
  EXPECT_EQ(stored("a"), "two");

  S3Staged change = staged_put("three");
  const std::string changes = change.intent()->data;
  EXPECT_EQ(driver.revoke(changes).value(), Revocation::kUnknown) << "its state is there";
  S3Staged newer = staged_put("four");
  EXPECT_EQ(newer.bearing_on(changes), Bearing::kReplaces);
  EXPECT_EQ(newer.commit().status, 200);
  EXPECT_EQ(driver.revoke(changes).value(), Revocation::kDormant);
  EXPECT_EQ(staged_put("two").bearing_on(changes), Bearing::kRevives) << "the same ETag again";
  EXPECT_EQ(staged_put("five").bearing_on(changes), Bearing::kReplaces);
  EXPECT_EQ(
      driver.stage({.operation = "PutObject", .key = "a", .content = std::string(2'000'000, 'x')})
          .bearing_on(changes),
      Bearing::kRevives)
      << "nobody knows the ETag of what streams";
  EXPECT_EQ(driver
                .stage({.operation = "PutObjectTagging",
                        .key = "a",
                        .query = "tagging",
                        .content = "<Tagging/>"})
                .bearing_on(changes),
            Bearing::kNone);
  EXPECT_EQ(driver.stage({.operation = "DeleteObjects", .query = "delete", .document = "<Delete/>"})
                .bearing_on(changes),
            Bearing::kRevives)
      << "a plain write may do anything";
  EXPECT_EQ(
      driver.stage({.operation = "PutObject", .key = "b", .content = "two"}).bearing_on(changes),
      Bearing::kNone);
}

TEST_F(Radosgw, PutsGetsAndDeletes) {
  S3Driver driver(plain_options(bucket));
  const std::string content = "hello, world";
  const Answer put =
      driver.put("a/b", content, {{"Content-Type", "text/plain"}, {"x-amz-meta-color", "red"}});
  EXPECT_EQ(put.status, 200) << put.content;
  EXPECT_EQ(put.field("ETag"), "\"e4d7f1b4ed2e42d15898f4b27b019da4\"") << "the MD5 of the content";
  const Answer get = driver.get("a/b");
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.content, content);
  EXPECT_EQ(get.field("Content-Type"), "text/plain");
  EXPECT_EQ(get.field("x-amz-meta-color"), "red");
  EXPECT_EQ(get.field("x-amz-meta-fencing-token"), "");
  const Response direct = radosgw().call("HEAD", "/" + bucket + "/a/b");
  EXPECT_EQ(direct.field("x-amz-meta-fencing-token"), "1");
  EXPECT_EQ(direct.field("x-amz-meta-fencing-request"), "request-1");
  const Answer head = driver.head("a/b");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.head_length_bytes, content.size());
  EXPECT_EQ(head.content, "");
  const Answer part = driver.get("a/b", {{"Range", "bytes=7-"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.content, "world");
  EXPECT_EQ(driver.get("a/b", {{"If-None-Match", put.field("ETag")}}).status, 304);
  EXPECT_EQ(driver.remove("a/b").status, 204);
  EXPECT_EQ(driver.get("a/b").status, 404);
}

TEST_F(Radosgw, KeysKeepTheirBytes) {
  S3Driver driver(plain_options(bucket));
  for (const std::string key :
       {"d//a b+c%25\xC3\xBC=~", "q/../z", "+", "a?b&c=d", ";", "'(*)!", "x/", "./."}) {
    EXPECT_EQ(driver.put(key, "content of " + key).status, 200) << key;
    EXPECT_EQ(driver.get(key).content, "content of " + key);
  }
  EXPECT_EQ(driver.get("z").status, 404) << "nothing is normalised";
  EXPECT_EQ(radosgw().keys(bucket).size(), 8U);
}

TEST_F(Radosgw, LargeBodiesStream) {
  S3Driver driver(plain_options(bucket));
  std::string content;
  for (int i = 0; content.size() < 5'000'000; ++i) {
    content += std::to_string(i);
  }
  EXPECT_EQ(driver.put("large", content).status, 200) << "unsigned payload";
  EXPECT_EQ(driver.get("large").content, content);
  const Answer hashed =
      driver.put("hashed", content, {{"x-amz-content-sha256", base::aws::sha256_hex(content)}});
  EXPECT_EQ(hashed.status, 200) << hashed.content;
  const Answer wrong =
      driver.put("wrong", content, {{"x-amz-content-sha256", base::aws::sha256_hex("x")}});
  EXPECT_EQ(wrong.status, 400) << "the hash that was declared is signed";
  EXPECT_EQ(driver.get("wrong").status, 404);
  EXPECT_EQ(
      driver
          .write(
              {.operation = "PutObject", .key = "unknown", .content = content, .declares = false})
          .status,
      200);
  EXPECT_EQ(driver.get("unknown").content, content);
}

// It takes no trailers, which the probe finds out.
TEST_F(Radosgw, ATrailerBehindABodyThatStreamsIsDropped) {
  S3Driver driver(probed_options(bucket));
  const std::string content(3'000'000, 'x');
  S3Call put{.operation = "PutObject",
             .key = "a",
             .fields = {{"Content-Encoding", "gzip,aws-chunked"}},
             .content = content};
  EXPECT_EQ(driver.write(with_trailer(put, "AAAAAA==")).error->code, "BadDigest");
  EXPECT_EQ(driver.get("a").status, 404);
  const Answer made = driver.write(with_trailer(put));
  EXPECT_EQ(made.status, 200) << made.content;
  EXPECT_TRUE(stored("a") == content);
  EXPECT_EQ(driver.head("a").field("Content-Encoding"), "gzip");
  put.key = "part";
  put.operation = "UploadPart";
  const Answer created =
      driver.write({.operation = "CreateMultipartUpload", .key = "part", .query = "uploads"});
  put.query = "partNumber=1&uploadId=" + elements(created.content, "UploadId").at(0);
  EXPECT_EQ(driver.write(with_trailer(put)).field("ETag"), driver.head("a").field("ETag"));
}

TEST_F(Radosgw, WhatIsTooLongToBeHeldNeedsALength) {
  auto options = plain_options(bucket);
  options.unknown_length_bytes = 100'000;
  S3Driver driver(options);
  const auto put = [&](std::size_t bytes) {
    return driver.write({.operation = "PutObject",
                         .key = "a",
                         .content = std::string(bytes, 'x'),
                         .declares = false});
  };
  EXPECT_EQ(put(100'000).status, 200);
  EXPECT_EQ(put(100'001).error_name(), "length-required");
  EXPECT_EQ(stored("a").size(), 100'000U);
}

TEST_F(Radosgw, EmptyObjects) {
  S3Driver driver(plain_options(bucket));
  EXPECT_EQ(driver.put("empty", "").status, 200);
  const Answer get = driver.get("empty");
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.content, "");
}

TEST_F(Radosgw, ErrorsSayWhy) {
  S3Driver driver(plain_options(bucket));
  const Answer absent = driver.get("absent");
  EXPECT_EQ(absent.status, 404);
  EXPECT_EQ(elements(absent.content, "Code").at(0), "NoSuchKey");
  EXPECT_FALSE(elements(absent.content, "Message").at(0).empty()) << absent.content;
  EXPECT_EQ(driver.head("absent").status, 404);
}

std::string completion_of(const std::vector<std::string>& tags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + tags[i] +
           "</ETag></Part>";
  }
  return xml + "</CompleteMultipartUpload>";
}

TEST_F(Radosgw, MultipartUploads) {
  S3Driver driver(plain_options(bucket));
  const Answer created = driver.write({.operation = "CreateMultipartUpload",
                                       .key = "m",
                                       .query = "uploads=",
                                       .fields = {{"x-amz-meta-color", "red"}},
                                       .token = 7,
                                       .request_id = "create-7"});
  ASSERT_EQ(created.status, 200) << created.content;
  const std::string id = elements(created.content, "UploadId").at(0);
  const std::vector<std::string> parts = {std::string(5'300'000, 'a'), std::string(10, 'b')};
  std::vector<std::string> tags;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Answer part =
        driver.write({.operation = "UploadPart",
                      .key = "m",
                      .query = "partNumber=" + std::to_string(i + 1) + "&uploadId=" + id,
                      .content = parts[i]});
    ASSERT_EQ(part.status, 200) << part.content;
    tags.push_back(part.field("ETag"));
  }
  EXPECT_EQ(
      elements(
          driver.read({.operation = "ListParts", .key = "m", .query = "uploadId=" + id}).content,
          "PartNumber")
          .size(),
      2U);
  EXPECT_EQ(driver.get("m").status, 404);
  S3Staged staged = driver.stage({.operation = "CompleteMultipartUpload",
                                  .key = "m",
                                  .query = "uploadId=" + id,
                                  .content = completion_of(tags)});
  EXPECT_TRUE(staged.intent());
  EXPECT_EQ(driver.get("m").status, 404) << "staged, not committed";
  const Answer done = staged.commit();
  EXPECT_EQ(done.status, 200) << done.content;
  EXPECT_TRUE(driver.head("m").field("ETag").ends_with("-2\"")) << "that of an upload in parts";
  EXPECT_EQ(driver.get("m").content, parts[0] + parts[1]);
  EXPECT_EQ(driver.get("m").field("x-amz-meta-color"), "red");
  EXPECT_EQ(radosgw().call("HEAD", "/" + bucket + "/m").field("x-amz-meta-fencing-token"), "7");
}

TEST_F(Radosgw, UploadsAreAborted) {
  S3Driver driver(plain_options(bucket));
  const Answer created =
      driver.write({.operation = "CreateMultipartUpload", .key = "m", .query = "uploads"});
  const std::string id = elements(created.content, "UploadId").at(0);
  EXPECT_EQ(radosgw().uploads(bucket), 1U);
  EXPECT_EQ(
      driver.write({.operation = "AbortMultipartUpload", .key = "m", .query = "uploadId=" + id})
          .status,
      204);
  EXPECT_EQ(radosgw().uploads(bucket), 0U);
  const Answer late = driver.write({.operation = "CompleteMultipartUpload",
                                    .key = "m",
                                    .query = "uploadId=" + id,
                                    .content = completion_of({"\"x\""})});
  EXPECT_NE(late.status / 100, 2) << "this server says 404 or 500: " << late.content;
  EXPECT_EQ(driver.get("m").status, 404);
}

TEST_F(Radosgw, CopiesWithinTheBucket) {
  S3Driver driver(plain_options(bucket));
  driver.put("from a", "content", {{"x-amz-meta-color", "red"}});
  const Answer copied = driver.write({.operation = "CopyObject",
                                      .key = "to",
                                      .fields = {{"x-amz-copy-source", "media/from%20a"}}});
  EXPECT_EQ(copied.status, 200) << copied.content;
  EXPECT_EQ(driver.get("to").content, "content");
  EXPECT_EQ(driver.get("to").field("x-amz-meta-color"), "red");
  const Answer replaced = driver.write({.operation = "CopyObject",
                                        .key = "to",
                                        .fields = {{"x-amz-copy-source", "/media/from%20a"},
                                                   {"x-amz-metadata-directive", "REPLACE"},
                                                   {"x-amz-meta-color", "blue"}},
                                        .token = 9,
                                        .request_id = "copy-9"});
  EXPECT_EQ(replaced.status, 200) << replaced.content;
  EXPECT_EQ(driver.get("to").field("x-amz-meta-color"), "blue");
  EXPECT_EQ(radosgw().call("HEAD", "/" + bucket + "/to").field("x-amz-meta-fencing-request"),
            "copy-9");
  EXPECT_EQ(driver
                .write({.operation = "CopyObject",
                        .key = "to",
                        .fields = {{"x-amz-copy-source", "other/from"}}})
                .error_name(),
            "malformed-request");
}

TEST_F(Radosgw, DeletesManyAtOnce) {
  S3Driver driver(plain_options(bucket));
  driver.put("a", "1");
  driver.put("b&c", "2");
  driver.put("d", "3");
  const Answer deleted = driver.write(
      {.operation = "DeleteObjects",
       .query = "delete=",
       .fields = {{"Content-MD5", "of what the client has sent"}},
       .document = "<Delete><Object><Key>a</Key></Object><Object><Key>b&amp;c</Key></Object>"
                   "</Delete>"});
  EXPECT_EQ(deleted.status, 200) << deleted.content;
  EXPECT_EQ(elements(deleted.content, "Deleted").size(), 2U) << deleted.content;
  EXPECT_EQ(radosgw().keys(bucket), std::vector<std::string>{"d"});
}

TEST_F(Radosgw, ListsAndTags) {
  S3Driver driver(plain_options(bucket));
  driver.put("p/a b", "1");
  driver.put("p/c", "2");
  driver.put("q", "3");
  const Answer list =
      driver.read({.operation = "ListObjectsV2",
                   .query = "list-type=2&prefix=p%2F&max-keys=1&x-id=ListObjectsV2"});
  EXPECT_EQ(list.status, 200) << list.content;
  EXPECT_EQ(elements(list.content, "Key"), std::vector<std::string>{"p/a b"});
  const std::string tags =
      "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>";
  EXPECT_EQ(
      driver
          .write({.operation = "PutObjectTagging", .key = "q", .query = "tagging", .content = tags})
          .status,
      200);
  const Answer read =
      driver.read({.operation = "GetObjectTagging", .key = "q", .query = "tagging"});
  EXPECT_EQ(elements(read.content, "Value"), std::vector<std::string>{"v"}) << read.content;
  EXPECT_EQ(driver.get("q").content, "3");
}

TEST_F(Radosgw, VirtualHosts) {
  auto options = plain_options(bucket);
  options.addressing = backends::s3::Addressing::kVirtualHost;
  options.http.client.host = "localhost";
  S3Driver driver(options);
  EXPECT_EQ(driver.put("a b", "one").status, 200);
  EXPECT_EQ(stored("a%20b"), "one");
  EXPECT_EQ(driver.get("a b").content, "one");
  EXPECT_EQ(driver
                .write({.operation = "CopyObject",
                        .key = "c",
                        .fields = {{"x-amz-copy-source", "media/a%20b"}}})
                .status,
            200);
}

TEST_F(Radosgw, WrongCredentialsAreSeenByTheProbeAndByClients) {
  auto options = probed_options(bucket);
  options.credentials->secret_key = "wrong";
  S3Driver driver(options);
  EXPECT_EQ(driver.guarantee_of("PutObject").guarantee, Guarantee::kBounded);
  EXPECT_NE(driver.guarantee_of("PutObject").how.find("403"), std::string::npos);
  const Answer refused = driver.put("a", "x");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(elements(refused.content, "Code").at(0), "SignatureDoesNotMatch");
}

TEST_F(Radosgw, WhatIsRequiredAndNotThereTakesTheRouteOutOfService) {
  auto options = probed_options(bucket);
  options.http.required = Guarantee::kStrict;
  S3Driver driver(options);
  ASSERT_TRUE(driver.backend().out_of_service());
  EXPECT_NE(driver.backend().out_of_service()->find("requires strict"), std::string::npos);
  EXPECT_EQ(driver.put("a", "x").error_name(), "upstream-failed");
  EXPECT_EQ(driver.get("a").status, 404) << "reads go on";
}

}  // namespace
}  // namespace fenceline::testing
