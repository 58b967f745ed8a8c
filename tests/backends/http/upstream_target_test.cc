#include "backends/http/upstream_target.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::backends::http {
namespace {

TEST(UpstreamTarget, ComposesBaseNameSlashAndQuery) {
  EXPECT_EQ(target_of("", "a/b", false, ""), "/a/b");
  EXPECT_EQ(target_of("/base", "a/b", true, "x=%20&y"), "/base/a/b/?x=%20&y");
  EXPECT_EQ(target_of("", "", false, ""), "/");
  EXPECT_EQ(target_of("/base", "", true, "q"), "/base/?q") << "the root has one slash, not two";
}

TEST(UpstreamTarget, EncodesOnceAndWhatServersReadDifferently) {
  EXPECT_EQ(target_of("", "a b", false, ""), "/a%20b");
  EXPECT_EQ(target_of("", "100%25", false, ""), "/100%2525")
      << "a percent sign is not decoded twice";
  EXPECT_EQ(target_of("", "a;v=1", false, ""), "/a%3Bv=1") << "no path parameter";
  EXPECT_EQ(target_of("", "a+b", false, ""), "/a%2Bb") << "no blank";
  EXPECT_EQ(target_of("", "a?b#c", false, ""), "/a%3Fb%23c");
  EXPECT_EQ(target_of("", "\xC3\xA4", false, ""), "/%C3%A4");
  EXPECT_EQ(target_of("", "_design/a,b:c@d", false, ""), "/_design/a,b:c@d");
}

TEST(UpstreamTarget, EveryByteIsVisibleAndEveryNameHasItsOwnTarget) {
  std::string previous;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string target = target_of("", std::string(1, static_cast<char>(byte)), false, "");
    for (const char c : target) {
      EXPECT_GT(c, 0x20);
      EXPECT_LT(c, 0x7f);
    }
    EXPECT_NE(target, previous);
    previous = target;
  }
}

TEST(UpstreamTarget, AuthorityAndOrigin) {
  base::net::HttpClientOptions client;
  client.host = "db.internal";
  client.port = 80;
  EXPECT_EQ(authority_of(client), "db.internal");
  EXPECT_EQ(origin_of(client), "http://db.internal:80");
  client.tls = true;
  EXPECT_EQ(authority_of(client), "db.internal:80");
  client.port = 443;
  EXPECT_EQ(authority_of(client), "db.internal");
  client.host = "::1";
  EXPECT_EQ(authority_of(client), "[::1]");
  EXPECT_EQ(origin_of(client), "https://[::1]:443");
  EXPECT_EQ(destination_of(client, "name:1", "/a/b?q"), "https://name:1/a/b");
}

TEST(UpstreamTarget, TemporariesLieBesideTheTarget) {
  EXPECT_EQ(temporary_beside("/base/a/b?q=/x", "u", base::Token::of(34)),
            "/base/a/.fenceline-u-34");
  EXPECT_EQ(temporary_beside("/b", "u", {}), "/.fenceline-u-0");
}

TEST(UpstreamTarget, ReservedNames) {
  EXPECT_TRUE(is_reserved_name(".fenceline-x"));
  EXPECT_TRUE(is_reserved_name("a/.FENCELINE-x"));
  EXPECT_TRUE(is_reserved_name("a/.fenceline-x/b"));
  EXPECT_FALSE(is_reserved_name("a/x.fenceline-x"));
  EXPECT_FALSE(is_reserved_name(".fenceline"));
  EXPECT_FALSE(is_reserved_name(""));
}

TEST(UpstreamTarget, IntentsComeBackAsTheyWere) {
  using Kind = IntentTarget::Kind;
  for (const Kind kind : {Kind::kTemporary, Kind::kChange, Kind::kCreation}) {
    const IntentTarget intent{.kind = kind, .origin = "http://h:1", .target = "/a%20b?c=d"};
    const auto back = decode_intent(encode_intent(intent));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->kind, kind);
    EXPECT_EQ(back->origin, intent.origin);
    EXPECT_EQ(back->target, intent.target);
  }
}

TEST(UpstreamTarget, AnIntentKeepsATagThatCanComeBack) {
  const IntentTarget intent{.kind = IntentTarget::Kind::kReturning,
                            .origin = "http://h:1",
                            .target = "/a?b",
                            .etag = "\"d41d8\""};
  const auto back = decode_intent(encode_intent(intent));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, intent.kind);
  EXPECT_EQ(back->target, "/a?b");
  EXPECT_EQ(back->etag, intent.etag);
}

TEST(UpstreamTarget, OtherTextIsNoIntent) {
  for (const char* text : {"", "move", "move http://h:1", "rename http://h:1 /a", " ", "  ",
                           "if-match http://h:1 /a"}) {
    EXPECT_FALSE(decode_intent(text)) << text;
  }
}

}  // namespace
}  // namespace fenceline::backends::http
