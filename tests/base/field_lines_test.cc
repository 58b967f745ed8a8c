#include "base/field_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::base {
namespace {

using namespace std::string_literals;

TEST(FieldLines, KeepsFieldsAsTheyGoOut) {
  FieldLines lines;
  EXPECT_TRUE(lines.empty());
  lines.add("ETag", "\"a: b\"");
  lines.add("Allow", "GET");
  lines.add("allow", "");
  EXPECT_TRUE(lines.valid());
  EXPECT_EQ(lines.text(), "ETag: \"a: b\"\r\nAllow: GET\r\nallow: \r\n");
  EXPECT_EQ(lines.find("etag"), "\"a: b\"");
  EXPECT_EQ(lines.find("ALLOW"), "GET") << "the first one";
  EXPECT_EQ(lines.find("Allo"), std::nullopt);
  EXPECT_EQ(lines.list(),
            (std::vector<OwnedField>{{"ETag", "\"a: b\""}, {"Allow", "GET"}, {"allow", ""}}));
}

TEST(FieldLines, RefusesWhatMustNotGoOut) {
  const std::vector<OwnedField> bad = {{"", "x"},
                                       {"A B", "x"},
                                       {"A:", "x"},
                                       {"A", "x\r\nB: y"},
                                       {"A", "\n"},
                                       {"A", "12345678\x7f"},
                                       {"A", "a\0b"s},
                                       {"Date", "x"},
                                       {"content-length", "0"},
                                       {"TRANSFER-ENCODING", "chunked"},
                                       {"Connection", "close"}};
  for (const auto& [name, value] : bad) {
    FieldLines lines;
    lines.add("Good", "tab\tand \xc3\xa4 are fine");
    EXPECT_TRUE(lines.valid());
    lines.add_named(name, value);
    EXPECT_FALSE(lines.valid()) << name << ": " << value;
    lines.add("Good", "2");
    EXPECT_FALSE(lines.valid()) << "for ever";
    EXPECT_EQ(lines.list().size(), 2U);
  }
}

TEST(FieldLines, TakesOverParsedFieldsButNotThoseOfTheSession) {
  FieldLines lines;
  lines.add_parsed("X-A", "1");
  lines.add_parsed("X-B", "");
  lines.add_parsed("server", "s");
  EXPECT_TRUE(lines.valid());
  EXPECT_TRUE(lines.names_server());
  EXPECT_EQ(lines.text(), "X-A: 1\r\nX-B: \r\nserver: s\r\n");
  for (const char* name : {"Date", "content-length", "TRANSFER-ENCODING", "Connection"}) {
    FieldLines refused;
    refused.add_parsed(name, "x");
    EXPECT_FALSE(refused.valid()) << name;
    EXPECT_TRUE(refused.empty()) << name;
  }
}

TEST(FieldLines, SeesAServerField) {
  FieldLines lines;
  lines.add("Servers", "x");
  EXPECT_FALSE(lines.names_server());
  lines.add("sERVER", "x");
  EXPECT_TRUE(lines.names_server());
}

}  // namespace
}  // namespace fenceline::base
