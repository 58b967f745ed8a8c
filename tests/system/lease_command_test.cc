// `fenceline lease` with the real binary and server.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "tests/system/run_fixture.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

class LeaseCommandTest : public RunFixture {
 protected:
  /// `fenceline lease …`; what it says is in `output_`.
  int lease(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "lease");
    arguments.insert(arguments.end(), {"--source", source()});
    auto process = fenceline(std::move(arguments));
    const int code = process->wait();
    output_ = process->output();
    return code;
  }

  std::string output_;
};

TEST_F(LeaseCommandTest, AScriptTakesRenewsAndReleases) {
  const char* binary = std::getenv("FENCELINE_BINARY");
  const std::string script = fmt::format("F={}\nexport FENCELINE_SOURCE={}\n",
                                         binary == nullptr ? "?" : binary, source()) +
                             R"SH(set -eu
eval "$($F lease acquire --key "it's/one" --key exports/acme --ttl 20s --holder script)"
[ "$FENCING_KEY" = exports/acme ]
[ "$FENCING_KEYS" = "exports/acme
it's/one" ]
$F lease show --key "it's/one"
$F lease renew --ttl 20s --json
$F lease release
$F lease release && exit 9 || [ $? = 3 ]
$F lease renew && exit 9 || [ $? = 3 ]
)SH";
  ChildProcess process({"sh", "-c", script}, folder_.at("script"));
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("it's/one: held by script, token "));
  EXPECT_THAT(process.output(), HasSubstr(R"("ttl_ms":20000)"));
  EXPECT_TRUE(is_free());
}

TEST_F(LeaseCommandTest, JsonIsForPrograms) {
  ASSERT_EQ(lease({"acquire", "--key", "a/b", "--ttl", "20s", "--holder", "me", "--json"}), 0)
      << output_;
  const auto grant = boost::json::parse(output_).as_object();
  EXPECT_EQ(grant.at("keys").as_array().at(0).as_string(), "a/b");
  EXPECT_EQ(grant.at("ttl_ms").as_int64(), 20'000);
  EXPECT_GT(grant.at("valid_ms").as_int64(), 10'000);
  const std::string token(grant.at("token").as_string());

  ASSERT_EQ(lease({"show", "--key", "a/b", "--json"}), 0) << output_;
  const auto shown = boost::json::parse(output_).as_object();
  EXPECT_TRUE(shown.at("held").as_bool());
  EXPECT_EQ(shown.at("holder").as_string(), "me");
  EXPECT_EQ(shown.at("token").as_string(), token);

  ASSERT_EQ(lease({"list", "--json", "--prefix", "a/"}), 0) << output_;
  EXPECT_EQ(boost::json::parse(output_).at("leases").as_array().size(), 1U);
  ASSERT_EQ(lease({"list", "--prefix", "b/"}), 0);
  EXPECT_EQ(output_, "");

  EXPECT_EQ(lease({"renew", "--key", "a/b", "--lease", std::string(grant.at("lease").as_string()),
                   "--token", token, "--ttl", "20s"}),
            0)
      << output_;
}

TEST_F(LeaseCommandTest, ARefusalIsNoFailure) {
  ASSERT_EQ(server_.take(kKey, "somebody").status, 201);
  EXPECT_EQ(lease({"acquire", "--key", kKey}), 3);
  EXPECT_THAT(output_, HasSubstr("somebody"));
  EXPECT_EQ(lease({"show", "--key", "free"}), 0);
  EXPECT_EQ(output_, "free: free\n");
  EXPECT_EQ(lease({"release", "--key", kKey}), 2);
  EXPECT_THAT(output_, HasSubstr("FENCING_LEASE"));
  EXPECT_EQ(lease({"acquire", "--key", "x", "--ttl", "0s"}), 2) << output_;
  EXPECT_EQ(lease({"acquire"}), 2);
  server_.kill();
  auto process = fenceline({"lease", "show", "--key", "k", "--source", "fenceline://127.0.0.1:1"});
  EXPECT_EQ(process->wait(), 1);
}

}  // namespace
}  // namespace fenceline::testing
