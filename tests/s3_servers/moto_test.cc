// The S3 backend in front of moto_server, which keeps to all conditions of S3.

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "tests/backends/s3/s3_driver.h"
#include "tests/support/s3_server.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;

const S3Server& server() {
  static const S3Server server(S3Kind::kMoto);
  return server;
}

backends::s3::S3Options options_of(const std::string& bucket) {
  server().make_bucket(bucket);
  auto options = s3_options_for(server().port());
  options.http.commit = CommitMode::kAuto;
  options.http.probe = true;
  options.http.settle_after = std::nullopt;
  options.bucket = bucket;
  options.credentials = server().credentials();
  return options;
}

TEST(Moto, TheProbeSpeaksAboutEveryOperation) {
  S3Driver driver(options_of("probed"));
  EXPECT_FALSE(driver.backend().out_of_service());
  for (const auto& one : driver.backend().capabilities().operations) {
    RecordProperty(one.operation, std::string(to_string(one.guarantee)) + ": " + one.how);
    EXPECT_FALSE(one.how.empty()) << one.operation;
    std::cout << one.operation << ": " << to_string(one.guarantee) << ": " << one.how << '\n';
  }
  EXPECT_TRUE(server().keys("probed").empty()) << "the probe cleans up";
  EXPECT_EQ(server().uploads("probed"), 0U);
}

TEST(Moto, DeletesUnderAConditionThatItTakes) {
  S3Driver driver(options_of("deletes"));
  EXPECT_EQ(driver.remove("absent").status, 204) << "as S3 answers";
  driver.put("a", "one");
  EXPECT_EQ(driver.remove("a", {{"If-Match", "\"other\""}}).error_name(), "precondition-failed");
  S3Staged overtaken = driver.stage({.operation = "DeleteObject", .key = "a"});
  EXPECT_EQ(server().call("PUT", "/deletes/a", "theirs").status, 200);
  EXPECT_EQ(overtaken.commit().error_name(), "overloaded");
  EXPECT_EQ(driver.get("a").content, "theirs");
  S3Staged late = driver.stage({.operation = "DeleteObject", .key = "a"});
  EXPECT_EQ(server().call("DELETE", "/deletes/a").status, 204);
  EXPECT_EQ(late.commit().status, 204) << "it is gone, which is what was asked for";
  EXPECT_FALSE(driver.stage({.operation = "DeleteObject", .key = "a"}).intent())
      << "nothing will be sent";
}

TEST(Moto, ATrailerBehindABodyThatStreamsIsKept) {
  S3Driver driver(options_of("trailers"));
  const std::string content(3'000'000, 'x');
  const S3Call put{.operation = "PutObject",
                   .key = "a",
                   .fields = {{"Content-Encoding", "gzip,aws-chunked"}},
                   .content = content};
  const auto shown = [&](const char* method) {
    return server().call(method, "/trailers/a", {}, {{"x-amz-checksum-mode", "ENABLED"}});
  };
  {
    const S3Staged stale = driver.stage(with_trailer(put));
    ASSERT_TRUE(stale.staged()) << stale.error().detail;
  }
  const S3Staged tampered = driver.stage(with_trailer(put, "AAAAAA=="));
  ASSERT_FALSE(tampered.staged());
  EXPECT_EQ(tampered.error().code, "BadDigest");
  EXPECT_EQ(shown("HEAD").status, 404);
  const Answer made = driver.write(with_trailer(put));
  EXPECT_EQ(made.status, 200) << made.content;
  base::aws::RunningChecksum crc32(base::aws::ChecksumKind::kCrc32);
  crc32.add(content);
  const Response there = shown("GET");
  EXPECT_TRUE(there.body == content);
  EXPECT_EQ(there.field("x-amz-checksum-crc32"), crc32.value());
  EXPECT_EQ(there.field("Content-Encoding"), "gzip");
  EXPECT_EQ(driver.put("plain", content).field("ETag"), made.field("ETag"));
}

TEST(Moto, ATrailerBehindAPartIsKept) {
  S3Driver driver(options_of("parts"));
  const std::string content(3'000'000, 'x');
  const Answer created =
      driver.write({.operation = "CreateMultipartUpload", .key = "m", .query = "uploads"});
  const std::string id = elements(created.content, "UploadId").at(0);
  const Answer part = driver.write(with_trailer({.operation = "UploadPart",
                                                 .key = "m",
                                                 .query = "partNumber=1&uploadId=" + id,
                                                 .content = content}));
  EXPECT_EQ(part.status, 200) << part.content;
  EXPECT_FALSE(part.field("x-amz-checksum-crc32").empty());
  const Answer completed =
      driver.write({.operation = "CompleteMultipartUpload",
                    .key = "m",
                    .query = "uploadId=" + id,
                    .content = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               part.field("ETag") + "</ETag></Part></CompleteMultipartUpload>"});
  EXPECT_EQ(completed.status, 200) << completed.content;
  EXPECT_TRUE(server().call("GET", "/parts/m").body == content);
}

TEST(Moto, ACompletionInDoubtIsEndedByAnAbort) {
  S3Driver driver(options_of("uploads"));
  const Answer created =
      driver.write({.operation = "CreateMultipartUpload", .key = "m", .query = "uploads"});
  const std::string id = elements(created.content, "UploadId").at(0);
  const Answer part = driver.write({.operation = "UploadPart",
                                    .key = "m",
                                    .query = "partNumber=1&uploadId=" + id,
                                    .content = "part"});
  S3Staged completion =
      driver.stage({.operation = "CompleteMultipartUpload",
                    .key = "m",
                    .query = "uploadId=" + id,
                    .content = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               part.field("ETag") + "</ETag></Part></CompleteMultipartUpload>"});
  const std::string on_record = completion.intent()->data;
  EXPECT_FALSE(completion.intent()->shared);
  EXPECT_EQ(driver.revoke(on_record).value(), backends::Revocation::kRevoked);
  EXPECT_EQ(server().uploads("uploads"), 0U);
  EXPECT_NE(completion.commit().status / 100, 2) << "the older one comes late, finds nothing";
  EXPECT_EQ(driver.get("m").status, 404);
  EXPECT_EQ(driver.revoke(on_record).value(), backends::Revocation::kRevoked) << "idempotent";
}

TEST(Moto, AnIntentOfAnotherServerIsLeftAlone) {
  S3Driver driver(options_of("origins"));
  EXPECT_EQ(driver.revoke("upload http://elsewhere:1 /origins/m uploadId=u").value(),
            backends::Revocation::kUnknown);
  EXPECT_EQ(driver.revoke("create http://elsewhere:1 /origins/m").value(),
            backends::Revocation::kUnknown);
  EXPECT_EQ(driver.revoke("").value(), backends::Revocation::kUnknown);
}

}  // namespace
}  // namespace fenceline::testing
