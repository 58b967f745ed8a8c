#include "backends/s3/signing.h"

#include <gtest/gtest.h>

#include <string>

#include "base/aws/verify.h"
#include "tests/backends/s3/s3_driver.h"

namespace fenceline::testing {
namespace {

using backends::s3::S3Options;

class OneKey final : public base::aws::KeyTable {
 public:
  [[nodiscard]] std::optional<std::string_view> secret_of(
      std::string_view access_key) const override {
    return access_key == "ours" ? std::optional<std::string_view>("secret") : std::nullopt;
  }
};

S3Options signing_options() {
  S3Options options = s3_options_for(9000);
  options.region = "eu-west-1";
  options.credentials =
      base::aws::Credentials{.access_key = "ours", .secret_key = "secret", .session_token = "s"};
  return options;
}

backends::http::Outgoing request() {
  backends::http::Outgoing out{.method = "PUT", .target = "/store/a%20b//c?acl&versionId=v%2F1"};
  out.fields.add("Host", "127.0.0.1:9000");
  out.fields.add("Content-Type", "text/plain");
  out.fields.add("x-amz-meta-color", "red");
  out.fields.add("Via", "1.1 fenceline");
  return out;
}

TEST(S3Signing, WhatIsSentVerifies) {
  backends::http::Outgoing out = request();
  const std::string hash = base::aws::sha256_hex("body");
  backends::s3::sign_upstream(signing_options(), out, hash);
  const auto fields = out.fields.list();
  base::RequestHead head;
  head.method = base::Method::kPut;
  head.method_text = out.method;
  head.target = out.target;
  head.path = head.target.substr(0, head.target.find('?'));
  head.query = head.target.substr(head.path.size() + 1);
  for (const auto& [name, value] : fields) {
    head.fields.push_back({name, value});
  }
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const OneKey keys;
  const auto verified = base::aws::verify(head, keys, {}, now);
  ASSERT_TRUE(verified) << verified.error().detail;
  ASSERT_TRUE(*verified);
  EXPECT_EQ((*verified)->access_key, "ours");
  EXPECT_EQ((*verified)->session_token, "s");
  EXPECT_EQ((*verified)->payload_hash, hash);
}

TEST(S3Signing, NobodySignsWithoutCredentials) {
  S3Options options = signing_options();
  options.credentials.reset();
  backends::http::Outgoing out = request();
  const std::string before(out.fields.text());
  backends::s3::sign_upstream(options, out, "UNSIGNED-PAYLOAD");
  EXPECT_EQ(out.fields.text(), before);
}

TEST(S3Signing, TheHashOfTheClientIsTakenWhereItIsOne) {
  const std::string hash = base::aws::sha256_hex("x");
  const auto hash_for = [](const std::string& declared, const std::string& document = {}) {
    const S3InFlight request({.operation = "PutObject",
                              .key = "a",
                              .fields = {{"x-amz-content-sha256", declared}},
                              .content = "x",
                              .document = document});
    const auto found = backends::s3::declared_hash(request.resource(nullptr));
    return std::string(found.value_or("none"));
  };
  EXPECT_EQ(hash_for(hash), hash);
  EXPECT_EQ(hash_for("UNSIGNED-PAYLOAD"), "none");
  EXPECT_EQ(hash_for("STREAMING-UNSIGNED-PAYLOAD-TRAILER"), "none");
  EXPECT_EQ(hash_for(std::string(64, 'A')), "none") << "not as it is written";
  EXPECT_EQ(hash_for(hash, "<Delete/>"), "none") << "it is of another document";
}

}  // namespace
}  // namespace fenceline::testing
