// What is wrong with a file as YAML, and with the variables in it.

#include <gtest/gtest.h>

#include "tests/config/support.h"

namespace fenceline::config {
namespace {

class YamlErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(YamlErrors, AreAllReportedInTheirPlaces) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

// Long sentences stand on several lines.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
INSTANTIATE_TEST_SUITE_P(
    Loader, YamlErrors,
    testing::Values(
        ErrorCase{"UnknownEnvInFlow",
                  kBase + R"(admin: {listen: 127.0.0.1:1, token: ${NOPE}}
)",
                  {"7:37: the environment variable NOPE is not set; set it, or write $${NOPE} for "
                   "the characters"}},
        ErrorCase{"DupTop",
                  kBase + R"(listen: 127.0.0.1:8081
)",
                  {"7:1: duplicate key `listen`; it is already in line 1"}},
        ErrorCase{"DupFlow",
                  kBase + R"(admin: {listen: 127.0.0.1:1, listen: 127.0.0.1:2}
)",
                  {"7:30: duplicate key `listen`; it is already in line 7"}},
        ErrorCase{
            "Anchor",
            kBase + R"(log: &a {level: info}
)",
            {"7:6: anchors (&name) are not supported; write the value out where it is needed"}},
        ErrorCase{"Alias",
                  kBase + R"(log: &a {level: info}
threads: *a
)",
                  {"7:6: anchors (&name) are not supported; write the value out where it is needed",
                   "8:10: aliases (*name) are not supported; write the value out"}},
        ErrorCase{"UnknownAlias",
                  kBase + R"(log: *nope
)",
                  {"7:6: not valid YAML: the referenced anchor is not defined"}},
        ErrorCase{"Tag",
                  kBase + R"(log: {level: !!str info}
)",
                  {"7:14: the tag \"tag:yaml.org,2002:str\" is not supported; leave it out, every "
                   "key has its own type"}},
        ErrorCase{
            "TagMap",
            kBase + R"(log: !foo {level: info}
)",
            {"7:6: the tag \"!foo\" is not supported; leave it out, every key has its own type"}},
        ErrorCase{"SecondDoc",
                  kBase + R"(---
a: 1
)",
                  {"7:1: a second document begins here; a configuration is one document (or the "
                   "indentation of this line is wrong)"}},
        ErrorCase{"BadIndentList",
                  kBase + R"(- b
)",
                  {"7:1: not valid YAML: end of map not found"}},
        ErrorCase{"Tab",
                  kBase + R"(log:
	level: info
)",
                  {"8:7: not valid YAML: illegal map value"}},
        ErrorCase{"Unclosed",
                  kBase + R"(log: {level: info
)",
                  {"8:1: not valid YAML: end of map flow not found; inside {…} and […], quote a "
                   "value that has braces, brackets or commas in it"}},
        ErrorCase{"Merge",
                  kBase + R"(log: {<<: 1}
)",
                  {"7:7: unknown key `log.<<`; the keys here are format, level"}},
        ErrorCase{"ComplexKey",
                  kBase + R"(? {a: 1}
: b
)",
                  {"7:3: a map cannot be a key"}},
        ErrorCase{"NullKey",
                  kBase + R"(: b
)",
                  {"7:1: a key is missing here"}},
        ErrorCase{
            "BlockScalar",
            kBase + R"(log:
  level: |
    info
)",
            {"8:10: `log.level`: has a control byte, such as a line end, or is not valid UTF-8"}},
        ErrorCase{"EnvBadName",
                  kBase + R"(log: {level: "${a-b}"}
)",
                  {"7:14: \"${a-b}\" names no environment variable; a name is letters, digits and "
                   "\"_\", and there are no defaults"}},
        ErrorCase{"EnvUnclosed",
                  kBase + R"(log:
  level: ${PORT
)",
                  {"8:10: \"${\" has no \"}\" on its line; write ${NAME} for a variable, $${ for "
                   "the characters"}},
        ErrorCase{"EnvNoRescan",
                  kBase + R"(log: {level: "${DOLLAR}"}
)",
                  {"7:14: `log.level`: \"${PORT}\" is not one of debug, info, warn, error (from "
                   "the environment)"}},
        ErrorCase{"EnvYamlInert",
                  kBase + R"(log: {level: ${YAML}}
)",
                  {"7:14: `log.level`: \"a: {b\" is not one of debug, info, warn, error (from the "
                   "environment)"}},
        ErrorCase{"DollarDollar",
                  kBase + R"(log: {level: a$$b$c$${x}}
)",
                  {"7:22: not valid YAML: end of map flow not found; inside {…} and […], quote a "
                   "value that has braces, brackets or commas in it"}},
        ErrorCase{"DollarQuoted",
                  kBase + R"(log: {level: "$${x}"}
)",
                  {"7:14: `log.level`: \"${x}\" is not one of debug, info, warn, error"}},
        ErrorCase{"LinesEnv",
                  kBase + R"(admin: {listen: 127.0.0.1:1, token: ${LINES}}
)",
                  {"7:37: `admin.token`: has a control byte, such as a line end, or is not valid "
                   "UTF-8 (from the environment)"}},
        ErrorCase{
            "Empty", "", {"1:1: the file is empty; config/quickstart.yaml is a working example"}},
        ErrorCase{"CommentOnly",
                  R"(# nothing
)",
                  {"1:1: the file is empty; config/quickstart.yaml is a working example"}},
        ErrorCase{"ScalarRoot",
                  R"(hello
)",
                  {"1:1: the configuration must be a map (`key: value`), but is a value"}},
        ErrorCase{"ListRoot",
                  R"(- a
)",
                  {"1:1: the configuration must be a map (`key: value`), but is a list"}},
        ErrorCase{"Deep",
                  kBase + R"(log: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]
)",
                  {"7:21: nested more than 16 levels deep"}},
        ErrorCase{"AdminSeq",
                  kBase + R"(admin: {listen: [::1]:8081}
)",
                  {"7:22: not valid YAML: end of map flow not found; inside {…} and […], quote a "
                   "value that has braces, brackets or commas in it"}},
        ErrorCase{"UnicodeCol",
                  kBase + R"(log: {format: "é", level: x}
)",
                  {"7:15: `log.format`: \"é\" is not one of text, json",
                   "7:28: `log.level`: \"x\" is not one of debug, info, warn, error"}},
        ErrorCase{"QuotedKey",
                  kBase + R"("log": {'level': x}
)",
                  {"7:18: `log.level`: \"x\" is not one of debug, info, warn, error"}},
        ErrorCase{"DottedKey",
                  kBase + R"(limits.head: 3
)",
                  {"7:1: unknown key `limits.head`; the keys here are listen, admin, ledger, "
                   "token, limits, timeouts, log, threads, leases, routes"}},
        ErrorCase{"MatchUnclosedInFlow",
                  kBase + R"(  - {name: b, match: /b/{x}, files: {root: r}}
)",
                  {"7:25: not valid YAML: end of map flow not found; inside {…} and […], quote a "
                   "value that has braces, brackets or commas in it"}},
        ErrorCase{"VariableInKey",
                  kBase + R"(${PORT}: 1
)",
                  {"7:1: unknown key `${PORT}`; the keys here are listen, admin, ledger, token, "
                   "limits, timeouts, log, threads, leases, routes"}},
        ErrorCase{"TwoMissingVariables",
                  kBase + R"(log: {format: ${A1}, level: ${B1}}
)",
                  {"7:15: the environment variable A1 is not set; set it, or write $${A1} for the "
                   "characters",
                   "7:29: the environment variable B1 is not set; set it, or write $${B1} for the "
                   "characters"}},
        ErrorCase{
            "EscapeMakesControlByte",
            kBase + R"(log: {level: "in\x01fo"}
)",
            {"7:14: `log.level`: has a control byte, such as a line end, or is not valid UTF-8"}},
        ErrorCase{
            "EscapeCannotEndTheFile",
            kBase + R"(log: {level: "\x04"}
)",
            {"7:14: `log.level`: has a control byte, such as a line end, or is not valid UTF-8"}},
        ErrorCase{"SingleQuotes",
                  kBase + R"(log: {level: 'infos'}
)",
                  {"7:14: `log.level`: \"infos\" is not one of debug, info, warn, error; did you "
                   "mean info?"}},
        ErrorCase{"Folded",
                  kBase + R"(log: {level: "in
  fo"}
)",
                  {"7:14: `log.level`: \"in fo\" is not one of debug, info, warn, error; did you "
                   "mean info?"}},
        ErrorCase{
            "AnchorOnScalar",
            kBase + R"(log: {level: &x info}
)",
            {"7:14: anchors (&name) are not supported; write the value out where it is needed"}},
        ErrorCase{
            "AnchorOnList",
            kBase + R"(    methods: &m [GET]
)",
            {"7:14: anchors (&name) are not supported; write the value out where it is needed"}},
        ErrorCase{"AliasAsKey",
                  kBase + R"(log: &a {level: info}
*a : 1
)",
                  {"7:6: anchors (&name) are not supported; write the value out where it is needed",
                   "8:1: an alias (*name) cannot be a key"}},
        ErrorCase{"ListAsKey",
                  kBase + R"(? [a]
: b
)",
                  {"7:3: a list cannot be a key"}},
        ErrorCase{"TagOnList",
                  kBase + R"(    methods: !!seq [GET]
)",
                  {"7:14: the tag \"tag:yaml.org,2002:seq\" is not supported; leave it out, every "
                   "key has its own type"}},
        ErrorCase{"BinaryTag",
                  kBase + R"(log: {level: !!binary aW5mbw==}
)",
                  {"7:14: the tag \"tag:yaml.org,2002:binary\" is not supported; leave it out, "
                   "every key has its own type"}},
        ErrorCase{"ControlBytesInAKeyAreShown",
                  kBase + R"("\x1b[31m": 1
)",
                  {"7:1: unknown key `\\x1b[31m`; the keys here are listen, admin, ledger, token, "
                   "limits, timeouts, log, threads, leases, routes"}},
        ErrorCase{
            "VerbatimTag",
            kBase + R"(log: {level: !<x> info}
)",
            {"7:14: the tag \"x\" is not supported; leave it out, every key has its own type"}},
        ErrorCase{"StrayClose",
                  kBase + R"(log: {level: info}}
)",
                  {"7:19: not valid YAML: illegal flow end; inside {…} and […], quote a value that "
                   "has braces, brackets or commas in it"}},
        ErrorCase{"StrayText",
                  kBase + R"(just text
)",
                  {"7:1: unknown key `just text`; the keys here are listen, admin, ledger, token, "
                   "limits, timeouts, log, threads, leases, routes"}},
        ErrorCase{"UnendedQuote",
                  kBase + R"(log: {level: "info}
)",
                  {"8:1: not valid YAML: end of map flow not found; inside {…} and […], quote a "
                   "value that has braces, brackets or commas in it"}},
        ErrorCase{"BadEscape",
                  kBase + R"(log: {level: "\q"}
)",
                  {"7:17: not valid YAML: unknown escape character: q"}},
        ErrorCase{"DeepBlock",
                  kBase + R"(log:
  - - - - - - - - - - - - - - - - - 1
)",
                  {"8:33: nested more than 16 levels deep"}},
        ErrorCase{"TripleKey",
                  kBase + R"(log: {level: info, level: warn, level: error}
)",
                  {"7:20: duplicate key `level`; it is already in line 7",
                   "7:33: duplicate key `level`; it is already in line 7"}},
        ErrorCase{"TwoDocuments",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
---
listen: 127.0.0.1:2
)",
                  {"4:1: a second document begins here; a configuration is one document (or the "
                   "indentation of this line is wrong)"}},
        ErrorCase{"ExplicitNullDocument",
                  R"(---
)",
                  {"1:1: the file is empty; config/quickstart.yaml is a working example"}},
        ErrorCase{"TopIsAScalarVariable",
                  R"(${PORT}
)",
                  {"1:1: the configuration must be a map (`key: value`), but is a value"}}),
    case_name);
// NOLINTEND(bugprone-suspicious-missing-comma)

class Accepted : public testing::TestWithParam<ErrorCase> {};

TEST_P(Accepted, WithoutAProblem) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

INSTANTIATE_TEST_SUITE_P(
    Loader, Accepted,
    testing::Values(ErrorCase{"Base", kBase + "", {}},
                    ErrorCase{"EnvInFlow",
                              kBase + R"(admin: {listen: 127.0.0.1:1, token: ${SECRET}}
)",
                              {}},
                    ErrorCase{"DocEnd",
                              kBase + R"(...
)",
                              {}},
                    ErrorCase{"EmptyMap",
                              kBase + R"(log: {}
)",
                              {}},
                    ErrorCase{"NameBoolLike",
                              kBase + R"(  - name: "true"
    match: /b/{x}
    files: {root: r}
)",
                              {}},
                    ErrorCase{"AdminAllWithToken",
                              kBase + R"(admin: {listen: 0.0.0.0:8081, token: ${SECRET}}
)",
                              {}},
                    ErrorCase{"VariableInAComment",
                              kBase + R"(# ${NOPE} costs nothing
)",
                              {}},
                    ErrorCase{"PortFromVariable",
                              kBase + R"(admin: {listen: 127.0.0.1:${PORT}}
)",
                              {}},
                    ErrorCase{"SameKeyInTwoMapsIsFine",
                              kBase + R"(log: {level: info}
timeouts: {head: 1s, body: 1s}
)",
                              {}},
                    ErrorCase{"FirstDocumentMarkerIsFine",
                              R"(---
listen: 127.0.0.1:1
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                              {}}),
    case_name);

}  // namespace
}  // namespace fenceline::config
