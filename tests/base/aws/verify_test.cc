#include "base/aws/verify.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/aws/chunk_signature.h"
#include "base/aws/sigv4.h"
#include "tests/base/aws/signed_client.h"

namespace fenceline::base::aws {
namespace {

using namespace std::chrono_literals;

using Client = SignedClient;

constexpr SystemTime kNow = kTestNow;

TEST(VerifyTest, ASignedRequestIsKnown) {
  Client client;
  client.add("Fencing-Token", "7");
  client.add("x-amz-meta-name", " two   blanks ");
  client.sign("fence-34");
  const auto answer = client.ask();
  ASSERT_TRUE(answer && *answer) << answer.error().detail;
  EXPECT_EQ((*answer)->access_key, "AKID");
  EXPECT_EQ((*answer)->session_token, "fence-34");
  EXPECT_EQ((*answer)->payload, Payload::kUnsigned);
  EXPECT_FALSE((*answer)->presigned);
  EXPECT_EQ((*answer)->scope, "20130524/eu-central-1/s3/aws4_request");
}

TEST(VerifyTest, APresignedRequestIsKnown) {
  Client client;
  client.presign("604800", "fence-34");
  const auto answer = client.ask();
  ASSERT_TRUE(answer && *answer) << answer.error().detail;
  EXPECT_TRUE((*answer)->presigned);
  EXPECT_EQ((*answer)->session_token, "fence-34");
  EXPECT_TRUE(client.ask(kNow + 7 * 24h));
  expect_refused(client, ErrorKind::kForbidden, "AccessDenied", kNow + 7 * 24h + 1s);
  EXPECT_TRUE(client.ask(kNow - 15min));
  expect_refused(client, ErrorKind::kForbidden, "AccessDenied", kNow - 15min - 1s);
}

TEST(VerifyTest, ARequestWithoutCredentialsIsNobodys) {
  const auto answer = Client().ask();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(*answer);
}

TEST(VerifyTest, TheClockMayBeFifteenMinutesOff) {
  Client client;
  client.sign();
  EXPECT_TRUE(client.ask(kNow + 15min));
  EXPECT_TRUE(client.ask(kNow - 15min));
  expect_refused(client, ErrorKind::kForbidden, "RequestTimeTooSkewed", kNow + 15min + 1s);
  expect_refused(client, ErrorKind::kForbidden, "RequestTimeTooSkewed", kNow - 15min - 1s);
}

TEST(VerifyTest, WhatWasChangedOnTheWayIsRefused) {
  Client good;
  good.add("Content-Type", "text/plain");
  good.sign("fence-34");
  ASSERT_TRUE(good.ask());
  const auto changed = [&good](auto change) {
    Client client = good;
    change(client);
    expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  };
  changed([](Client& c) { c.method = "DELETE"; });
  changed([](Client& c) { c.path = "/media/a%20b/c"; });
  changed([](Client& c) { c.query = "versionId=2&x-id=PutObject"; });
  changed([](Client& c) { c.query += "&acl"; });
  changed([](Client& c) { c.value_of("Host") = "127.0.0.2:9000"; });
  changed([](Client& c) { c.value_of("Content-Type") = "text/html"; });
  changed([](Client& c) { c.value_of("X-Amz-Security-Token") = "fence-35"; });
  changed([](Client& c) { c.add("X-Amz-Security-Token", "fence-35"); });
  changed([](Client& c) { c.value_of("x-amz-content-sha256") = std::string(64, '0'); });
  changed([](Client& c) {
    auto& value = c.value_of("Authorization");
    value.back() = value.back() == '0' ? '1' : '0';
  });
}

TEST(VerifyTest, WhatWasChangedInAPresignedUrlIsRefused) {
  Client good;
  good.presign();
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"versionId=1", "versionId=2"}, {"Expires=3600", "Expires=3601"}}) {
    Client client = good;
    client.query.replace(client.query.find(from), from.size(), to);
    expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  }
  Client added = good;
  added.query += "&acl";
  expect_refused(added, ErrorKind::kForbidden, "SignatureDoesNotMatch");
}

TEST(VerifyTest, EncodingDoesNotMatterToTheSignature) {
  Client client;
  client.path = "/media/a~b+c";
  client.query = "prefix=%7e%20";
  client.sign();
  client.query = "prefix=~%20";
  EXPECT_TRUE(client.ask()) << client.ask().error().detail;
}

TEST(VerifyTest, MandatoryFieldsMustBeSigned) {
  for (const char* name : {"x-amz-meta-late", "X-Amz-Acl", "Fencing-Token"}) {
    SCOPED_TRACE(name);
    Client client;
    client.sign();
    client.add(name, "1");
    expect_refused(client, ErrorKind::kForbidden, "AccessDenied");
  }
  Client presigned;
  presigned.presign();
  presigned.add("x-amz-acl", "public-read");
  expect_refused(presigned, ErrorKind::kForbidden, "AccessDenied");
  Client hostless;
  hostless.sign();
  auto& value = hostless.value_of("Authorization");
  value.replace(value.find("host;"), 5, "");
  expect_refused(hostless, ErrorKind::kForbidden, "AccessDenied");
}

TEST(VerifyTest, AnUnknownKeyIsRefused) {
  Client client;
  client.sign();
  auto& value = client.value_of("Authorization");
  value.replace(value.find("AKID"), 4, "AKIE");
  expect_refused(client, ErrorKind::kForbidden, "InvalidAccessKeyId");
}

TEST(VerifyTest, VersionTwoIsToldHowToSwitch) {
  Client header;
  header.add("Authorization", "AWS AKID:frJIUN8DYpKDtOLCwo//yllqDzg=");
  expect_refused(header, ErrorKind::kMalformedRequest, "InvalidRequest");
  EXPECT_NE(header.ask().error().detail.find("s3v4"), std::string::npos);
  Client presigned;
  presigned.query = "AWSAccessKeyId=AKID&Signature=x&Expires=1";
  expect_refused(presigned, ErrorKind::kMalformedRequest, "InvalidRequest");
}

TEST(VerifyTest, TwoCredentialsAreRefused) {
  Client both;
  both.presign();
  both.add("Authorization", "AWS4-HMAC-SHA256 x");
  expect_refused(both, ErrorKind::kMalformedRequest, "InvalidArgument");
  Client twice;
  twice.sign();
  twice.add("Authorization", twice.value_of("Authorization"));
  expect_refused(twice, ErrorKind::kMalformedRequest, "InvalidArgument");
  Client query;
  query.presign();
  query.query += "&X-Amz-Expires=10";
  expect_refused(query, ErrorKind::kMalformedRequest, "AuthorizationQueryParametersError");
}

TEST(VerifyTest, BadSyntaxIsNamed) {
  Client good;
  good.sign();
  const auto broken = [&good](std::string_view from, std::string_view to) {
    SCOPED_TRACE(to);
    Client client = good;
    auto& value = client.value_of("Authorization");
    value.replace(value.find(from), from.size(), to);
    expect_refused(client, ErrorKind::kMalformedRequest, "AuthorizationHeaderMalformed");
  };
  broken("/s3/", "/ec2/");
  broken("aws4_request", "aws4");
  broken("20130524/", "20130523/");
  broken("eu-central-1", "");
  broken("Credential=", "Credential=a, Credential=");
  broken("Signature=", "Signature=A");
  broken("SignedHeaders=host", "SignedHeaders=x;host");
  broken("SignedHeaders=host", "SignedHeaders=Host");
  for (const char* life : {"0", "-1", "604801", "1e3", "", "99999999999"}) {
    SCOPED_TRACE(life);
    Client client;
    client.presign(life);
    expect_refused(client, ErrorKind::kMalformedRequest, "AuthorizationQueryParametersError");
  }
  Client other;
  other.add("Authorization", "Bearer x");
  expect_refused(other, ErrorKind::kMalformedRequest, "InvalidArgument");
}

TEST(VerifyTest, ThePayloadMustBeDeclared) {
  Client client;
  client.sign();
  std::erase_if(client.fields,
                [](const auto& field) { return equal_names(field.first, "x-amz-content-sha256"); });
  expect_refused(client, ErrorKind::kMalformedRequest, "InvalidRequest");
  Client unknown;
  unknown.hash = "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD";
  unknown.sign();
  expect_refused(unknown, ErrorKind::kMalformedRequest, "InvalidArgument");
  Client hashed;
  hashed.hash = sha256_hex("x");
  hashed.sign();
  EXPECT_EQ((*hashed.ask())->payload, Payload::kHash);
  EXPECT_EQ((*hashed.ask())->payload_hash, sha256_hex("x"));
}

// The example of the S3 documentation: 65 KiB of "a" in chunks of 64 KiB.
TEST(ChunkSignerTest, TheDocumentedChain) {
  const Scope scope{.date = "20130524", .region = "us-east-1"};
  Verified verified;
  verified.timestamp = "20130524T000000Z";
  verified.scope = scope.text();
  verified.key = signing_key(kTestSecret, scope);
  verified.seed_signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
  ChunkSigner signer(verified);
  EXPECT_EQ(signer.next(sha256_hex(std::string(65'536, 'a'))),
            "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648");
  EXPECT_EQ(signer.next(sha256_hex(std::string(1'024, 'a'))),
            "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497");
  EXPECT_EQ(signer.next(sha256_hex("")),
            "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9");
}

}  // namespace
}  // namespace fenceline::base::aws
