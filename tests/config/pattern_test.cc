#include "config/pattern.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/pattern_table.h"

namespace fenceline::config {
namespace {

/// Cuts a path the way the router does: `/` is no segment and a trailing slash.
PathSegments path(std::string_view text) {
  const bool trailing_slash = text.ends_with('/');
  text.remove_prefix(1);
  if (trailing_slash && !text.empty()) {
    text.remove_suffix(1);
  }
  return {text, trailing_slash};
}

Pattern pattern(std::string_view text) {
  auto parsed = Pattern::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error());
  return parsed.value();
}

bool takes(const Pattern& pattern, std::string_view text) {
  Captures captures;
  return pattern.match(path(text), captures);
}

// ---- parse ----

struct BadPattern {
  std::string text;
  std::string error;
};

class BadPatterns : public testing::TestWithParam<BadPattern> {};

TEST_P(BadPatterns, AreRefusedWithTheReason) {
  const auto parsed = Pattern::parse(GetParam().text);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Pattern, BadPatterns,
    testing::Values(
        BadPattern{"", "the pattern is empty; \"/{path...}\" takes every path"},
        BadPattern{"a/b", "\"a/b\" must start with \"/\""},
        BadPattern{
            "GET /a",
            "\"GET /a\" has something before the path; a pattern is a path alone, methods go "
            "into `methods`"},
        BadPattern{"/a//b", "\"/a//b\" has an empty segment (\"//\")"},
        BadPattern{"//", "\"//\" has an empty segment (\"//\")"},
        BadPattern{"/a/./b", "\"/a/./b\" has the segment \".\", which no request can reach"},
        BadPattern{"/..", "\"/..\" has the segment \"..\", which no request can reach"},
        BadPattern{"/a%20b",
                   "\"/a%20b\" has a \"%\"; a pattern is a decoded path: write the character "
                   "itself, without percent-encoding, query or backslash"},
        BadPattern{"/a?b",
                   "\"/a?b\" has a \"?\"; a pattern is a decoded path: write the character itself, "
                   "without percent-encoding, query or backslash"},
        BadPattern{"/a\\b",
                   "\"/a\\b\" has a \"\\\"; a pattern is a decoded path: write the character "
                   "itself, without percent-encoding, query or backslash"},
        BadPattern{"/a\tb", "the pattern has a control byte or is not valid UTF-8"},
        BadPattern{"/\xff", "the pattern has a control byte or is not valid UTF-8"},
        BadPattern{
            "/x{a}",
            "\"/x{a}\": the segment \"x{a}\" mixes a wildcard with other text; a wildcard is "
            "a whole segment, like \"{name}\""},
        BadPattern{
            "/{a}x",
            "\"/{a}x\": the segment \"{a}x\" mixes a wildcard with other text; a wildcard is "
            "a whole segment, like \"{name}\""},
        BadPattern{"/{a}{b}",
                   "\"/{a}{b}\": the segment \"{a}{b}\" mixes a wildcard with other text; a "
                   "wildcard is a whole segment, like \"{name}\""},
        BadPattern{"/{",
                   "\"/{\": the segment \"{\" mixes a wildcard with other text; a wildcard is a "
                   "whole segment, like \"{name}\""},
        BadPattern{"/}",
                   "\"/}\": the segment \"}\" mixes a wildcard with other text; a wildcard is a "
                   "whole segment, like \"{name}\""},
        BadPattern{"/{}",
                   "\"/{}\": \"{}\" is no wildcard; its name is letters, digits and \"_\", not "
                   "starting with a digit"},
        BadPattern{"/{1a}",
                   "\"/{1a}\": \"{1a}\" is no wildcard; its name is letters, digits and \"_\", not "
                   "starting with a digit"},
        BadPattern{"/{a-b}",
                   "\"/{a-b}\": \"{a-b}\" is no wildcard; its name is letters, digits and \"_\", "
                   "not starting with a digit"},
        BadPattern{"/{...}",
                   "\"/{...}\": \"{...}\" is no wildcard; its name is letters, digits and \"_\", "
                   "not starting with a digit"},
        BadPattern{"/{a...}/b", "\"/{a...}/b\": \"{a...}\" is only allowed at the end"},
        BadPattern{"/{a...}/", "\"/{a...}/\": \"{a...}\" is only allowed at the end"},
        BadPattern{"/{$}/b", "\"/{$}/b\": \"{$}\" is only allowed at the end"},
        BadPattern{"/{a}/{a}", "\"/{a}/{a}\" has two wildcards named \"a\""},
        BadPattern{"/{a}/{a...}", "\"/{a}/{a...}\" has two wildcards named \"a\""},
        BadPattern{"/" + std::string(1024, 'a'),
                   "the pattern has 1025 bytes; at most 1024 are allowed"}));

TEST(Pattern, NamesItsCaptures) {
  EXPECT_EQ(pattern("/exports/{tenant}/{path...}").capture_names(),
            (std::vector<std::string>{"tenant", "path"}));
  EXPECT_EQ(pattern("/a/").capture_names(), std::vector<std::string>{""});
  EXPECT_TRUE(pattern("/a").capture_names().empty());
  EXPECT_TRUE(pattern("/{$}").capture_names().empty());
  EXPECT_EQ(pattern("/{_x9}").text(), "/{_x9}");
}

// ---- match ----

struct MatchCase {
  std::string pattern;
  std::string path;
  bool taken = false;
  std::vector<std::string> values;
  std::string resource_name;
};

class Matches : public testing::TestWithParam<MatchCase> {};

TEST_P(Matches, AsServeMuxDoes) {
  const MatchCase& expected = GetParam();
  Captures captures;
  const bool taken = pattern(expected.pattern).match(path(expected.path), captures);
  ASSERT_EQ(taken, expected.taken) << expected.pattern << " on " << expected.path;
  EXPECT_EQ(std::vector<std::string>(captures.values.begin(), captures.values.end()),
            expected.values);
  EXPECT_EQ(captures.resource_name, expected.resource_name);
}

using V = std::vector<std::string>;

MatchCase taken(std::string pattern, std::string path, V values, std::string resource_name) {
  return {std::move(pattern), std::move(path), true, std::move(values), std::move(resource_name)};
}

MatchCase missed(std::string pattern, std::string path) {
  return {std::move(pattern), std::move(path), false, {}, {}};
}

INSTANTIATE_TEST_SUITE_P(
    Pattern, Matches,
    testing::Values(
        taken("/a/b", "/a/b", V{}, "b"), missed("/a/b", "/a/b/"), missed("/a/b", "/a"),
        missed("/a/b", "/a/b/c"), missed("/a/b", "/a/c"), missed("/a/b", "/A/b"),
        taken("/a/{x}", "/a/b", V{"b"}, "b"), missed("/a/{x}", "/a/"), missed("/a/{x}", "/a"),
        missed("/a/{x}", "/a/b/"), missed("/a/{x}", "/a/b/c"),
        taken("/a/{x}/b/{y}", "/a/1/b/2", V{"1", "2"}, "1/2"), taken("/a/{x...}", "/a/", V{""}, ""),
        missed("/a/{x...}", "/a"), taken("/a/{x...}", "/a/b", V{"b"}, "b"),
        taken("/a/{x...}", "/a/b/", V{"b"}, "b"),
        taken("/a/{x...}", "/a/b/c/d", V{"b/c/d"}, "b/c/d"),
        taken("/a/{x}/{y...}", "/a/t/", V{"t", ""}, "t"), missed("/a/{x}/{y...}", "/a/t"),
        taken("/a/{x}/{y...}", "/a/t/b/c", V{"t", "b/c"}, "t/b/c"), taken("/a/", "/a/", V{""}, ""),
        taken("/a/", "/a/b/c", V{"b/c"}, "b/c"), missed("/a/", "/a"),
        taken("/a/{$}", "/a/", V{}, "a"), missed("/a/{$}", "/a"), missed("/a/{$}", "/a/b"),
        taken("/a/{x}/{$}", "/a/b/", V{"b"}, "b"), missed("/a/{x}/{$}", "/a/b"),
        taken("/", "/", V{""}, ""), taken("/", "/a/b", V{"a/b"}, "a/b"),
        taken("/{$}", "/", V{}, ""), missed("/{$}", "/a"), taken("/{x...}", "/", V{""}, ""),
        taken("/{x...}", "/a", V{"a"}, "a"), missed("/{x}", "/"),
        taken("/{x}", "/{x}", V{"{x}"}, "{x}")));

// ---- relation ----

struct RelationCase {
  std::string first;
  std::string second;
  Relation expected = Relation::kEqual;
};

class Relations : public testing::TestWithParam<RelationCase> {};

TEST_P(Relations, AreThoseOfServeMux) {
  const RelationCase& expected = GetParam();
  const Relation found = relation(pattern(expected.first), pattern(expected.second));
  EXPECT_EQ(to_string(found), to_string(expected.expected))
      << expected.first << " and " << expected.second;
}

constexpr auto kEqual = Relation::kEqual;
constexpr auto kSpecific = Relation::kMoreSpecific;
constexpr auto kGeneral = Relation::kMoreGeneral;
constexpr auto kDisjoint = Relation::kDisjoint;
constexpr auto kOverlap = Relation::kOverlapping;
INSTANTIATE_TEST_SUITE_P(
    Pattern, Relations,
    testing::Values(
        RelationCase{"/a", "/a", kEqual}, RelationCase{"/{x}", "/{y}", kEqual},
        RelationCase{"/a/", "/a/{x...}", kEqual}, RelationCase{"/{$}", "/{$}", kEqual},
        RelationCase{"/a", "/b", kDisjoint}, RelationCase{"/a", "/a/b", kDisjoint},
        RelationCase{"/a", "/a/", kDisjoint}, RelationCase{"/a/{$}", "/a", kDisjoint},
        RelationCase{"/a/{$}", "/a/{x}", kDisjoint}, RelationCase{"/{x}", "/{x}/{y}", kDisjoint},
        RelationCase{"/a", "/{x}", kSpecific}, RelationCase{"/{x}", "/a", kGeneral},
        RelationCase{"/a/{$}", "/a/", kSpecific}, RelationCase{"/a/b", "/a/", kSpecific},
        RelationCase{"/a/b/c", "/a/{x...}", kSpecific}, RelationCase{"/a/", "/", kSpecific},
        RelationCase{"/{x...}", "/a/{y}", kGeneral},
        RelationCase{"/a/{x}/{y...}", "/a/{x...}", kSpecific},
        RelationCase{"/{x}/b", "/a/{y}", kOverlap}, RelationCase{"/{x}/b", "/a/", kOverlap},
        RelationCase{"/{x}/{y...}", "/a/b", kGeneral}, RelationCase{"/{x}/{$}", "/a/", kOverlap},
        RelationCase{"/{x}/{$}", "/a/{$}", kGeneral}, RelationCase{"/{x}/{y}", "/a/", kOverlap},
        RelationCase{"/{x}/b/", "/a/", kOverlap}, RelationCase{"/{x}/b/c", "/a/b/", kOverlap},
        RelationCase{"/{x}/b/c", "/a/c/", kDisjoint}, RelationCase{"/{x}/b", "/a/c", kDisjoint}));

/// Every pattern of up to three segments out of these, and every path of up to four, tried out.
TEST(Pattern, RelationAgreesWithWhatThePatternsTake) {
  const std::vector<std::string> inner{"a", "b", "{}"};
  std::vector<std::string> stems{""};
  std::vector<std::string> texts;
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<std::string> longer;
    for (const std::string& stem : stems) {
      for (const char* end : {"/", "/{$}", "/{rest...}"}) {
        texts.push_back(stem + end);
      }
      for (const std::string& segment : inner) {
        const std::string name = segment == "{}" ? fmt::format("{{w{}}}", depth) : segment;
        longer.push_back(fmt::format("{}/{}", stem, name));
      }
    }
    texts.insert(texts.end(), longer.begin(), longer.end());
    stems = longer;
  }
  std::vector<std::string> paths{"/"};
  std::vector<std::string> level{""};
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<std::string> longer;
    for (const std::string& stem : level) {
      for (const char* segment : {"a", "b", "z"}) {
        longer.push_back(stem + "/" + segment);
        paths.push_back(longer.back());
        paths.push_back(longer.back() + "/");
      }
    }
    level = longer;
  }
  std::vector<Pattern> patterns;
  std::vector<std::vector<bool>> taken;
  for (const std::string& text : texts) {
    patterns.push_back(pattern(text));
    taken.emplace_back();
    for (const std::string& p : paths) {
      taken.back().push_back(takes(patterns.back(), p));
    }
  }
  ASSERT_GT(patterns.size(), 70U);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    for (std::size_t j = 0; j < patterns.size(); ++j) {
      bool both = false;
      bool only_first = false;
      bool only_second = false;
      for (std::size_t k = 0; k < paths.size(); ++k) {
        both = both || (taken[i][k] && taken[j][k]);
        only_first = only_first || (taken[i][k] && !taken[j][k]);
        only_second = only_second || (!taken[i][k] && taken[j][k]);
      }
      Relation expected = kEqual;
      if (!both) {
        expected = kDisjoint;
      } else if (only_first) {
        expected = only_second ? kOverlap : kGeneral;
      } else if (only_second) {
        expected = kSpecific;
      }
      EXPECT_EQ(to_string(relation(patterns[i], patterns[j])), to_string(expected))
          << texts[i] << " and " << texts[j];
    }
  }
}

// ---- table ----

TEST(PatternTable, MostSpecificWinsInEveryOrder) {
  std::vector<std::string> texts{"/", "/a/", "/a/{x}", "/a/b", "/a/{x}/{y...}", "/a/b/{$}", "/{x}"};
  std::ranges::sort(texts);
  const std::vector<std::pair<std::string, std::string>> expected{{"/", "/"},
                                                                  {"/a", "/{x}"},
                                                                  {"/a/", "/a/"},
                                                                  {"/a/b", "/a/b"},
                                                                  {"/a/c", "/a/{x}"},
                                                                  {"/a/b/", "/a/b/{$}"},
                                                                  {"/a/c/", "/a/{x}/{y...}"},
                                                                  {"/a/b/c", "/a/{x}/{y...}"},
                                                                  {"/z/y", "/"}};
  int orders = 0;
  do {
    std::vector<Pattern> patterns;
    patterns.reserve(texts.size());
    for (const std::string& text : texts) {
      patterns.push_back(pattern(text));
    }
    const PatternTable table(patterns);
    for (const auto& [p, winner] : expected) {
      Captures captures;
      const auto found = table.find(path(p), captures);
      ASSERT_TRUE(found) << p;
      ASSERT_EQ(texts[*found], winner) << p;
    }
    ++orders;
  } while (std::ranges::next_permutation(texts).found);
  EXPECT_EQ(orders, 5040);
}

TEST(PatternTable, NothingTakesThePath) {
  const PatternTable table({pattern("/a/{x}")});
  Captures captures;
  EXPECT_FALSE(table.find(path("/b/c"), captures));
  EXPECT_FALSE(PatternTable({}).find(path("/"), captures));
  EXPECT_TRUE(captures.values.empty());
}

}  // namespace
}  // namespace fenceline::config
