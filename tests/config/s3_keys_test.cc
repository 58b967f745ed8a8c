// The keys of the s3 backend: what is read, what is wrong, and that no secret is ever told.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/guarantee.h"
#include "config/s3_match.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

using Methods = std::vector<std::string>;
using Problems = std::vector<std::string>;

Route only_route(const std::string& text) {
  const Loaded loaded = load_text(text);
  EXPECT_EQ(problems_of(loaded), Problems());
  return loaded->routes.at(0);
}

const S3Backend& s3_of(const Route& route) { return std::get<S3Backend>(route.backend); }

TEST(S3Model, Defaults) {
  const Route route = only_route(kS3Base);
  S3Backend expected;
  expected.upstream = {.tls = false, .host = "h", .port = 9000, .base_path = ""};
  expected.bucket = "photos";
  expected.clients = {{"worker", "hush", S3Access::kWrite}};
  EXPECT_EQ(s3_of(route), expected);
  EXPECT_EQ(kind_of(route.backend), "s3");
  EXPECT_EQ(route.methods, (Methods{"GET", "HEAD", "PUT", "POST", "DELETE"}));
  EXPECT_EQ(route.body_limit_bytes, kGiB);
  EXPECT_TRUE(route.hosts.empty());
  EXPECT_TRUE(route.takes_writes());
  EXPECT_FALSE(only_route(kS3Base + "    methods: [GET]\n").takes_writes());
  EXPECT_TRUE(is_write(route.backend, "POST"));
  EXPECT_FALSE(is_write(route.backend, "HEAD"));
}

TEST(S3Model, EveryKey) {
  const Route route = only_route(kS3Route + R"(    hosts: [S3.Example.com, s3]
    s3:
      endpoint: https://s3.example.com/
      bucket: b-1
      region: eu-west-1
      addressing: virtual
      credentials: {access_key: "a:b", secret_key: s/+=, session_token: t}
      clients:
        - {access_key: one, secret_key: "1"}
        - {access_key: two, secret_key: "2", access: read}
      anonymous: true
      commit: conditional
      deletes: tombstone
      settle: manual
      probe: false
      tls: {ca: ca.pem, name: Other.example, verify: false}
      timeout: 1ms
      connect_timeout: 2s
      keep_alive: 24h
      connections: 5
      hold: 0
)");
  const S3Backend& s3 = s3_of(route);
  EXPECT_EQ(route.hosts, (std::vector<std::string>{"s3.example.com", "s3"}));
  EXPECT_EQ(s3.upstream, (Upstream{true, "s3.example.com", 443, ""}));
  EXPECT_EQ(s3.bucket, "b-1");
  EXPECT_EQ(s3.region, "eu-west-1");
  EXPECT_EQ(s3.addressing, S3Addressing::kVirtual);
  EXPECT_EQ(std::get<S3StaticKeys>(*s3.credentials), (S3StaticKeys{"a:b", "s/+=", "t"}));
  EXPECT_EQ(s3.clients,
            (std::vector<S3Client>{{"one", "1", S3Access::kWrite}, {"two", "2", S3Access::kRead}}));
  EXPECT_TRUE(s3.anonymous);
  EXPECT_EQ(s3.commit, CommitMode::kConditional);
  EXPECT_EQ(s3.deletes, S3Deletes::kTombstone);
  EXPECT_FALSE(s3.settle);
  EXPECT_FALSE(s3.probe);
  EXPECT_EQ(s3.tls, (UpstreamTls{"ca.pem", "other.example", false}));
  EXPECT_EQ(s3.timeout, base::Milliseconds(1));
  EXPECT_EQ(s3.connect_timeout, base::Milliseconds(2000));
  EXPECT_EQ(s3.keep_alive, base::Milliseconds(86'400'000));
  EXPECT_EQ(s3.connections, 5U);
  EXPECT_EQ(s3.idle_connections, 5U);
  EXPECT_EQ(s3.hold_bytes, 0U);
}

TEST(S3Model, OtherForms) {
  const Route file = only_route(kS3Base + "      credentials: {file: ~/.aws/credentials}\n");
  EXPECT_EQ(std::get<S3KeysInFile>(*s3_of(file).credentials),
            (S3KeysInFile{"~/.aws/credentials", "default"}));
  const Route named = only_route(kS3Base + "      credentials: {file: f, profile: p}\n");
  EXPECT_EQ(std::get<S3KeysInFile>(*s3_of(named).credentials).profile, "p");
  const Route environment = only_route(kS3Base + "      credentials: {environment: true}\n");
  EXPECT_TRUE(std::holds_alternative<S3KeysInEnvironment>(*s3_of(environment).credentials));
  const Route any = only_route(
      "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes: [{name: a, match: \"/{bucket}/{key...}\", "
      "s3: {endpoint: \"http://h\", anonymous: true, probe_bucket: scratch}}]");
  EXPECT_FALSE(s3_of(any).bucket);
  EXPECT_EQ(s3_of(any).probe_bucket, "scratch");
  EXPECT_TRUE(s3_of(any).is_probed());
  EXPECT_TRUE(s3_of(any).clients.empty());
}

TEST(S3Match, WhatIsRead) {
  const auto read = [](std::string_view text) {
    const auto match = s3_match(*Pattern::parse(text));
    std::string found;
    for (const std::string& literal : match ? match->literals : std::vector<std::string>{"bad"}) {
      found += literal + ",";
    }
    return found + (match && match->names_bucket ? "bucket" : "");
  };
  EXPECT_EQ(read("/{key...}"), "");
  EXPECT_EQ(read("/media/{key...}"), "media,");
  EXPECT_EQ(read("/a/b c/{key...}"), "a,b c,");
  EXPECT_EQ(read("/{bucket}/{key...}"), "bucket");
  EXPECT_EQ(read("/s3/{bucket}/{key...}"), "s3,bucket");
  for (const std::string_view bad :
       {"/", "/a", "/a/", "/{key}", "/{rest...}", "/{bucket}", "/{bucket}/", "/{bucket}/a/{key...}",
        "/{tenant}/{key...}", "/{bucket...}", "/a/{$}", "/{bucket}/{x}/{key...}"}) {
    EXPECT_EQ(read(bad), "bad,") << bad;
  }
}

class S3KeyErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(S3KeyErrors, AreAllReportedInTheirPlaces) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

// Long sentences stand on several lines.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
INSTANTIATE_TEST_SUITE_P(
    Keys, S3KeyErrors,
    testing::Values(
        ErrorCase{"Unknown",
                  kS3Base + "      endpiont: x\n",
                  {"10:7: unknown key `routes[0].s3.endpiont`; did you mean `endpoint`?"}},
        ErrorCase{"Nothing",
                  kS3Route + "    s3: {}\n",
                  {"6:9: the key `routes[0].s3.endpoint` is missing",
                   "6:9: the key `routes[0].s3.bucket` is missing; or write {bucket} into the "
                   "`match`, so that clients name it",
                   "6:9: `routes[0].s3.clients` is missing, so nobody may call; list their keys, "
                   "or write `anonymous: true` to take requests without a signature"}},
        ErrorCase{
            "Endpoint",
            kS3Route + "    s3: {endpoint: \"http://h/base\", bucket: abc, anonymous: true}\n",
            {"6:20: `routes[0].s3.endpoint`: \"http://h/base\" has a path; S3 has buckets "
             "there, so name the server alone, as in http://127.0.0.1:9000, and the bucket "
             "in `bucket`"}},
        ErrorCase{"Match",
                  kRoute + "    s3: {endpoint: \"http://h\", bucket: abc, anonymous: true}\n",
                  {"5:12: `routes[0].match`: \"/jobs/{path...}\" is no match of an S3 route; write "
                   "literal segments, then perhaps {bucket}, then {key...}, with exactly these "
                   "names, as in \"/media/{key...}\" or \"/{bucket}/{key...}\""}},
        ErrorCase{"TwoBuckets",
                  "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n  - name: a\n"
                  "    match: /{bucket}/{key...}\n"
                  "    s3: {endpoint: \"http://h\", anonymous: true, bucket: abc}\n",
                  {"6:57: `routes[0].s3.bucket`: the `match` has {bucket}, so clients name it; "
                   "remove one of them"}},
        ErrorCase{"ProbeBucket",
                  kS3Base + "      probe_bucket: scratch\n",
                  {"10:21: `routes[0].s3.probe_bucket`: the probe writes into `bucket`; remove "
                   "it"}},
        ErrorCase{"NoProbe",
                  kS3Base + "      probe: false\n",
                  {"10:14: `routes[0].s3.probe`: without a probe nobody finds out what the "
                   "upstream can; name `commit`: conditional or plain"}},
        ErrorCase{"Move",
                  kS3Base + "      commit: move\n",
                  {"10:15: `routes[0].s3.commit`: \"move\" is not one of auto, conditional, "
                   "plain"}},
        ErrorCase{
            "VirtualAddress",
            kS3Route + "    s3: {endpoint: \"http://[::1]\", bucket: abc, anonymous: true, "
                       "addressing: virtual}\n",
            {"6:78: `routes[0].s3.addressing`: no bucket can stand in front of an IP address; "
             "write path, or name the host"}},
        ErrorCase{"TombstoneWithoutConditions",
                  kS3Base + "      commit: plain\n      deletes: tombstone\n",
                  {"11:16: `routes[0].s3.deletes`: a tombstone is written under a condition, and "
                   "`commit: plain` knows none; write `commit: auto`, or remove one of them"}},
        ErrorCase{"NoForm",
                  kS3Base + "      credentials: {secret_key: s}\n",
                  {"10:20: `routes[0].s3.credentials` must have exactly one of `access_key` (with "
                   "`secret_key`), `file` and `environment`"}},
        ErrorCase{"TwoForms",
                  kS3Base + "      credentials: {file: f, environment: true}\n",
                  {"10:20: `routes[0].s3.credentials` must have exactly one of `access_key` (with "
                   "`secret_key`), `file` and `environment`"}},
        ErrorCase{"KeyOfAnotherForm",
                  kS3Base + "      credentials: {file: f, session_token: s}\n",
                  {"10:45: `routes[0].s3.credentials.session_token` belongs to `access_key`; "
                   "remove it"}},
        ErrorCase{"HalfAKey",
                  kS3Base + "      credentials: {access_key: a}\n",
                  {"10:20: the key `routes[0].s3.credentials.secret_key` is missing"}},
        ErrorCase{"EnvironmentIsFalse",
                  kS3Base + "      credentials: {environment: false}\n",
                  {"10:34: `routes[0].s3.credentials.environment`: is false, so there are no "
                   "credentials; write true, or name others"}},
        ErrorCase{"SameAccessKey",
                  kS3Route +
                      "    s3:\n      endpoint: http://h\n      bucket: abc\n      clients:\n"
                      "        - {access_key: one, secret_key: a}\n"
                      "        - {access_key: one, secret_key: b, acess: read}\n",
                  {"11:24: `routes[0].s3.clients[1].access_key`: \"one\" is also that of another "
                   "client; give each its own",
                   "11:44: unknown key `routes[0].s3.clients[1].acess`; did you mean `access`?"}},
        ErrorCase{"HostsAreForS3",
                  kBase + "    hosts: [a]\n",
                  {"7:12: `routes[0].hosts`: only S3 routes are also found by their host; remove "
                   "it"}},
        ErrorCase{"Hosts",
                  kS3Base + "    hosts: [a.b, A.B, 10.0.0.1]\n",
                  {"10:18: `routes[0].hosts`: \"a.b\" is in the list twice",
                   "10:23: `routes[0].hosts`: \"10.0.0.1\" is an IP address, and no bucket can "
                   "stand in front of one; write a name, as in s3.example.com"}},
        ErrorCase{"Methods",
                  kS3Base + "    methods: [GET, OPTIONS]\n",
                  {"10:20: `routes[0].methods`: \"OPTIONS\" is not one of GET, HEAD, PUT, POST, "
                   "DELETE"}}),
    case_name);
// NOLINTEND(bugprone-suspicious-missing-comma)

/// Whatever is wrong with a secret, and also with what somebody took for the place of one.
TEST(S3Secrets, AreInNoMessage) {
  const std::string secret = "wJalr/XUtn,FEMI";
  const std::string odd = "wJalr/XUtn\\u00e9,FEMI";
  for (const std::string& value :
       {"\"" + secret + "\"", "\"" + odd + "\"", "\"" + secret + " \"", "[\"" + secret + "\"]",
        "{\"a\": \"" + secret + "\"}", "\"" + secret + "\\n\""}) {
    for (const std::string& text :
         {"      credentials: {access_key: " + value + ", secret_key: s}\n",
          "      credentials: {access_key: a, secret_key: " + value + "}\n      commit: no\n",
          "      credentials: {access_key: a, secret_key: s, session_token: " + value +
              "}\n      commit: no\n"}) {
      const Problems problems = problems_of(load_text(kS3Base + text));
      EXPECT_FALSE(problems.empty()) << text;
      for (const std::string& problem : problems) {
        EXPECT_EQ(problem.find("wJalr"), std::string::npos) << problem;
      }
    }
    const Problems problems = problems_of(load_text(
        kS3Route + "    s3: {endpoint: \"http://h\", bucket: abc, clients: [{access_key: " + value +
        ", secret_key: " + value + "}, {access_key: abc, secret_key: \"\"}]}\n"));
    EXPECT_FALSE(problems.empty());
    for (const std::string& problem : problems) {
      EXPECT_EQ(problem.find("wJalr"), std::string::npos) << problem;
    }
  }
}

}  // namespace
}  // namespace fenceline::config
