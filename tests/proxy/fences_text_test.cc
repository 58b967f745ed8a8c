#include "proxy/fences_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "proxy/admin_client.h"
#include "proxy/shell_text.h"
#include "proxy/target.h"

namespace fenceline::proxy {
namespace {

boost::json::object object_of(std::string_view text) {
  return boost::json::parse(boost::json::string_view(text.data(), text.size())).as_object();
}

TEST(FencesTextTest, ATableIsAlignedByCharacters) {
  EXPECT_EQ(fences_text(object_of(
                R"({"fences":[{"key":"a/\u00e9\u20ac","mark":"7","holder":""},)"
                R"({"key":"longer","mark":"100","holder":"w1","source_reset_suspected":true}]})")),
            "KEY     MARK  HOLDER\n"
            "a/\xC3\xA9\xE2\x82\xAC    7     -\n"
            "longer  100   w1      token source reset?\n");
  EXPECT_EQ(fences_text(object_of(R"({"fences":[]})")), "KEY  MARK  HOLDER\n");
}

TEST(FencesTextTest, AFenceWithItsResetsAndTheCommandToRun) {
  const std::string text = fence_text(object_of(
      R"({"key":"it's","mark":"100","holder":"w","announced":"100","inside":0,"waiting":2,)"
      R"("unsettled":["7","8"],"resets":[{"time":"T","from":"9","holder":"","to":"5",)"
      R"("reason":"why","by":"me","peer":"p"}],)"
      R"("source_reset_suspected":{"presented":"4","tokens":4,"holders":2}})"));
  for (const char* line :
       {"key        it's\n", "waiting    2\n", "unsettled  7, 8\n",
        "reset      T: from 9 (holder -) to 5 by me from p: why\n", "4 rising tokens of 2 holders",
        "  fenceline fences reset 'it'\\''s' --to 4 --from 100 --reason '…'\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
  EXPECT_EQ(fence_text(object_of(R"({"key":"a","mark":"1","holder":"","resets":[]})")),
            "key     a\nmark    1\nholder  -\n");
}

TEST(FencesTextTest, Changes) {
  EXPECT_EQ(change_text(object_of(R"({"key":"a","mark":"5","previous":"9","changed":true})")),
            "a: the mark is 5 now, it was 9\n");
  EXPECT_EQ(change_text(object_of(R"({"key":"a","mark":"5","previous":"5","changed":false})")),
            "a: the mark is 5, nothing to change\n");
}

TEST(FencesTextTest, Problems) {
  EXPECT_EQ(problem_text(409, R"({"title":"T","detail":"D","applied":"no"})"), "T: D");
  EXPECT_EQ(problem_text(503, R"({"title":"T","detail":"D","applied":"unknown"})"),
            "T: D (applied: unknown)");
  EXPECT_NE(problem_text(404, "<html>").find("status 404"), std::string::npos);
  EXPECT_NE(problem_text(404, "{}").find("status 404"), std::string::npos);
}

TEST(ShellTextTest, OneWordWhateverItHolds) {
  EXPECT_EQ(shell_quoted("exports/acme"), "exports/acme");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("-x"), "'-x'");
  EXPECT_EQ(shell_quoted("a b$(c)`d`"), "'a b$(c)`d`'");
  EXPECT_EQ(shell_quoted("a'b"), "'a'\\''b'");
  EXPECT_EQ(shell_quoted("~"), "'~'");
}

TEST(AdminClientTest, PercentEncodingIsUndoneByTheServer) {
  std::string every;
  for (int byte = 1; byte < 256; ++byte) {
    every += static_cast<char>(byte);
  }
  for (const std::string& text : {every, std::string("a/b"), std::string(".."), std::string("%2F"),
                                  std::string("a+b&c=d#e?f")}) {
    const std::string encoded = percent_encoded(text);
    EXPECT_EQ(encoded.find_first_of("/.+&=#? "), std::string::npos) << encoded;
    EXPECT_EQ(percent_decode(encoded, "text").value(), text);
  }
}

TEST(AdminClientTest, Urls) {
  const auto plain = parse_admin_url("http://127.0.0.1:8081");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, 8081);
  const auto six = parse_admin_url("http://[::1]:8081/");
  ASSERT_TRUE(six.has_value()) << six.error().detail;
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->url(), "http://[::1]:8081");
  EXPECT_EQ(parse_admin_url("http://localhost:1").value().host, "localhost");
  for (const char* bad :
       {"", "127.0.0.1:8081", "https://127.0.0.1:8081", "http://127.0.0.1", "http://:8081",
        "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://a:1/v1", "http://a:1?x",
        "http://a:1#x", "http://user:secret@a:1", "ftp://a:1", "http://a b:1"}) {
    const auto refused = parse_admin_url(bad);
    EXPECT_FALSE(refused.has_value()) << bad;
    if (!refused) {
      EXPECT_NE(refused.error().detail.find("http://127.0.0.1:8081"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace fenceline::proxy
