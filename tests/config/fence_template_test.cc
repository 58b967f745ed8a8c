#include "config/fence_template.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fenceline::config {
namespace {

constexpr std::string_view kMatch = "/exports/{tenant}/{kind}/{path...}";

Pattern pattern(std::string_view text) { return Pattern::parse(text).value(); }

FenceTemplate fence(std::string_view text, std::string_view match = kMatch) {
  auto parsed = FenceTemplate::parse(text, pattern(match));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error());
  return parsed.value();
}

std::string key(const FenceTemplate& made, std::string_view match, std::string_view path,
                bool trailing_slash = false) {
  Captures captures;
  EXPECT_TRUE(pattern(match).match(PathSegments(path, trailing_slash), captures));
  const auto result = made.key(captures);
  return result ? result->text() : result.error().detail;
}

struct BadTemplate {
  std::string text;
  std::string error;
};

class BadTemplates : public testing::TestWithParam<BadTemplate> {};

TEST_P(BadTemplates, AreRefusedWithTheReason) {
  const auto parsed = FenceTemplate::parse(GetParam().text, pattern(kMatch));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    FenceTemplate, BadTemplates,
    testing::Values(
        BadTemplate{"", "the fence is empty; leave the key out for one fence per resource"},
        BadTemplate{"/a", "\"/a\" must not start or end with \"/\"; a fence is a name, not a path"},
        BadTemplate{"a/", "\"a/\" must not start or end with \"/\"; a fence is a name, not a path"},
        BadTemplate{"a//b",
                    "\"a//b\" has the segment \"\"; segments are not empty, \".\" or \"..\""},
        BadTemplate{"a/../b",
                    "\"a/../b\" has the segment \"..\"; segments are not empty, \".\" or \"..\""},
        BadTemplate{"a\x01", "the fence has a control byte or is not valid UTF-8"},
        BadTemplate{"a\xc0\x80", "the fence has a control byte or is not valid UTF-8"},
        BadTemplate{"{tenant}{kind}",
                    "\"{tenant}{kind}\": \"{tenant}{kind}\" has two captures without a \"/\" "
                    "between them, so two resources could get one key by accident; put a \"/\" "
                    "between them"},
        BadTemplate{"x/{tenant}-{kind}",
                    "\"x/{tenant}-{kind}\": \"{tenant}-{kind}\" has two captures without a \"/\" "
                    "between them, so two resources could get one key by accident; put a \"/\" "
                    "between them"},
        BadTemplate{"x/{tenant}{path...}",
                    "\"x/{tenant}{path...}\": \"{tenant}{path...}\" has two captures without a "
                    "\"/\" between them, so two resources could get one key by accident; put a "
                    "\"/\" between them"},
        BadTemplate{"x/{user}",
                    "\"x/{user}\" names \"{user}\", which the match "
                    "\"/exports/{tenant}/{kind}/{path...}\" does not capture; it captures tenant, "
                    "kind, path"},
        BadTemplate{"x/{}",
                    "\"x/{}\" names \"{}\", which the match \"/exports/{tenant}/{kind}/{path...}\" "
                    "does not capture; it captures tenant, kind, path"},
        BadTemplate{"x/{path}", "\"x/{path}\": write \"{path...}\", as the match does"},
        BadTemplate{"x/{tenant...}", "\"x/{tenant...}\": write \"{tenant}\", as the match does"},
        BadTemplate{"x/{path...}/y",
                    "\"x/{path...}/y\" has text after the rest of the path; the rest ends a fence"},
        BadTemplate{"x/{path...}y",
                    "\"x/{path...}y\" has text after the rest of the path; the rest ends a fence"},
        BadTemplate{"{path...}",
                    "\"{path...}\" would be empty for the root of the route; put a name before it, "
                    "as in \"x/{path...}\""},
        BadTemplate{"x{", "\"x{\" has a brace without its partner"},
        BadTemplate{"x}", "\"x}\" has a brace without its partner"},
        BadTemplate{"{tenant", "\"{tenant\" has a brace without its partner"},
        BadTemplate{std::string(1025, 'k'), "the fence has 1025 bytes; at most 1024 are allowed"}));

TEST(FenceTemplate, MakesKeysOfCaptures) {
  const std::string path = "exports/acme/csv/2024/a.csv";
  EXPECT_EQ(key(fence("exports/{tenant}"), kMatch, path), "exports/acme");
  EXPECT_EQ(key(fence("{kind}/{tenant}"), kMatch, path), "csv/acme");
  EXPECT_EQ(key(fence("all"), kMatch, path), "all");
  EXPECT_EQ(key(fence("t-{tenant}.x/{path...}"), kMatch, path), "t-acme.x/2024/a.csv");
  EXPECT_EQ(key(FenceTemplate::per_resource("files"), kMatch, path), "files/acme/csv/2024/a.csv");
  EXPECT_EQ(FenceTemplate::per_resource("files").text(), "files/<resource>");
  EXPECT_EQ(fence("exports/{tenant}").text(), "exports/{tenant}");
}

TEST(FenceTemplate, AKeyNeverEndsInASlash) {
  const std::string path = "exports/acme/csv";
  EXPECT_EQ(key(fence("x/{tenant}/{path...}"), kMatch, path, true), "x/acme");
  EXPECT_EQ(key(fence("logs-{path...}"), kMatch, path, true), "logs-");
  EXPECT_EQ(key(FenceTemplate::per_resource("r"), "/{path...}", "", true), "r");
}

TEST(FenceTemplate, ATooLongKeyIsRefused) {
  const std::string path = "exports/t/k/" + std::string(1020, 'p');
  Captures captures;
  ASSERT_TRUE(pattern(kMatch).match(PathSegments(path, false), captures));
  const auto result = fence("logs/{path...}").key(captures);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, base::ErrorKind::kTargetTooLong);
}

/// Two requests have one key exactly if they agree in the captures that the template names.
TEST(FenceTemplate, IsInjectiveInTheCapturesThatItNames) {
  const std::vector<std::string> words{"a", "b", "a-b", "-", "ab", "a.b"};
  for (const std::string_view text :
       {"x/{tenant}/{kind}", "{tenant}/{kind}/{path...}", "{kind}/x-{tenant}/p{path...}",
        "{tenant}-/{kind}", "k{path...}"}) {
    const FenceTemplate made = fence(text);
    const bool tenant_named = text.find("tenant") != std::string_view::npos;
    const bool kind_named = text.find("kind") != std::string_view::npos;
    const bool path_named = text.find("path") != std::string_view::npos;
    std::map<std::string, std::vector<std::string>> seen;
    for (const std::string& tenant : words) {
      for (const std::string& kind : words) {
        for (const std::string path : {"", "a", "b", "a/b", "b/a", "a-b"}) {
          Captures captures;
          captures.values = {tenant, kind, path};
          const auto result = made.key(captures);
          ASSERT_TRUE(result);
          const std::vector<std::string> named{tenant_named ? tenant : "", kind_named ? kind : "",
                                               path_named ? path : ""};
          const auto [entry, added] = seen.emplace(result->text(), named);
          EXPECT_EQ(entry->second, named) << text << " gives " << result->text() << " twice";
        }
      }
    }
  }
}

struct SameCase {
  std::string first_match;
  std::string first_fence;  ///< "=name": the default of a route with this name.
  std::string second_match;
  std::string second_fence;
  bool same = false;
};

class SameKeys : public testing::TestWithParam<SameCase> {};

TEST_P(SameKeys, OnlyWhenProved) {
  const SameCase& c = GetParam();
  const auto make = [](const std::string& text, const std::string& match) {
    return text.front() == '=' ? FenceTemplate::per_resource(text.substr(1)) : fence(text, match);
  };
  const FenceTemplate first = make(c.first_fence, c.first_match);
  const FenceTemplate second = make(c.second_fence, c.second_match);
  const Pattern first_pattern = pattern(c.first_match);
  const Pattern second_pattern = pattern(c.second_match);
  EXPECT_EQ(FenceTemplate::same_keys(first, first_pattern, second, second_pattern), c.same);
  EXPECT_EQ(FenceTemplate::same_keys(second, second_pattern, first, first_pattern), c.same);
}

INSTANTIATE_TEST_SUITE_P(
    FenceTemplate, SameKeys,
    testing::Values(SameCase{"/a/{t}/{p...}", "x/{t}", "/b/{u}/{q...}", "x/{u}", true},
                    SameCase{"/a/{t}/{p...}", "x/{t}", "/b/{u}/{q...}", "y/{u}", false},
                    SameCase{"/a/{t}/{p...}", "x/{t}", "/b/{u}/{q}", "x/{u}", false},
                    SameCase{"/a/{t}/{p...}", "x/{t}", "/b/{q...}", "x/{q...}", false},
                    SameCase{"/a/{t}/{k}/{p...}", "x/{t}", "/b/{k}/{t}/{p...}", "x/{t}", false},
                    SameCase{"/a/{p...}", "all", "/b/{x}", "all", true},
                    SameCase{"/a/{p...}", "=a", "/b/{p...}", "=b", false},
                    SameCase{"/a/{p...}", "=a", "/b/{p...}", "a/{p...}", true},
                    SameCase{"/a/{t}/{p...}", "=a", "/b/{p...}", "a/{p...}", true},
                    SameCase{"/a/{t}/{p...}", "a/{t}/{p...}", "/b/{p...}", "a/{p...}", true},
                    SameCase{"/a/{t}/{p...}", "a/{t}-/{p...}", "/b/{p...}", "a/{p...}", false},
                    SameCase{"/a/report", "=a", "/b/{p...}", "a/{p...}", true},
                    SameCase{"/a/report", "a/report", "/b/{p...}", "a/{p...}", false}));

TEST(FenceTemplate, CoversWhatIsBelowIfItLeavesTheRestOut) {
  for (const char* covers : {"exports/{tenant}", "exports", "{tenant}/{kind}", "x/{kind}"}) {
    EXPECT_TRUE(fence(covers).covers_below()) << covers;
  }
  for (const char* not_all : {"exports/{path...}", "x/{tenant}/{kind}/{path...}"}) {
    EXPECT_FALSE(fence(not_all).covers_below()) << not_all;
  }
  EXPECT_FALSE(FenceTemplate::per_resource("exports").covers_below());
  EXPECT_TRUE(fence("a", "/a/").covers_below());
  // What is below is not the route's.
  EXPECT_FALSE(fence("a/{id}", "/a/{id}").covers_below());
  EXPECT_FALSE(fence("a", "/a/{id}").covers_below());
  EXPECT_FALSE(fence("a", "/a/b").covers_below());
}

}  // namespace
}  // namespace fenceline::config
