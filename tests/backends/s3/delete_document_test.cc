#include "backends/s3/delete_document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace fenceline::testing {
namespace {

using backends::s3::DeleteDocument;
using backends::s3::kMaxDeleteDocumentBytes;
using backends::s3::kMaxDeletions;
using backends::s3::parse_delete_document;
using backends::s3::write_delete_document;

constexpr std::string_view kSpace = "http://s3.amazonaws.com/doc/2006-03-01/";

/// What a document asks for, as text; `!` if it is refused. What is taken is written and read
/// again.
std::string read(std::string_view xml) {
  const auto document = parse_delete_document(xml);
  if (!document) {
    EXPECT_EQ(document.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_EQ(document.error().code, "MalformedXML");
    return "!";
  }
  std::string said = document->quiet ? "quiet " : "";
  for (const auto& [key, version, etag] : document->deletions) {
    said += fmt::format("[{}|{}|{}]", key, version, etag);
  }
  const std::string written = write_delete_document(*document);
  const auto again = parse_delete_document(written);
  EXPECT_TRUE(again) << written;
  EXPECT_EQ(again ? write_delete_document(*again) : "", written);
  return said;
}

std::string in_object(std::string_view inner) {
  return read(fmt::format("<Delete><Object>{}</Object></Delete>", inner));
}

// As the clients send it (facts: boto3, the JavaScript SDK, s3cmd).
TEST(DeleteDocument, OfRealClients) {
  EXPECT_EQ(read("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a</Key>"
                 "</Object><Object><Key>b/c</Key></Object><Quiet>true</Quiet></Delete>"),
            "quiet [a||][b/c||]");
  EXPECT_EQ(read("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Delete><Object><Key>a b&amp;c</Key>"
                 "<VersionId>null</VersionId></Object></Delete>"),
            "[a b&c|null|]");
  EXPECT_EQ(
      read("<?xml version='1.0'?>\n<s3:Delete xmlns:s3='http://s3.amazonaws.com/doc/2006-03-01/'"
           ">\n <s3:Object>\r\n\t<s3:ETag>\"x\"</s3:ETag><s3:Key>k</s3:Key> </s3:Object>\n"
           "<s3:Quiet> false </s3:Quiet></s3:Delete>\n"),
      "[k||\"x\"]");
}

TEST(DeleteDocument, KeysAsXmlHasThem) {
  EXPECT_EQ(in_object("<Key>&lt;&#x26;&gt;&quot;&#39;</Key>"), "[<&>\"'||]");
  EXPECT_EQ(in_object("<Key>a<![CDATA[<b>&amp;]]>c</Key>"), "[a<b>&amp;c||]");
  EXPECT_EQ(in_object("<Key>a<!-- b -->c</Key>"), "[ac||]");
  EXPECT_EQ(in_object("<Key> a  b </Key>"), "[ a  b ||]") << "blanks are part of a key";
  EXPECT_EQ(in_object("<Key> </Key>"), "[ ||]");
  EXPECT_EQ(in_object("<Key>%61</Key>"), "[%61||]") << "nothing is percent-encoded here";
  EXPECT_EQ(in_object("<Key>\xC3\xBC/../\xF0\x9F\x94\x92</Key>"),
            "[\xC3\xBC/../\xF0\x9F\x94\x92||]");
  EXPECT_EQ(in_object("<Key>k</Key><VersionId> v&amp;1 </VersionId><ETag>&quot;e&quot;</ETag>"),
            "[k| v&1 |\"e\"]");
  EXPECT_EQ(read("<Delete><Object><Key>k</Key><VersionId>1</VersionId></Object>"
                 "<Object><Key>k</Key><VersionId>2</VersionId></Object></Delete>"),
            "[k|1|][k|2|]");
}

TEST(DeleteDocument, KeysThatCannotBe) {
  for (const std::string_view inner :
       {"",
        "<Key/>",
        "<Key></Key>",
        "<Key>a\nb</Key>",
        "<Key>a&#10;b</Key>",
        "<Key>a&#13;</Key>",
        "<Key>a\tb</Key>",
        "<Key>a\x7F</Key>",
        "<Key>a</Key><Key>b</Key>",
        "<Key>a</Key><Key>a</Key>",
        "<VersionId>v</VersionId>",
        "<key>a</key>",
        "<Key>a<b/></Key>",
        "<Key>a</Key>b",
        "a<Key>a</Key>",
        "<Key>a</Key><Size>3</Size>",
        "<Key>a</Key><LastModifiedTime>x</LastModifiedTime>",
        "<Key>a</Key><Unknown/>",
        "<Key>a</Key><VersionId/>",
        "<Key>a</Key><ETag></ETag>",
        "<Key>a</Key><VersionId>1</VersionId><VersionId>1</VersionId>",
        "<Key>a</Key><ETag>1</ETag><ETag>1</ETag>",
        "<Key>a</Key><VersionId>&#10;</VersionId>",
        "<Key>a</Key><Object/>",
        "<Key>&unknown;</Key>",
        "<Key>a</key>"}) {
    EXPECT_EQ(in_object(inner), "!") << inner;
  }
  EXPECT_EQ(in_object(fmt::format("<Key>{}</Key>", std::string(1024, 'k'))).size(), 1028U);
  EXPECT_EQ(in_object(fmt::format("<Key>{}</Key>", std::string(1025, 'k'))), "!");
}

TEST(DeleteDocument, DocumentsThatAreNone) {
  constexpr std::string_view kObject = "<Object><Key>k</Key></Object>";
  for (const std::string_view xml :
       {"", "<Delete/>", "<Delete></Delete>", "<Delete><Quiet>true</Quiet></Delete>", "k"}) {
    EXPECT_EQ(read(xml), "!") << xml;
  }
  for (const std::string_view frame :
       {"<delete>{}</delete>", "<Other>{}</Other>", "<Delete xmlns='u'>{}</Delete>",
        "<Delete xmlns='u' xmlns:s='http://s3.amazonaws.com/doc/2006-03-01/'>{}</Delete>",
        "<Delete>{}<Object xmlns='u'><Key>k</Key></Object></Delete>",
        "<Delete>{}<Quiet>true</Quiet><Quiet>true</Quiet></Delete>",
        "<Delete>{}<Quiet>yes</Quiet></Delete>", "<Delete>{}<Quiet/></Delete>",
        "<Delete>{}<Quiet><b/></Quiet></Delete>", "<Delete>{}<Unknown/></Delete>",
        "<Delete>{}<Delete/></Delete>", "<Delete>{}text</Delete>", "<Delete>{}</Delete>x",
        "<Delete>{}</Delete><Delete/>", "<Delete>{}", "<!DOCTYPE Delete><Delete>{}</Delete>",
        "<!DOCTYPE Delete [<!ENTITY k 'x'>]><Delete>{}</Delete>", "<Delete>{}<?php ?></Delete>"}) {
    EXPECT_EQ(read(fmt::format(fmt::runtime(frame), kObject)), "!") << frame;
  }
  EXPECT_EQ(read(fmt::format("<Delete xmlns='{}'>{}<Object xmlns=''><Key>k</Key></Object></Delete>",
                             kSpace, kObject)),
            "!")
      << "not the namespace of the root";
  EXPECT_EQ(read(fmt::format("<Delete a='b'>{}</Delete>", kObject)), "[k||]");
}

TEST(DeleteDocument, AThousandAndNoMore) {
  std::string objects;
  for (std::size_t i = 0; i < kMaxDeletions; ++i) {
    objects += fmt::format("<Object><Key>{}</Key></Object>", i);
  }
  const auto document = parse_delete_document("<Delete>" + objects + "</Delete>");
  ASSERT_TRUE(document);
  ASSERT_EQ(document->deletions.size(), kMaxDeletions);
  EXPECT_EQ(document->deletions.back().key, "999");
  EXPECT_EQ(read("<Delete>" + objects + "<Object><Key>x</Key></Object></Delete>"), "!");
  const std::string frame = "<Delete><Object><Key>k</Key></Object></Delete>";
  EXPECT_EQ(read(frame + std::string(kMaxDeleteDocumentBytes - frame.size(), ' ')), "[k||]");
  EXPECT_EQ(read(frame + std::string(kMaxDeleteDocumentBytes - frame.size() + 1, ' ')), "!");
}

TEST(DeleteDocument, OurOwnForm) {
  DeleteDocument document;
  document.deletions.push_back({.key = "a<&>\"'b", .version = {}, .etag = {}});
  document.deletions.push_back({.key = " c ", .version = "v", .etag = "\"e\""});
  document.quiet = true;
  EXPECT_EQ(write_delete_document(document),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Object><Key>a&lt;&amp;&gt;\"'b</Key></Object>"
            "<Object><Key> c </Key><VersionId>v</VersionId><ETag>\"e\"</ETag></Object>"
            "<Quiet>true</Quiet></Delete>");
}

}  // namespace
}  // namespace fenceline::testing
