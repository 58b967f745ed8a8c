#include "base/xml_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace fenceline::base {
namespace {

std::string xml(std::string_view text) {
  std::string out;
  append_xml_text(out, text);
  return out;
}

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";

TEST(XmlText, EscapesMarkup) {
  EXPECT_EQ(xml("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&apos;");
  EXPECT_EQ(xml("]]>"), "]]&gt;");
  EXPECT_EQ(xml("&amp;"), "&amp;amp;");
  EXPECT_EQ(xml("a\tb\nc\r"), "a\tb\nc&#13;");
  EXPECT_EQ(xml(""), "");
}

TEST(XmlText, AnElementHasItsTextEscaped) {
  std::string out = "<a>";
  append_xml_element(out, "Key", "<&>");
  append_xml_element(out, "b", "");
  EXPECT_EQ(out, "<a><Key>&lt;&amp;&gt;</Key><b></b>");
}

TEST(XmlText, KeepsCharacters) {
  for (const std::string_view text : {"é", "€", "\xF0\x9F\x94\x92", "\x7f", "\xEF\xBF\xBD"}) {
    EXPECT_EQ(xml(text), text);
  }
}

TEST(XmlText, ReplacesWhatXmlCannotHold) {
  const std::string one(kReplaced);
  EXPECT_EQ(xml(std::string_view("a\0b", 3)), "a" + one + "b");
  EXPECT_EQ(xml("\x01\x1f"), one + one);
  EXPECT_EQ(xml("\xff"), one);
  EXPECT_EQ(xml("\xC3"), one);
  EXPECT_EQ(xml("\xC3("), one + "(");
  EXPECT_EQ(xml("\xEF\xBF\xBE"), one + one + one) << "U+FFFE";
  EXPECT_EQ(xml("\xEF\xBF\xBF"), one + one + one) << "U+FFFF";
  EXPECT_EQ(xml("\xED\xA0\x80"), one + one + one) << "a surrogate";
  EXPECT_EQ(xml("\xF0\x9F\x94<"), one + one + one + "&lt;");
}

}  // namespace
}  // namespace fenceline::base
