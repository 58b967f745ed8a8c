// The S3 backend in front of moto_server, which keeps to all conditions of S3.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fenceline::testing
