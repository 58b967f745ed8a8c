#include "backends/s3/xml_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::testing {
namespace {

using backends::s3::XmlEvent;
using backends::s3::XmlReader;

/// What a document says, as text; `!` where it is refused.
std::string read(std::string_view xml) {
  XmlReader reader(xml);
  std::string said;
  while (true) {
    const auto event = reader.next();
    if (!event) {
      EXPECT_EQ(event.error().code, "MalformedXML");
      return said + "!";
    }
    switch (event->kind) {
      case XmlEvent::Kind::kStart:
        said += "<" + (event->space.empty() ? "" : "{" + event->space + "}") + event->name + ">";
        break;
      case XmlEvent::Kind::kEnd:
        said += "</>";
        break;
      case XmlEvent::Kind::kText:
        said += event->text;
        break;
      case XmlEvent::Kind::kDone:
        return said;
    }
  }
}

bool refuses(std::string_view xml) { return read(xml).ends_with('!'); }

TEST(XmlReader, Elements) {
  EXPECT_EQ(read("<a/>"), "<a></>");
  EXPECT_EQ(read("<a></a>"), "<a></>");
  EXPECT_EQ(read("<a ><b\n/>t<b></b\t></a >"), "<a><b></>t<b></></>");
  EXPECT_EQ(read(" \r\n<a/>\n\t"), "<a></>");
  EXPECT_EQ(read("<_A.b-9/>"), "<_A.b-9></>");
}

TEST(XmlReader, Declarations) {
  for (const std::string_view good :
       {"<?xml version='1.0'?><a/>", "\xEF\xBB\xBF<?xml version=\"1.0\"?><a/>",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<a/>",
        "<?xml version = '1.0' encoding='UTF-8' standalone='yes' ?><a/>",
        "<?xml version='1.0' standalone='no'?><a/>"}) {
    EXPECT_EQ(read(good), "<a></>") << good;
  }
  for (const std::string_view bad :
       {"<?xml?><a/>", "<?xml version='1.1'?><a/>", "<?xml encoding='UTF-8'?><a/>",
        "<?xml version='1.0' encoding='UTF-16'?><a/>",
        "<?xml version='1.0' encoding='latin1'?><a/>", "<?xml encoding='UTF-8' version='1.0'?><a/>",
        "<?xml version='1.0' standalone='x'?><a/>", "<?xml version='1.0' other='x'?><a/>",
        "<?xml version='1.0'><a/>", "<?xmlversion='1.0'?><a/>", "<?xml version='&#49;.0'?><a/>",
        " <?xml version='1.0'?><a/>", "<?xml version='1.0'/><a/>",
        "<?xml version='1.0' encoding=''?><a/>", "<?xml version='1.0'?>"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
}

TEST(XmlReader, Text) {
  EXPECT_EQ(read("<a>&amp;&lt;&gt;&quot;&apos;</a>"), "<a>&<>\"'</>");
  EXPECT_EQ(read("<a>&#65;&#x41;&#x00e4;&#8364;&#x1F512;</a>"),
            "<a>AA\xC3\xA4\xE2\x82\xAC\xF0\x9F\x94\x92</>");
  EXPECT_EQ(read("<a>x<![CDATA[<b>&amp;]]]]><![CDATA[>]]>y</a>"), "<a>x<b>&amp;]]>y</>");
  EXPECT_EQ(read("<a><!-- &x; <b> - --> x <!----><!--->--></a>"), "<a> x </>");
  EXPECT_EQ(read("<a>1\r\n2\r3\n4<![CDATA[\r\n\r]]>&#13;</a>"), "<a>1\n2\n3\n4\n\n\r</>");
  EXPECT_EQ(read("<a>]] > ></a>"), "<a>]] > ></>");
  EXPECT_EQ(read("<a>\xC3\xA4\x7F</a>"), "<a>\xC3\xA4\x7F</>");
}

TEST(XmlReader, TextThatIsNone) {
  for (const std::string_view bad : {"<a>&</a>",
                                     "<a>& </a>",
                                     "<a>&unknown;</a>",
                                     "<a>&amp</a>",
                                     "<a>&AMP;</a>",
                                     "<a>&;</a>",
                                     "<a>&#;</a>",
                                     "<a>&#x;</a>",
                                     "<a>&#X41;</a>",
                                     "<a>&#0;</a>",
                                     "<a>&#1;</a>",
                                     "<a>&#xD800;</a>",
                                     "<a>&#xFFFE;</a>",
                                     "<a>&#x110000;</a>",
                                     "<a>&#99999999999;</a>",
                                     "<a>&#-65;</a>",
                                     "<a>&# 65;</a>",
                                     "<a>]]></a>",
                                     "<a>\x01</a>",
                                     "<a>\x1B</a>",
                                     "<a>\xC3</a>",
                                     "<a>\xED\xA0\x80</a>",
                                     "<a>\xEF\xBF\xBF</a>",
                                     "<a><![CDATA[x</a>",
                                     "<a><![CDATA[\x02]]></a>",
                                     "<a><![cdata[x]]></a>",
                                     "<a><!-- -- --></a>",
                                     "<a><!-- x</a>",

                                     "<a><!-- ---></a>",
                                     "<a><? x ?></a>",
                                     "<a><!ELEMENT a ANY></a>"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
  EXPECT_TRUE(refuses(std::string_view("<a>\0</a>", 8)));
}

TEST(XmlReader, OneElementAndNothingElse) {
  for (const std::string_view bad : {"",
                                     " ",
                                     "x",
                                     "<a/>x",
                                     "x<a/>",
                                     "<a/><a/>",
                                     "<a/><b></b>",
                                     "<a/></a>",
                                     "</a>",
                                     "<a>",
                                     "<a><b>",
                                     "<a></b>",
                                     "<a><b></a></b>",
                                     "<a></A>",
                                     "<a></ab>",
                                     "<ab></a>",
                                     "<a/>&amp;",
                                     "<a/><![CDATA[]]>",
                                     "<![CDATA[]]><a/>",
                                     "<a/><?x?>",
                                     "<?x?><a/>",
                                     "<!-- x -->",
                                     "<",
                                     "<a",
                                     "<a/",
                                     "</",
                                     "<a></",
                                     "<a></a",
                                     "<a></a x>",
                                     "<a></ a>",
                                     "< a/>",
                                     "<a/ >",
                                     "<1/>",
                                     "<-/>",
                                     "<:a/>",
                                     "<a:/>",
                                     "<a:b:c/>",
                                     "<\xC3\xA4/>",
                                     "<!-- x --",
                                     "<a/><!--"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
  EXPECT_EQ(read("<!-- 1 --> <a/> <!-- 2 --><!-- 3 -->"), "<a></>");
}

// What would define entities, fetch or multiply.
TEST(XmlReader, DocumentTypes) {
  for (const std::string_view bad :
       {"<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM 'http://127.0.0.1/x'><a/>", "<?xml version='1.0'?><!DOCTYPE a><a/>",
        "<a><!DOCTYPE a></a>", "<a/><!DOCTYPE a>", "<!ENTITY x 'y'><a/>"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
}

TEST(XmlReader, Attributes) {
  EXPECT_EQ(read("<a b='1' c = \"'&lt;&#10;\"\n_d='>/'/>"), "<a></>");
  EXPECT_EQ(read("<a xml:space='preserve'/>"), "<a></>");
  EXPECT_EQ(read("<a x='1' p:x='2' xmlns:p='u'/>"), "<a></>");
  for (const std::string_view bad :
       {"<a b/>", "<a b=/>", "<a b=1/>", "<a b='1/>", "<a b='1\"/>", "<a b='<'/>", "<a b='&'/>",
        "<a b='&x;'/>", "<a b='1'c='2'/>", "<a b='1' b='1'/>", "<a ='1'/>", "<a b='1'='2'/>",
        "<a p:b='1'/>", "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>", "<a b='\x01'/>",
        "<a ?></a>", "<a b:='1'/>"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
}

TEST(XmlReader, Namespaces) {
  EXPECT_EQ(read("<a xmlns='u'><b/></a>"), "<{u}a><{u}b></></>");
  EXPECT_EQ(read("<p:a xmlns:p='u'><p:b/><b/></p:a>"), "<{u}a><{u}b></><b></></>");
  EXPECT_EQ(read("<a xmlns='u'><b xmlns='v'><c/></b><d xmlns=''/><e/></a>"),
            "<{u}a><{v}b><{v}c></></><d></><{u}e></></>");
  EXPECT_EQ(read("<a xmlns='u&amp;v'/>"), "<{u&v}a></>");
  for (const std::string_view bad :
       {"<p:a/>", "<a><b xmlns:p='u'/><p:c/></a>", "<a xmlns:p=''/>", "<a xmlns='u' xmlns='u'/>",
        "<a xmlns:p='u' xmlns:p='v'/>", "<a xmlns:xmlns='u'/>", "<a xmlns:xml='u'/>", "<xmlns:a/>",
        "<a xmlns='http://www.w3.org/2000/xmlns/'/>", "<p:a xmlns:p='u'></a>",
        "<p:a xmlns:p='u' xmlns:q='u'></q:a>"}) {
    EXPECT_TRUE(refuses(bad)) << bad;
  }
}

TEST(XmlReader, Limits) {
  const auto nested = [](std::size_t depth) {
    std::string xml;
    for (std::size_t i = 0; i < depth; ++i) {
      xml += "<a>";
    }
    for (std::size_t i = 0; i < depth; ++i) {
      xml += "</a>";
    }
    return xml;
  };
  EXPECT_FALSE(refuses(nested(XmlReader::kMaxDepth)));
  EXPECT_TRUE(refuses(nested(XmlReader::kMaxDepth + 1)));
  std::string attributes;
  for (std::size_t i = 0; i < XmlReader::kMaxAttributes; ++i) {
    attributes += " x" + std::to_string(i) + "=''";
  }
  EXPECT_FALSE(refuses("<a" + attributes + "/>"));
  EXPECT_TRUE(refuses("<a" + attributes + " y=''/>"));
}

}  // namespace
}  // namespace fenceline::testing
