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

}  // namespace
}  // namespace fenceline::proxy
