#include "proxy/backend_options.h"

#include <gtest/gtest.h>

namespace fenceline::proxy {
namespace {

using Names = std::vector<std::string>;

TEST(BackendOptionsTest, TokensStayHereUnderEveryNameThatIsAccepted) {
  const auto options = http_options({}, {"GET", "PUT"}, {"X-Lease", "Fencing-Token"});
  EXPECT_EQ(options.private_fields, (Names{"X-Lease", "Fencing-Token"}));
}

TEST(BackendOptionsTest, WhatDecidesTheGuaranteeIsHandedOver) {
  config::HttpBackend from;
  from.commit = config::CommitMode::kPlain;
  from.settle = std::nullopt;
  from.reads = {"GET", "REPORT"};
  from.probe = false;
  from.tls.verify = true;
  auto options = http_options(from, {"GET", "PUT"}, {});
  EXPECT_EQ(options.commit, backends::http::CommitMode::kPlain);
  EXPECT_FALSE(options.settle_after) << "manual is not: at once";
  EXPECT_EQ(options.reads, (Names{"GET", "REPORT"}));
  EXPECT_EQ(options.methods, (Names{"GET", "PUT"}));
  EXPECT_FALSE(options.probe);
  EXPECT_TRUE(options.client.tls_verify);

  from.commit = config::CommitMode::kMove;
  from.settle = base::Milliseconds(5'000);
  options = http_options(from, {}, {});
  EXPECT_EQ(options.commit, backends::http::CommitMode::kMove);
  EXPECT_EQ(options.settle_after, base::Milliseconds(5'000));
}

TEST(BackendOptionsTest, CredentialsAreAFieldOfOurOwn) {
  config::HttpBackend from;
  EXPECT_TRUE(http_options(from, {}, {}).own_fields.empty());
  from.credentials = config::BearerCredentials{"a.b"};
  EXPECT_EQ(http_options(from, {}, {}).own_fields,
            (std::vector<base::OwnedField>{{"Authorization", "Bearer a.b"}}));
  from.credentials = config::BasicCredentials{"Aladdin", "open sesame"};  // RFC 7617, 2
  EXPECT_EQ(
      http_options(from, {}, {}).own_fields,
      (std::vector<base::OwnedField>{{"Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}}));
}

TEST(BackendOptionsTest, OnAnS3RouteTokenAndHolderMustBeSigned) {
  config::S3Backend from;
  from.clients = {{.access_key = "abc", .secret_key = "s", .access = config::S3Access::kRead}};
  auto options = s3_front_options(from, config::Writes::kRequired, {"X-Lease"});
  EXPECT_EQ(options.must_sign, (Names{"X-Lease", "Fencing-Holder"}));
  ASSERT_EQ(options.clients.size(), 1U);
  EXPECT_FALSE(options.clients[0].may_write);
  EXPECT_FALSE(options.anonymous);
  EXPECT_TRUE(options.fenced);
  EXPECT_FALSE(s3_front_options(from, config::Writes::kOff, {}).fenced);
}

TEST(BackendOptionsTest, WhatAnS3ServerIsToldAndProbed) {
  config::S3Backend from;
  from.region = "eu-north-1";
  from.addressing = config::S3Addressing::kVirtual;
  from.hold_bytes = 5;
  auto options = s3_options(from, config::S3StaticKeys{"a", "s", "t"}, {"X-Lease"});
  EXPECT_FALSE(options.http.probe) << "nobody says into which bucket";
  EXPECT_EQ(options.region, "eu-north-1");
  EXPECT_EQ(options.addressing, backends::s3::Addressing::kVirtualHost);
  EXPECT_EQ(options.hold_bytes, 5U);
  EXPECT_EQ(options.credentials->session_token, "t");
  EXPECT_EQ(options.http.private_fields, (Names{"X-Lease"}));
  from.bucket = "media";
  options = s3_options(from, std::nullopt, {});
  EXPECT_TRUE(options.http.probe);
  EXPECT_EQ(options.bucket, "media");
  EXPECT_FALSE(options.credentials);
}

TEST(BackendOptionsTest, TheMarksOfADatabaseAreWhereTheConfigurationSays) {
  config::SqliteBackend from;
  from.database = "jobs.db";
  from.marks = "fences";
  base::WorkerPool pool(1);
  const auto options = sqlite_options(from, 7, pool);
  EXPECT_EQ(options.database, "jobs.db");
  EXPECT_EQ(options.marks, "fences");
  EXPECT_EQ(options.max_body_bytes, 7U);
}

TEST(BackendOptionsTest, OfAMappedTableNothingIsTouchedThatIsNotNamed) {
  config::SqliteBackend from;
  from.columns = {.key = "k", .value = "v", .content_type = {}, .etag = "tag", .modified = {}};
  from.mapped = true;
  base::WorkerPool pool(1);
  const auto options = sqlite_options(from, 7, pool);
  EXPECT_TRUE(options.mapped);
  EXPECT_EQ(options.columns.etag, "tag");
  for (const auto& name : {options.columns.content_type, options.columns.modified,
                           options.columns.token, options.columns.request_id}) {
    EXPECT_EQ(name, "");
  }
  from = {};
  EXPECT_EQ(sqlite_options(from, 7, pool).columns.token, "token");
}

}  // namespace
}  // namespace fenceline::proxy
