// What S3 signs otherwise than other services, and what somebody on the way could try.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/aws/chunk_signature.h"
#include "base/aws/sigv4.h"
#include "base/aws/verify.h"
#include "tests/base/aws/signed_client.h"

namespace fenceline::base::aws {
namespace {

using Client = SignedClient;

/// A client that has signed this path.
Client signed_path(std::string path) {
  Client client;
  client.path = std::move(path);
  client.sign();
  return client;
}

/// A client that has signed this query.
Client signed_query(std::string query) {
  Client client;
  client.query = std::move(query);
  client.sign();
  return client;
}

TEST(S3PathTest, IsSignedAsItIsSent) {
  for (const char* path : {"/", "/b", "/b/", "/b//k", "/b/k//", "/b/../k", "/b/./k", "/b/%2e%2e/k",
                           "/b/a%2Fb", "/b/a%2fb", "/b/a+b", "/b/a%2Bb", "/b/~", "/b/%7e", "/b/%7E",
                           "/b/%C3%BC", "/b/a%20b", "/b/%25", "/b/a:@!$&'()*,;=b"}) {
    const auto answer = signed_path(path).ask();
    EXPECT_TRUE(answer && *answer) << path;
  }
}

TEST(S3PathTest, AnotherPathIsAnotherSignature) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"/b//k", "/b/k"},    {"/b/k", "/b//k"},     {"/b/../k", "/k"},      {"/b/./k", "/b/k"},
      {"/b/k", "/b/k/"},    {"/b/k", "/B/k"},      {"/b/a+b", "/b/a%20b"}, {"/b/%25", "/b/%"},
      {"/b/%2561", "/b/a"}, {"/b/%2561", "/b/%61"}};
  for (const auto& [from, to] : changes) {
    SCOPED_TRACE(from + " -> " + to);
    Client client = signed_path(from);
    client.path = to;
    expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  }
}

// Many clients sign another spelling of the same key than they send.
TEST(S3PathTest, TheSameKeySpelledOtherwiseIsTheSame) {
  const std::vector<std::pair<std::string, std::string>> spellings = {
      {"/b/~", "/b/%7e"}, {"/b/%2B", "/b/+"}, {"/b/a%28b", "/b/a(b"}, {"/b/a", "/b/%61"}};
  for (const auto& [is_signed, sent] : spellings) {
    Client client = signed_path(is_signed);
    client.path = sent;
    const auto answer = client.ask();
    EXPECT_TRUE(answer && *answer) << is_signed << " as " << sent;
  }
}

// `/media/key` names a bucket and a key, `/media%2Fkey` a bucket alone.
TEST(S3PathTest, AnEncodedSlashIsNoSlash) {
  for (const char* sent : {"/media%2Fkey", "/media%2fkey", "/%2Fmedia/key", "/media/key%2F"}) {
    SCOPED_TRACE(sent);
    Client client = signed_path("/media/key");
    client.path = sent;
    expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  }
  Client other = signed_path("/media%2Fkey");
  other.path = "/media/key";
  expect_refused(other, ErrorKind::kForbidden, "SignatureDoesNotMatch");
}

TEST(S3QueryTest, NamesWithoutValuesAndTheirOrderAreOne) {
  Client client = signed_query("uploads&prefix=a");
  for (const char* same : {"uploads=&prefix=a", "prefix=a&uploads", "%75ploads&prefix=%61"}) {
    client.query = same;
    EXPECT_TRUE(client.ask()) << same;
  }
  for (const char* other :
       {"uploads", "prefix=a", "uploads=1&prefix=a", "Uploads&prefix=a",
        "uploads&prefix=a&prefix=a", "uploads%3D&prefix=a", "prefix=a%26uploads"}) {
    SCOPED_TRACE(other);
    client.query = other;
    expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  }
}

TEST(S3QueryTest, APlusIsAPlus) {
  Client client = signed_query("prefix=a+b");
  client.query = "prefix=a%2Bb";
  EXPECT_TRUE(client.ask());
  client.query = "prefix=a%20b";
  expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
}

TEST(S3QueryTest, ABrokenEscapeIsMalformed) {
  for (const char* query : {"a=%", "a=%4", "a=%zz", "%=1"}) {
    SCOPED_TRACE(query);
    Client client = signed_query("a=1");
    client.query = query;
    expect_refused(client, ErrorKind::kMalformedRequest, "InvalidURI");
  }
}

TEST(SignedFieldsTest, SeveralOfOneNameAreSignedInTheirOrder) {
  Client client;
  client.add("x-amz-meta-a", "1");
  client.add("X-Amz-Meta-A", "2");
  client.sign();
  ASSERT_TRUE(client.ask());
  Client swapped = client;
  std::swap(swapped.fields[1].second, swapped.fields[2].second);
  expect_refused(swapped, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  client.add("x-amz-meta-a", "3");
  expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
}

TEST(SignedFieldsTest, WhatIsSignedMustArrive) {
  Client client;
  client.add("x-amz-tagging", "");
  client.sign();
  ASSERT_TRUE(client.ask());
  std::erase_if(client.fields, [](const auto& field) { return field.first == "x-amz-tagging"; });
  expect_refused(client, ErrorKind::kForbidden, "SignatureDoesNotMatch");
  ASSERT_FALSE(HasFailure());
  EXPECT_NE(client.ask().error().detail.find("x-amz-tagging"), std::string::npos);

  Client hostless;
  hostless.sign();
  hostless.fields.pop_front();
  expect_refused(hostless, ErrorKind::kForbidden, "SignatureDoesNotMatch");
}

TEST(SignedFieldsTest, TheTimeIsThereOnceAndIsOne) {
  Client twice;
  twice.sign();
  twice.add("x-amz-date", timestamp_of(kTestNow));
  expect_refused(twice, ErrorKind::kForbidden, "AccessDenied");
  for (const char* time :
       {"", "20130524", "20130524T000000", "20131324T000000Z", "20130532T000000Z",
        "20130524T240000Z", "20130524T000060Z", "2013052aT000000Z", "20130524 000000Z"}) {
    SCOPED_TRACE(time);
    Client client;
    client.sign();
    client.value_of("x-amz-date") = time;
    expect_refused(client, ErrorKind::kForbidden, "AccessDenied");
  }
}

TEST(PresignedTest, NothingCoversTheBodyUnlessAHashIsSigned) {
  Client plain;
  plain.presign();
  ASSERT_TRUE(plain.ask());
  EXPECT_EQ((*plain.ask())->payload, Payload::kUnsigned);

  Client in_field;
  in_field.hash = sha256_hex("x");
  in_field.add("x-amz-content-sha256", in_field.hash);
  in_field.presign();
  ASSERT_TRUE(in_field.ask()) << in_field.ask().error().detail;
  EXPECT_EQ((*in_field.ask())->payload, Payload::kHash);
  EXPECT_EQ((*in_field.ask())->payload_hash, sha256_hex("x"));
  in_field.value_of("x-amz-content-sha256") = sha256_hex("y");
  expect_refused(in_field, ErrorKind::kForbidden, "SignatureDoesNotMatch");

  Client in_query;
  in_query.hash = sha256_hex("x");
  in_query.query = "X-Amz-Content-Sha256=" + in_query.hash;
  in_query.presign();
  ASSERT_TRUE(in_query.ask()) << in_query.ask().error().detail;
  EXPECT_EQ((*in_query.ask())->payload_hash, sha256_hex("x"));

  Client late;
  late.presign();
  late.add("x-amz-content-sha256", sha256_hex("x"));
  expect_refused(late, ErrorKind::kForbidden, "AccessDenied");
}

TEST(PresignedTest, EveryParameterIsThereOnce) {
  Client good;
  good.presign("3600", "fence-34");
  for (const char* name : {"Algorithm", "Credential", "Date", "Expires", "SignedHeaders",
                           "Security-Token", "Signature"}) {
    SCOPED_TRACE(name);
    Client twice = good;
    twice.query += "&X-Amz-" + std::string(name) + "=1";
    expect_refused(twice, ErrorKind::kMalformedRequest, "AuthorizationQueryParametersError");
    Client spelled = good;
    spelled.query += "&X%2DAmz-" + std::string(name) + "=1";
    expect_refused(spelled, ErrorKind::kMalformedRequest, "AuthorizationQueryParametersError");
    Client gone = good;
    const std::size_t at = gone.query.find("&X-Amz-" + std::string(name) + "=");
    ASSERT_NE(at, std::string::npos);
    gone.query.erase(at, gone.query.find('&', at + 1) - at);
    EXPECT_FALSE(gone.ask());
  }
}

TEST(PresignedTest, BytesThatAreNoTextAreRefused) {
  for (const char* region : {"us%0Aeast", "us%00", "%FF", "us%20east", "a%3Bb"}) {
    SCOPED_TRACE(region);
    Client client;
    client.presign();
    client.query.replace(client.query.find("eu-central-1"), 12, region);
    expect_refused(client, ErrorKind::kMalformedRequest, "AuthorizationQueryParametersError");
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"SignedHeaders=host", "SignedHeaders=host%0A"},
           {"SignedHeaders=host", "SignedHeaders=host%3B"},
           {"SignedHeaders=host", "SignedHeaders=host%3Bhost"},
           {"Signature=", "Signature=%0A"},
           {"Date=", "Date=%00"},
           {"Expires=", "Expires=%20"},
           {"HMAC-SHA256", "HMAC-SHA1"}}) {
    SCOPED_TRACE(to);
    Client client;
    client.presign();
    client.query.replace(client.query.find(from), from.size(), to);
    EXPECT_FALSE(client.ask());
  }
}

TEST(SigningKeyTest, ManyScopesAndSecretsDoNotMixUp) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      const Scope scope{.date = "20130524", .region = "r" + std::to_string(i)};
      for (const char* secret : {"one", "two"}) {
        EXPECT_EQ(recent_signing_key(secret, scope), signing_key(secret, scope));
      }
    }
  }
}

// The example of the S3 documentation with a trailer; Python's hmac gives the same.
TEST(ChunkSignerTest, ATrailerGoesOnWithTheChain) {
  Verified verified;
  verified.timestamp = "20130524T000000Z";
  const Scope scope{.date = "20130524", .region = "us-east-1"};
  verified.scope = scope.text();
  verified.key = signing_key(kTestSecret, scope);
  verified.seed_signature = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
  ChunkSigner signer(verified);
  EXPECT_EQ(signer.next(sha256_hex(std::string(65'536, 'a'))),
            "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2");
  EXPECT_EQ(signer.next(sha256_hex(std::string(1'024, 'a'))),
            "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7");
  EXPECT_EQ(signer.next(sha256_hex("")),
            "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992");
  EXPECT_EQ(signer.trailer(sha256_hex("x-amz-checksum-crc32c:sOO8/Q==\n")),
            "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435");
}

}  // namespace
}  // namespace fenceline::base::aws
