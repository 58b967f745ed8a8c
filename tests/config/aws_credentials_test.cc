#include "config/aws_credentials.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/temp_folder.h"

namespace fenceline::config {
namespace {

constexpr std::string_view kFile = R"(# The keys of the team.
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = se/cr=et+1
region = eu-west-1
s3 =
    addressing_style = path
    aws_access_key_id = nested

; another
[profile  media ]
AWS_Access_Key_Id=AKIAMEDIA
aws_secret_access_key=	hush
aws_session_token = token==
[empty]
[role]
role_arn = arn:aws:iam::1:role/x
[twice]
aws_access_key_id = A
aws_access_key_id = B
aws_secret_access_key = hush
[accent]
aws_access_key_id = A
aws_secret_access_key = hüsh
)";

Parsed<S3StaticKeys> read(const std::string& profile, std::string_view text = kFile) {
  return parse_credentials(text, profile);
}

std::string problem(const std::string& profile, std::string_view text = kFile) {
  const auto keys = read(profile, text);
  return keys ? "none" : keys.error();
}

TEST(ParseCredentials, FindsTheProfile) {
  EXPECT_EQ(read("default"), (S3StaticKeys{"AKIADEFAULT", "se/cr=et+1", ""}));
  EXPECT_EQ(read("media"), (S3StaticKeys{"AKIAMEDIA", "hush", "token=="}));
  const std::string_view windows =
      "\xEF\xBB\xBF[default]\r\naws_access_key_id = A\r\naws_secret_access_key = s\r\n";
  EXPECT_EQ(read("default", windows), (S3StaticKeys{"A", "s", ""}));
}

TEST(ParseCredentials, SaysWhatIsWrong) {
  EXPECT_EQ(problem("medai"), "there is no profile [medai]; did you mean [media]?");
  EXPECT_EQ(problem("x", ""), "there is no profile [x]");
  EXPECT_EQ(problem("empty"),
            "the profile [empty] has no aws_access_key_id; roles, SSO and credential_process are "
            "not supported, so write the keys there");
  EXPECT_EQ(problem("role").substr(0, 44), "the profile [role] has no aws_access_key_id;");
  EXPECT_EQ(problem("twice"), "the profile [twice] has aws_access_key_id twice");
  EXPECT_EQ(problem("a", "[a]\n[a]\n"), "the profile [a] is there twice");
  EXPECT_EQ(problem("a", "[a\n"), "line 1 is no name of a profile in brackets");
  EXPECT_EQ(problem("a", "[a]\n\nhush\n"),
            "line 3 is neither a [profile] nor a setting (`name = value`)");
  EXPECT_EQ(problem("accent").find("sh"), std::string::npos) << "no secret";
  EXPECT_EQ(problem("accent").substr(0, 53),
            "aws_secret_access_key of the profile [accent]: is no ");
}

class ResolveCredentials : public ::testing::Test {
 protected:
  Parsed<S3StaticKeys> resolve(const S3Credentials& credentials) {
    return resolve_credentials(
        credentials, [this](const std::string& name) -> std::optional<std::string> {
          const auto found = variables_.find(name);
          return found == variables_.end() ? std::nullopt : std::optional(found->second);
        });
  }

  std::string problem(const S3Credentials& credentials) {
    const auto keys = resolve(credentials);
    return keys ? "none" : keys.error();
  }

  std::map<std::string, std::string> variables_;
  testing::TempFolder folder_;
};

TEST_F(ResolveCredentials, GivesBackThoseOfTheConfiguration) {
  const S3StaticKeys keys{"a", "b", "c"};
  EXPECT_EQ(resolve(keys), keys);
}

TEST_F(ResolveCredentials, ReadsAFile) {
  std::ofstream(folder_.at("credentials")) << kFile;
  EXPECT_EQ(resolve(S3KeysInFile{folder_.at("credentials"), "media"})->access_key, "AKIAMEDIA");
  EXPECT_EQ(problem(S3KeysInFile{"~/credentials", "media"}),
            "~/credentials begins with ~, and HOME is not set; write the whole path");
  variables_["HOME"] = folder_.path().string();
  EXPECT_EQ(resolve(S3KeysInFile{"~/credentials", "media"})->access_key, "AKIAMEDIA");
  EXPECT_EQ(problem(S3KeysInFile{"~/credentials", "x"}),
            "the credentials file " + folder_.at("credentials") + ": there is no profile [x]");
  EXPECT_EQ(problem(S3KeysInFile{folder_.at("nothing"), "x"}),
            "the credentials file " + folder_.at("nothing") +
                ": it cannot be opened: No such file or directory");
  EXPECT_EQ(problem(S3KeysInFile{folder_.path().string(), "x"}),
            "the credentials file " + folder_.path().string() + ": it is a directory");
  std::ofstream(folder_.at("big")) << std::string(kMaxCredentialsBytes + 1, '\n');
  EXPECT_EQ(problem(S3KeysInFile{folder_.at("big"), "x"}),
            "the credentials file " + folder_.at("big") +
                ": it is larger than 1048576 bytes, so it is no such file");
}

TEST_F(ResolveCredentials, TakesTheEnvironment) {
  EXPECT_EQ(problem(S3KeysInEnvironment{}),
            "the environment variable AWS_ACCESS_KEY_ID is not set");
  variables_ = {{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", ""}};
  EXPECT_EQ(problem(S3KeysInEnvironment{}),
            "the environment variable AWS_SECRET_ACCESS_KEY is not set");
  variables_["AWS_SECRET_ACCESS_KEY"] = "s";
  EXPECT_EQ(resolve(S3KeysInEnvironment{}), (S3StaticKeys{"a", "s", ""}));
  variables_["AWS_SESSION_TOKEN"] = "t";
  EXPECT_EQ(resolve(S3KeysInEnvironment{}), (S3StaticKeys{"a", "s", "t"}));
  variables_["AWS_SECRET_ACCESS_KEY"] = "hush hush";
  EXPECT_EQ(problem(S3KeysInEnvironment{}).find("hush"), std::string::npos);
}

/// Whoever starts the proxy with the variables of a worker would send its token upstream.
TEST_F(ResolveCredentials, TakesNoFencingTokenForASessionToken) {
  const std::string end =
      " begins with \"fence-\": that is how clients send their fencing token, and no key of the "
      "upstream; remove it";
  EXPECT_EQ(problem(S3StaticKeys{"a", "b", "fence-7"}),
            "the session token in `credentials.session_token`" + end);
  variables_ = {{"AWS_ACCESS_KEY_ID", "a"},
                {"AWS_SECRET_ACCESS_KEY", "s"},
                {"AWS_SESSION_TOKEN", "fence-34"}};
  EXPECT_EQ(problem(S3KeysInEnvironment{}), "the session token in AWS_SESSION_TOKEN" + end);
}

}  // namespace
}  // namespace fenceline::config
