#include "proxy/s3_delete_result.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fenceline::proxy {
namespace {

using backends::StagedPart;
using backends::s3::DeleteDocument;
using base::Applied;
using base::Error;
using base::ErrorKind;

base::Reply reply_of(int status, std::string body = {}) {
  base::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

class S3DeleteResultTest : public ::testing::Test {
 protected:
  void add(backends::s3::Deletion deletion, base::Result<base::Reply> outcome) {
    document.deletions.push_back(std::move(deletion));
    parts.push_back({.named = document.deletions.size() - 1, .outcome = std::move(outcome)});
  }

  /// What is in the root.
  std::string told() {
    const base::Reply reply = s3_delete_result(document, parts);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.fields.find("Content-Type").value_or(""), "application/xml");
    const std::string text = std::get<std::string>(reply.body);
    const std::string start =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    const std::string end = "</DeleteResult>\n";
    EXPECT_TRUE(text.starts_with(start)) << text;
    EXPECT_TRUE(text.ends_with(end)) << text;
    return text.substr(start.size(), text.size() - start.size() - end.size());
  }

  DeleteDocument document;
  std::vector<StagedPart> parts;
};

TEST_F(S3DeleteResultTest, IsInTheOrderOfTheDocument) {
  add({.key = "b", .version = {}, .etag = {}}, reply_of(204));
  add({.key = "a", .version = "v1", .etag = {}}, reply_of(204));
  EXPECT_EQ(told(),
            "<Deleted><Key>b</Key></Deleted>"
            "<Deleted><Key>a</Key><VersionId>v1</VersionId></Deleted>");
}

TEST_F(S3DeleteResultTest, AnObjectThatIsNamedAgainIsToldOnce) {
  add({.key = "a", .version = {}, .etag = {}}, reply_of(204));
  document.deletions.push_back(document.deletions.front());
  add({.key = "b", .version = {}, .etag = {}}, reply_of(204));
  EXPECT_EQ(told(), "<Deleted><Key>a</Key></Deleted><Deleted><Key>b</Key></Deleted>");
}

TEST_F(S3DeleteResultTest, ErrorsSayWhatIsKnown) {
  add({.key = "lost", .version = {}, .etag = {}},
      tl::unexpected<Error>(
          Error{ErrorKind::kUpstreamTimeout, "nobody knows", Applied::kUnknown, {}}));
  add({.key = "changed", .version = {}, .etag = {}},
      tl::unexpected<Error>(Error{.kind = ErrorKind::kPreconditionFailed,
                                  .detail = "another state",
                                  .code = "PreconditionFailed"}));
  add({.key = "denied", .version = "v", .etag = {}},
      reply_of(403, "<Error><Code>AccessDenied</Code></Error>"));
  add({.key = "odd", .version = {}, .etag = {}}, reply_of(418));
  EXPECT_EQ(told(),
            "<Error><Key>lost</Key><Code>InternalError</Code><Message>nobody knows</Message>"
            "<FencingApplied>unknown</FencingApplied></Error>"
            "<Error><Key>changed</Key><Code>PreconditionFailed</Code><Message>another state"
            "</Message><FencingApplied>no</FencingApplied></Error>"
            "<Error><Key>denied</Key><VersionId>v</VersionId><Code>AccessDenied</Code><Message>The "
            "S3 server behind the proxy refused the deletion with 403; nothing was changed."
            "</Message><FencingApplied>no</FencingApplied></Error>"
            "<Error><Key>odd</Key><Code>InvalidRequest</Code><Message>The S3 server behind the "
            "proxy refused the deletion with 418; nothing was changed.</Message>"
            "<FencingApplied>no</FencingApplied></Error>");
}

TEST_F(S3DeleteResultTest, QuietTellsOfErrorsOnly) {
  document.quiet = true;
  add({.key = "a", .version = {}, .etag = {}}, reply_of(204));
  EXPECT_EQ(told(), "");
  add({.key = "b", .version = {}, .etag = {}}, reply_of(404));
  EXPECT_TRUE(told().starts_with("<Error><Key>b</Key>")) << told();
}

TEST_F(S3DeleteResultTest, KeysAreEscaped) {
  add({.key = "a<b>&\"c'/\xC3\xA9 ]]>", .version = "<v>", .etag = {}}, reply_of(204));
  add({.key = "<k>", .version = {}, .etag = {}},
      tl::unexpected<Error>(
          Error{.kind = ErrorKind::kOverloaded, .detail = "\"<k>\" was changed"}));
  const std::string text = told();
  EXPECT_TRUE(
      text.starts_with("<Deleted><Key>a&lt;b&gt;&amp;&quot;c&apos;/\xC3\xA9 ]]&gt;</Key>"
                       "<VersionId>&lt;v&gt;</VersionId></Deleted>"
                       "<Error><Key>&lt;k&gt;</Key><Code>SlowDown</Code>"
                       "<Message>&quot;&lt;k&gt;&quot; was changed</Message>"))
      << text;
}

}  // namespace
}  // namespace fenceline::proxy
