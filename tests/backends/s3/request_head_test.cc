#include "backends/s3/request_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/s3/s3_driver.h"

namespace fenceline::testing {
namespace {

using backends::s3::HeadParts;
using backends::s3::S3Options;

/// The head that goes upstream as text: request line, then the fields in their order.
std::string head_of(S3Call call, HeadParts parts = {}, bool read_body = false) {
  S3InFlight request(std::move(call));
  if (read_body) {
    while (!run(request.body().read()).value().empty()) {
    }
  }
  S3Options options = s3_options_for(9000);
  const auto out = backends::s3::head_upstream(options, request.resource(nullptr), parts);
  if (!out) {
    return "refused: " + out.error().detail;
  }
  return out->method + " " + out->target + "\r\n" + std::string(out->fields.text());
}

bool has(const std::string& head, const std::string& line) {
  return head.find("\r\n" + line + "\r\n") != std::string::npos;
}

bool names(const std::string& head, const std::string& field) {
  return head.find("\r\n" + field + ":") != std::string::npos;
}

const base::Stamp& stamp() {
  static const base::Stamp stamp{.key = "k", .token = base::Token::of(34), .request_id = "abc-1"};
  return stamp;
}

TEST(S3Head, OfAPut) {
  EXPECT_EQ(head_of({.operation = "PutObject",
                     .key = "a b",
                     .query = "x-id=PutObject",
                     .fields = {{"Host", "s3.local"},
                                {"Authorization", "AWS4-HMAC-SHA256 secret"},
                                {"x-amz-date", "20130524T000000Z"},
                                {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"},
                                {"x-amz-security-token", "fence-34"},
                                {"Content-Type", "text/plain"},
                                {"x-amz-meta-color", "red"},
                                {"x-amz-acl", "private"},
                                {"Cache-Control", "no-cache"},
                                {"Fencing-Token", "34"},
                                {"Expect", "100-continue"},
                                {"Connection", "keep-alive"}},
                     .content = "x"},
                    {.stamp = &stamp()}),
            "PUT /store/a%20b\r\n"
            "Host: 127.0.0.1:9000\r\n"
            "Content-Type: text/plain\r\n"
            "x-amz-meta-color: red\r\n"
            "x-amz-acl: private\r\n"
            "Cache-Control: no-cache\r\n"
            "X-Forwarded-For: 127.0.0.1\r\n"
            "X-Forwarded-Proto: http\r\n"
            "X-Forwarded-Host: s3.local\r\n"
            "Via: 1.1 fenceline\r\n"
            "x-amz-meta-fencing-token: 34\r\n"
            "x-amz-meta-fencing-request: abc-1\r\n");
}

TEST(S3Head, WhatAPresignerMovedIntoTheQueryIsAFieldAgain) {
  const std::string head =
      head_of({.operation = "PutObject",
               .key = "a",
               .query = "X-Amz-Acl=public-read&x-amz-meta-color=light%20red&X-Amz-Signature=s&"
                        "x-amz-checksum-crc32=AAAAAA%3D%3D"});
  EXPECT_TRUE(head.starts_with("PUT /store/a\r\n")) << head;
  EXPECT_TRUE(has(head, "x-amz-acl: public-read")) << head;
  EXPECT_TRUE(has(head, "x-amz-meta-color: light red")) << head;
  EXPECT_FALSE(names(head, "x-amz-checksum-crc32")) << head;
  EXPECT_TRUE(head_of({.operation = "PutObject", .key = "a", .query = "x-amz-acl=a%0d%0ab"})
                  .starts_with("refused: "));
}

TEST(S3Head, AWrappedBodyIsNamedAsWhatItIs) {
  const std::string head = head_of({.operation = "PutObject",
                                    .key = "a",
                                    .fields = {{"Content-Encoding", "aws-chunked, gzip"},
                                               {"x-amz-decoded-content-length", "1"},
                                               {"x-amz-trailer", "x-amz-checksum-crc32"},
                                               {"x-amz-sdk-checksum-algorithm", "CRC32"},
                                               {"Transfer-Encoding", "chunked"}},
                                    .content = "x"});
  EXPECT_TRUE(has(head, "Content-Encoding: gzip")) << head;
  for (const char* const dropped :
       {"x-amz-decoded-content-length", "x-amz-trailer", "Transfer-Encoding"}) {
    EXPECT_FALSE(names(head, dropped)) << head;
  }
  EXPECT_FALSE(names(head, "x-amz-sdk-checksum-algorithm"))
      << "it would name no checksum: " << head;
}

TEST(S3Head, OnlyAwsChunkedLeavesNoContentEncoding) {
  EXPECT_EQ(backends::s3::content_encoding_upstream("aws-chunked"), "");
  EXPECT_EQ(backends::s3::content_encoding_upstream("AWS-Chunked,gzip,,br"), "gzip,br");
  EXPECT_FALSE(names(head_of({.operation = "PutObject",
                              .key = "a",
                              .fields = {{"Content-Encoding", "aws-chunked"}},
                              .content = "x"}),
                     "Content-Encoding"));
}

TEST(S3Head, AChecksumOfTheTrailerBecomesAFieldOnceItIsKnown) {
  const S3Call call{.operation = "PutObject",
                    .key = "a",
                    .fields = {{"x-amz-sdk-checksum-algorithm", "CRC32"}},
                    .content = "x",
                    .trailer = base::aws::Checksum{base::aws::ChecksumKind::kCrc32, "AAAAAA=="}};
  EXPECT_FALSE(names(head_of(call), "x-amz-checksum-crc32"));
  const std::string known = head_of(call, {}, true);
  EXPECT_TRUE(has(known, "x-amz-checksum-crc32: AAAAAA==")) << known;
  EXPECT_TRUE(has(known, "x-amz-sdk-checksum-algorithm: CRC32")) << known;
}

TEST(S3Head, AChecksumInAFieldIsSentOnce) {
  const std::string head =
      head_of({.operation = "PutObject",
               .key = "a",
               .fields = {{"x-amz-checksum-crc32", "AAAAAA=="}},
               .content = "x",
               .trailer = base::aws::Checksum{base::aws::ChecksumKind::kCrc32, "AAAAAA=="}},
              {}, true);
  EXPECT_EQ(head.find("x-amz-checksum-crc32"), head.rfind("x-amz-checksum-crc32")) << head;
}

TEST(S3Head, AStampOfTheClientIsReplaced) {
  const Fields made_up = {{"x-amz-meta-fencing-token", "99"},
                          {"X-Amz-Meta-Fencing-Request", "mine"}};
  const std::string put =
      head_of({.operation = "PutObject", .key = "a", .fields = made_up, .content = "x"},
              {.stamp = &stamp()});
  EXPECT_TRUE(has(put, "x-amz-meta-fencing-token: 34")) << put;
  EXPECT_EQ(put.find("99"), std::string::npos) << put;
  EXPECT_EQ(put.find("mine"), std::string::npos) << put;
  EXPECT_EQ(head_of({.operation = "PutObject", .key = "a", .fields = made_up}).find("mine"),
            std::string::npos)
      << "also where there is no stamp of ours";
}

TEST(S3Head, AStampThatOnlyTheServerWouldTakeForOneIsDropped) {
  const Fields made_up = {
      {"x-amz-meta-fencing_token", "99"},    {"X-Amz-Meta-Fencing_Request", "mine"},
      {"x-amz-meta-fencing_tombstone", "1"}, {"x-amz-meta-FENCING.tombstone", "1"},
      {"x-amz-meta-my_key", "kept"},         {"x-amz-meta-fencing_post", "oak"}};
  const std::string put =
      head_of({.operation = "PutObject", .key = "a", .fields = made_up, .content = "x"},
              {.stamp = &stamp()});
  EXPECT_TRUE(has(put, "x-amz-meta-fencing-token: 34")) << put;
  EXPECT_EQ(put.find("99"), std::string::npos) << put;
  EXPECT_EQ(put.find("mine"), std::string::npos) << put;
  EXPECT_EQ(put.find("tombstone"), std::string::npos) << put;
  EXPECT_TRUE(has(put, "x-amz-meta-my_key: kept")) << put;
  EXPECT_TRUE(has(put, "x-amz-meta-fencing_post: oak")) << put;
}

TEST(S3Head, WhichOperationsKeepTheStamp) {
  const auto keeps = [](const char* operation, Fields fields, const char* query = "") {
    return names(
        head_of({.operation = operation, .key = "a", .query = query, .fields = std::move(fields)},
                {.stamp = &stamp()}),
        "x-amz-meta-fencing-request");
  };
  EXPECT_TRUE(keeps("PutObject", {}));
  EXPECT_TRUE(keeps("CreateMultipartUpload", {}, "uploads"));
  EXPECT_TRUE(keeps("CopyObject",
                    {{"x-amz-copy-source", "media/b"}, {"x-amz-metadata-directive", "REPLACE"}}));
  EXPECT_FALSE(keeps("CopyObject", {{"x-amz-copy-source", "media/b"}}))
      << "S3 ignores or refuses metadata with the directive COPY";
  EXPECT_FALSE(keeps("UploadPart", {}, "partNumber=1&uploadId=u"));
  EXPECT_FALSE(keeps("PutObjectTagging", {}, "tagging"));
  EXPECT_FALSE(keeps("DeleteObject", {}));
}

TEST(S3Head, ACopyNamesItsSourceAsTheUpstreamDoes) {
  const std::string head = head_of(
      {.operation = "CopyObject", .key = "b", .fields = {{"X-Amz-Copy-Source", "media/a%20b"}}});
  EXPECT_TRUE(has(head, "x-amz-copy-source: /store/a%20b")) << head;
  EXPECT_TRUE(
      head_of(
          {.operation = "CopyObject", .key = "b", .fields = {{"x-amz-copy-source", "elsewhere/a"}}})
          .starts_with("refused: "));
}

TEST(S3Head, ConditionsAreTheClientsOrOurs) {
  const S3Call call{.operation = "PutObject",
                    .key = "a",
                    .fields = {{"If-Match", "\"theirs\""}, {"x-amz-copy-source-if-match", "s"}}};
  EXPECT_TRUE(has(head_of(call), "If-Match: \"theirs\""));
  const std::string ours = head_of(call, {.takes_conditions = false, .if_match = "\"ours\""});
  EXPECT_TRUE(has(ours, "If-Match: \"ours\"")) << ours;
  EXPECT_EQ(ours.find("theirs"), std::string::npos) << ours;
  EXPECT_TRUE(has(ours, "x-amz-copy-source-if-match: s")) << ours;
  EXPECT_TRUE(
      has(head_of(call, {.takes_conditions = false, .if_none_match = "*"}), "If-None-Match: *"));
}

TEST(S3Head, ADocumentOfOursHasADigestOfItsOwn) {
  const std::string head = head_of({.operation = "DeleteObjects",
                                    .query = "delete",
                                    .fields = {{"Content-MD5", "theirs"},
                                               {"x-amz-checksum-crc32", "AAAAAA=="},
                                               {"x-amz-sdk-checksum-algorithm", "CRC32"}},
                                    .document = "<Delete/>"});
  EXPECT_TRUE(head.starts_with("POST /store?delete\r\n")) << head;
  EXPECT_TRUE(has(head, "Content-MD5: ePbrFwvNFIRnzBrIv+T8Ag==")) << head;
  EXPECT_FALSE(names(head, "x-amz-checksum-crc32")) << head;
  EXPECT_FALSE(names(head, "x-amz-sdk-checksum-algorithm")) << head;
}

}  // namespace
}  // namespace fenceline::testing
