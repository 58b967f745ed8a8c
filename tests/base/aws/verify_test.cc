#include "base/aws/verify.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/aws/chunk_signature.h"
#include "base/aws/query.h"
#include "base/aws/sigv4.h"

namespace fenceline::base::aws {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
// 2013-05-24T00:00:00Z.
constexpr SystemTime kNow{std::chrono::seconds(1'369'353'600)};

class OneKey final : public KeyTable {
 public:
  [[nodiscard]] std::optional<std::string_view> secret_of(
      std::string_view access_key) const override {
    return access_key == "AKID" ? std::optional(kSecret) : std::nullopt;
  }
};

/// A request that a client has signed and that a test may change.
class Client {
 public:
  std::string method = "PUT";
  std::string path = "/media/a%20b//c";
  std::string query = "versionId=1&x-id=PutObject";
  std::deque<std::pair<std::string, std::string>> fields = {{"Host", "127.0.0.1:9000"}};
  std::string region = "eu-central-1";
  std::string hash = std::string(kUnsignedPayload);
  SystemTime time = kNow;

  void add(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
  }

  [[nodiscard]] std::string& value_of(std::string_view name) {
    for (auto& [each, value] : fields) {
      if (equal_names(each, name)) {
        return value;
      }
    }
    throw std::runtime_error("no such field");
  }

  /// Adds the fields that a client adds. `unsigned_names` are left out of the signature.
  void sign(std::string_view session = {}) {
    FieldLines lines;
    std::string host;
    for (const auto& [name, value] : fields) {
      if (equal_names(name, "Host")) {
        host = value;
      } else {
        lines.add_named(name, value);
      }
    }
    const std::string target = path + (query.empty() ? "" : "?" + query);
    aws::sign({.method = method,
               .target = target,
               .host = host,
               .region = region,
               .payload_hash = hash,
               .time = time},
              {"AKID", std::string(kSecret), std::string(session)}, lines);
    fields = {{"Host", host}};
    for (auto& field : lines.list()) {
      fields.push_back(std::move(field));
    }
  }

  /// Puts the signature into the query.
  void presign(std::string_view expires = "3600", std::string_view session = {}) {
    const Scope scope{.date = timestamp_of(time).substr(0, 8), .region = region};
    query += (query.empty() ? "" : "&");
    query += "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F";
    append_encoded(query, scope.text(), true);
    query += "&X-Amz-Date=" + timestamp_of(time) + "&X-Amz-Expires=" + std::string(expires) +
             "&X-Amz-SignedHeaders=host";
    if (!session.empty()) {
      query += "&X-Amz-Security-Token=" + std::string(session);
    }
    const std::vector<Field> signed_fields = {{"host", value_of("Host")}};
    const std::vector<std::string_view> names = {"host"};
    const std::string canonical = canonical_request({.method = method,
                                                     .path = path,
                                                     .query = query,
                                                     .fields = signed_fields,
                                                     .signed_names = names,
                                                     .payload_hash = hash});
    query += "&X-Amz-Signature=" +
             signature_of(signing_key(kSecret, scope),
                          string_to_sign(timestamp_of(time), scope.text(), canonical));
  }

  [[nodiscard]] Result<std::optional<Verified>> ask(SystemTime now = kNow) const {
    RequestHead head;
    head.method_text = method;
    head.path = path;
    head.query = query;
    for (const auto& [name, value] : fields) {
      head.fields.push_back({name, value});
    }
    const std::vector<std::string> must_sign = {"fencing-token"};
    return verify(head, OneKey(), must_sign, now);
  }
};

void expect_refused(const Client& client, ErrorKind kind, std::string_view code,
                    SystemTime now = kNow) {
  const auto answer = client.ask(now);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, kind) << answer.error().detail;
  EXPECT_EQ(answer.error().code, code) << answer.error().detail;
  EXPECT_FALSE(answer.error().detail.empty());
}

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
  verified.key = signing_key(kSecret, scope);
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
