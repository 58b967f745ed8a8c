#include "backends/s3/operation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/s3/query.h"
#include "tests/backends/s3/botocore_operations.h"

namespace fenceline::backends::s3 {
namespace {

using base::ErrorKind;
using Fields = std::vector<base::Field>;

base::Result<const Operation*> classify_text(std::string_view method, Level level,
                                             const std::string& query, const Fields& fields = {}) {
  base::RequestHead head;
  head.method_text = method;
  head.method = base::method_from(method);
  head.query = query;
  head.fields = fields;
  return classify(head, level);
}

/// The name of the row, or the code of the error.
std::string found(std::string_view method, Level level, const std::string& query,
                  const Fields& fields = {}) {
  const auto row = classify_text(method, level, query, fields);
  return std::string(row ? (*row)->name : row.error().code);
}

std::string object(std::string_view method, const std::string& query, const Fields& fields = {}) {
  return found(method, Level::kObject, query, fields);
}

std::string_view value_of(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kValues{
      {"list-type", "=2"},
      {"select-type", "=2"},
      {"partNumber", "=10000"},
      {"uploadId", "=2~x"},
      {"id", "=a"},
      {"versionId", "=v1"},
      {"max-directory-buckets", "=7"}};
  const auto value = kValues.find(name);
  return value == kValues.end() ? "" : value->second;
}

std::vector<std::string> query_of(const Operation& row) {
  std::vector<std::string> pieces;
  for (const std::string_view marker : row.markers) {
    pieces.push_back(fmt::format("{}{}", marker, value_of(marker)));
  }
  return pieces;
}

std::string join(const std::vector<std::string>& pieces) {
  return fmt::format("{}", fmt::join(pieces, "&"));
}

Fields fields_of(const Operation& row) {
  return row.field.empty() ? Fields() : Fields{{row.field, "b/k"}};
}

std::string describe(const Operation& row) {
  return fmt::format("{}: {} ?{}", row.name, row.method, join(query_of(row)));
}

bool gives(const Operation& row, const std::vector<std::string>& query) {
  const auto result = classify_text(row.method, row.level, join(query), fields_of(row));
  return result && *result == &row;
}

bool belongs_to(const Operation& row, std::string_view name) {
  return std::ranges::find(row.markers, name) != row.markers.end() ||
         std::ranges::find(row.parameters, name) != row.parameters.end();
}

TEST(OperationTable, IsSound) {
  std::set<std::string_view> names;
  for (const Operation& row : operations()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(std::ranges::is_sorted(row.markers));
    EXPECT_TRUE(std::ranges::is_sorted(row.parameters));
    EXPECT_EQ(row.keys == Keys::kNone,
              row.level != Level::kObject && row.effect != Effect::kCommit);
    EXPECT_EQ(row.effect == Effect::kBucket, row.level == Level::kBucket && row.method != "GET" &&
                                                 row.method != "HEAD" && row.keys != Keys::kInBody);
    const bool get = row.method == "GET" || row.method == "HEAD";
    EXPECT_TRUE(!get || row.effect == Effect::kRead);
    EXPECT_TRUE(get || row.effect != Effect::kRead || !row.refused.empty())
        << "a read by another method would need a body on the way of reads";
    for (const std::string_view name : row.markers) {
      EXPECT_EQ(use_of(name), QueryUse::kOperation) << name;
    }
  }
}

TEST(OperationTable, EveryRowIsFoundByItsRequest) {
  for (const Operation& row : operations()) {
    SCOPED_TRACE(describe(row));
    std::vector<std::string> query = query_of(row);
    EXPECT_TRUE(gives(row, query));
    for (const std::string_view parameter : row.parameters) {
      query.push_back(fmt::format(
          "{}={}", parameter, value_of(parameter).empty() ? "x" : value_of(parameter).substr(1)));
      EXPECT_TRUE(gives(row, query)) << parameter;
    }
    std::ranges::reverse(query);
    EXPECT_TRUE(gives(row, query)) << "the order does not matter";
    for (const std::string_view neutral :
         {"x-id=PutObject", "x-id=GetObject&X-Amz-Algorithm=AWS4-HMAC-SHA256",
          "X-Amz-Credential=a%2F20130524%2Fus-east-1%2Fs3%2Faws4_request", "X-Amz-Date=x",
          "X-Amz-Expires=9", "X-Amz-SignedHeaders=host;range", "X-Amz-Signature=ab",
          "X-Amz-Security-Token=fence-7", "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD",
          "x-amz-checksum-crc32=AAAAAA%3D%3D", "X-Amz-Checksum-Mode=ENABLED",
          "x-amz-sdk-checksum-algorithm=CRC32", "x-amz-acl=private", "x-amz-meta-colour=red"}) {
      std::vector<std::string> with = query;
      with.emplace_back(neutral);
      EXPECT_TRUE(gives(row, with)) << neutral;
    }
  }
}

TEST(OperationTable, NoMutantOfARequestIsTaken) {
  std::set<std::string_view> all_markers;
  for (const Operation& row : operations()) {
    all_markers.insert(row.markers.begin(), row.markers.end());
  }
  std::size_t mutants = 0;
  const auto refused = [&mutants](const Operation& row, const std::vector<std::string>& query) {
    ++mutants;
    const auto result = classify_text(row.method, row.level, join(query), fields_of(row));
    EXPECT_FALSE(result) << join(query) << " is " << (*result)->name;
    EXPECT_FALSE(result || result.error().code.empty() || result.error().detail.empty());
  };
  for (const Operation& row : operations()) {
    SCOPED_TRACE(describe(row));
    const std::vector<std::string> query = query_of(row);
    std::vector<std::string> more = query;
    for (const std::string extra : {"bogus",
                                    "bogus=1",
                                    "ACL",
                                    "Tagging=",
                                    "X-AMZ-DATE=1",
                                    "x-amz-signature=1",
                                    "X-Id=1",
                                    "x-amz-copy-source=b%2Fk",
                                    "x-amz-write-offset-bytes=0",
                                    "X-Amz-Rename-Source=b%2Fk",
                                    "x-amz-meta-fencing-token=9",
                                    "x-amz-meta-fencing_tombstone=1",
                                    "X-Amz-Meta-Fencing%5Ftoken=1",
                                    "x-amz-meta_fencing-tombstone=1",
                                    "x_amz_acl=public-read",
                                    "x-amz-meta-=1",
                                    "acl%00",
                                    "%61cl=1&%61cl=1",
                                    "=",
                                    "=1",
                                    "%zz",
                                    "prefix=a;acl",
                                    "append",
                                    "position=0",
                                    "multipart-manifest=put",
                                    "x-amz-bypass-governance-retention=true",
                                    "acl+",
                                    "partNumber",
                                    "uploadId="}) {
      more = query;
      more.push_back(extra);
      refused(row, more);
    }
    for (std::size_t i = 0; i < query.size(); ++i) {
      more = query;
      more.push_back(query[i]);
      refused(row, more);  // twice
      more = query;
      const auto letter =
          std::ranges::find_if(more[i], [](char c) { return std::isalpha(c) != 0; });
      *letter = static_cast<char>(std::isupper(*letter) != 0 ? std::tolower(*letter)
                                                             : std::toupper(*letter));
      refused(row, more);  // in another case
    }
    for (const std::string_view other : all_markers) {
      const bool to_more = std::ranges::any_of(operations(), [&row, other](const Operation& one) {
        return one.level == row.level && one.method == row.method && belongs_to(one, other) &&
               std::ranges::includes(one.markers, row.markers);
      });
      if (!belongs_to(row, other) && !to_more) {
        more = query;
        more.push_back(fmt::format("{}{}", other, value_of(other)));
        refused(row, more);  // a second sub-resource
      }
    }
  }
  EXPECT_GT(mutants, 4000U);
}

/// Other names of the model for what is the same request on the wire.
std::string_view present_name(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kOlder{
      {"GetBucketLifecycle", "GetBucketLifecycleConfiguration"},
      {"GetBucketNotification", "GetBucketNotificationConfiguration"},
      {"PutBucketLifecycle", "PutBucketLifecycleConfiguration"},
      {"PutBucketNotification", "PutBucketNotificationConfiguration"}};
  const auto found = kOlder.find(name);
  return found == kOlder.end() ? name : found->second;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

TEST(OperationTable, HasEveryOperationOfBotocore) {
  std::set<std::string_view> seen;
  for (const BotocoreOperation& model : kBotocoreOperations) {
    SCOPED_TRACE(model.name);
    const std::size_t mark = std::min(model.uri.find('?'), model.uri.size());
    const Level level = model.uri.find("{Key+}") < mark     ? Level::kObject
                        : model.uri.find("{Bucket}") < mark ? Level::kBucket
                                                            : Level::kService;
    std::vector<std::string> pieces;
    if (mark < model.uri.size()) {
      pieces.emplace_back(model.uri.substr(mark + 1));
    }
    for (const std::string& name : words(model.required)) {
      pieces.push_back(fmt::format("{}{}", name, value_of(name)));
    }
    Fields fields;
    const std::vector<std::string> names = words(model.fields);
    for (const std::string& name : names) {
      fields.push_back({name, "b/k"});
    }
    // What is only a parameter makes no other operation.
    for (const std::string& name : words(model.optional)) {
      pieces.push_back(fmt::format("{}{}", name, value_of(name).empty() ? "=1" : value_of(name)));
    }
    EXPECT_EQ(found(model.method, level, join(pieces), fields), present_name(model.name));
    seen.insert(present_name(model.name));
  }
  std::vector<std::string_view> ours;
  for (const Operation& row : operations()) {
    if (!seen.contains(row.name)) {
      ours.push_back(row.name);
    }
  }
  EXPECT_EQ(ours, (std::vector<std::string_view>{"PostObject", "PutObjectAppend"}));
  EXPECT_GE(kBotocoreOperations.size(), 111U);
}

TEST(Classify, WhatCouldUnfenceABucketIsRefused) {
  std::vector<std::string_view> taken;
  for (const Operation& row : operations()) {
    if (row.effect == Effect::kBucket && row.refused.empty()) {
      taken.push_back(row.name);
    }
  }
  EXPECT_EQ(taken, (std::vector<std::string_view>{"CreateBucket", "DeleteBucket"}));
}

TEST(Classify, RealClients) {
  EXPECT_EQ(found("GET", Level::kBucket, "list-type=2&prefix=&encoding-type=url"), "ListObjectsV2");
  EXPECT_EQ(found("GET", Level::kBucket, "delimiter=%2F&encoding-type=url&max-keys=1000&prefix="),
            "ListObjects");
  EXPECT_EQ(found("GET", Level::kBucket, "location"), "GetBucketLocation");
  EXPECT_EQ(found("POST", Level::kBucket, "delete="), "DeleteObjects");
  EXPECT_EQ(found("PUT", Level::kBucket, ""), "CreateBucket");
  EXPECT_EQ(object("POST", "uploads="), "CreateMultipartUpload");
  EXPECT_EQ(object("PUT", "partNumber=1&uploadId=u&x-id=UploadPart"), "UploadPart");
  EXPECT_EQ(object("GET", "x-id=PutObject"), "GetObject") << "a label decides nothing";
  EXPECT_EQ(object("PUT", "", {{"X-AMZ-COPY-SOURCE", "b/k"}}), "CopyObject");
  EXPECT_EQ(object("PUT", "uploadId=u&partNumber=2", {{"x-amz-copy-source", "b/k"}}),
            "UploadPartCopy");
  EXPECT_EQ(object("PUT", "", {{"x-amz-write-offset-bytes", "3"}}), "PutObjectAppend");
  EXPECT_EQ(object("DELETE", "uploadId=u"), "AbortMultipartUpload");
  EXPECT_EQ(object("DELETE", "versionId=null"), "DeleteObject");
  EXPECT_EQ(object("GET", "%61cl"), "GetObjectAcl") << "names are decoded once";
  EXPECT_EQ(object("GET", "%2561cl"), "NotImplemented");
  EXPECT_EQ(object("GET", "&acl&"), "GetObjectAcl");
}

/// Each of these replaced the object at some server (facts/s3.md, 0 and 1.2).
TEST(Classify, WhatWouldBeAnOverwriteElsewhere) {
  EXPECT_EQ(object("PUT", "bogus"), "NotImplemented");
  EXPECT_EQ(object("PUT", "ACL"), "NotImplemented");
  EXPECT_EQ(object("PUT", "partNumber=1"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "uploadId=u"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "partNumber=1&uploadId="), "InvalidArgument");
  EXPECT_EQ(object("PUT", "partNumber=&uploadId=u"), "InvalidArgument");
  for (const std::string number : {"0", "10001", "01x", "-1", "+1", "1e2", "999999", "99999"}) {
    EXPECT_EQ(object("PUT", "uploadId=u&partNumber=" + number), "InvalidArgument") << number;
  }
  EXPECT_EQ(object("PUT", "append&position=0"), "NotImplemented");
  EXPECT_EQ(object("PUT", "tagging&acl"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "tagging=x"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "versionId=v"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "torrent"), "InvalidArgument");
  EXPECT_EQ(object("DELETE", "acl"), "InvalidArgument");
  EXPECT_EQ(object("DELETE", "versionId="), "InvalidArgument");
  EXPECT_EQ(object("POST", ""), "NotImplemented");
  EXPECT_EQ(object("POST", "uploads&uploadId=u"), "InvalidArgument");
  EXPECT_EQ(found("GET", Level::kBucket, "list-type=3"), "InvalidArgument");
  EXPECT_EQ(found("DELETE", Level::kBucket, "bogus"), "NotImplemented");
  EXPECT_EQ(found("PUT", Level::kService, ""), "NotImplemented");
}

TEST(Classify, FieldsThatContradict) {
  const base::Field copy{"x-amz-copy-source", "b/k"};
  EXPECT_EQ(object("PUT", "", {copy, copy}), "InvalidArgument");
  EXPECT_EQ(object("PUT", "", {copy, {"x-amz-write-offset-bytes", "1"}}), "InvalidArgument");
  EXPECT_EQ(object("PUT", "acl", {copy}), "InvalidArgument");
  EXPECT_EQ(object("POST", "uploads", {copy}), "InvalidArgument");
  EXPECT_EQ(object("GET", "", {copy}), "InvalidArgument");
  EXPECT_EQ(object("DELETE", "", {{"X-Amz-Rename-Source", "b/k"}}), "InvalidArgument");
  EXPECT_EQ(object("PUT", "renameObject"), "InvalidArgument");
  EXPECT_EQ(object("PUT", "x-amz-acl=private", {{"X-Amz-Acl", "public-read"}}), "InvalidArgument");
  EXPECT_EQ(object("PUT", "x-amz-acl=a&X-Amz-Acl=b"), "InvalidArgument");
  for (const std::string_view name :
       {"X-HTTP-Method-Override", "X-Object-Manifest", "x-copy-from", "X-Delete-After"}) {
    EXPECT_EQ(object("PUT", "", {{name, "x"}}), "NotImplemented") << name;
  }
}

TEST(Classify, OtherMethods) {
  for (const std::string_view method :
       {"OPTIONS", "PATCH", "COPY", "MOVE", "LOCK", "put", "Get", "", "TRACE"}) {
    for (const Level level : {Level::kService, Level::kBucket, Level::kObject}) {
      EXPECT_EQ(found(method, level, ""), "NotImplemented") << method;
    }
  }
  EXPECT_EQ(object("HEAD", "acl"), "InvalidArgument");
}

TEST(Classify, SaysWhatIsWrong) {
  const auto detail = [](const std::string& query) {
    return classify_text("PUT", Level::kObject, query).error().detail;
  };
  EXPECT_NE(detail("bo%0Agus").find("\"bo%0Agus\""), std::string::npos);
  EXPECT_NE(detail("append&position=1").find("x-amz-write-offset-bytes"), std::string::npos);
  EXPECT_NE(detail("AWSAccessKeyId=a").find("version 4"), std::string::npos);
  EXPECT_LT(detail(std::string(9000, 'x')).size(), 300U);
  EXPECT_EQ(classify_text("PUT", Level::kObject, "bogus").error().kind, ErrorKind::kMethodUnknown);
  EXPECT_EQ(classify_text("PUT", Level::kObject, "acl&tagging").error().kind,
            ErrorKind::kMalformedRequest);
}

TEST(ReadQuery, DecodesOnceAndIsBounded) {
  const auto read = read_query("a=%2525+b&b&c=d=e&&");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0].value, "%25+b");
  EXPECT_EQ((*read)[1].value, "");
  EXPECT_EQ((*read)[2].value, "d=e");
  std::string many = "a0";
  for (int i = 1; i < 100; ++i) {
    many += fmt::format("&a{}", i);
  }
  EXPECT_TRUE(read_query(many));
  EXPECT_FALSE(read_query(many + "&a100"));
  for (const std::string_view bad : {"a=%", "a=%4", "a=%g0", "%=1", "a=1&a=2", "a;b", "a=1;b=2"}) {
    EXPECT_FALSE(read_query(bad)) << bad;
  }
}

}  // namespace
}  // namespace fenceline::backends::s3
