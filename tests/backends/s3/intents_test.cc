#include "backends/s3/intents.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/http/upstream_target.h"
#include "backends/s3/digests.h"
#include "backends/s3/revoke.h"
#include "tests/backends/s3/s3_driver.h"

namespace fenceline::testing {
namespace {

using backends::Bearing;
using backends::WriteIntent;
using backends::http::decode_intent;
using backends::http::IntentTarget;
using backends::s3::Addressing;
using backends::s3::ObjectState;
using backends::s3::S3Options;
using backends::s3::S3Standing;

constexpr const char* kOrigin = "http://127.0.0.1:9000";

S3Options options_with(Addressing addressing) {
  S3Options options = s3_options_for(9000);
  options.addressing = addressing;
  return options;
}

ObjectState state(std::string etag) { return {.exists = true, .etag = std::move(etag)}; }

S3Call put_of(const std::string& key, const std::string& content, Fields fields = {}) {
  return {.operation = "PutObject", .key = key, .fields = std::move(fields), .content = content};
}

WriteIntent intent_for(const std::string& key, const ObjectState& seen,
                       Addressing addressing = Addressing::kPath) {
  const S3InFlight request(put_of(key, "x"));
  return backends::s3::state_intent(options_with(addressing), kOrigin, request.resource(nullptr),
                                    seen);
}

TEST(S3Intents, NameTheObjectOneWayWhateverTheAddressing) {
  for (const Addressing addressing : {Addressing::kPath, Addressing::kVirtualHost}) {
    const WriteIntent intent = intent_for("a b/c", state("\"tag\""), addressing);
    EXPECT_EQ(intent.data, "if-match http://127.0.0.1:9000 /store/a%20b/c \"tag\"");
    EXPECT_FALSE(intent.shared) << "it is about one state";
    const auto decoded = decode_intent(intent.data);
    ASSERT_TRUE(decoded);
    const auto place = backends::s3::place_of_target(options_with(addressing), decoded->target);
    const bool by_path = addressing == Addressing::kPath;
    EXPECT_EQ(place.target({}), by_path ? "/store/a%20b/c" : "/a%20b/c");
    EXPECT_EQ(place.host, by_path ? "127.0.0.1:9000" : "store.127.0.0.1:9000");
  }
}

TEST(S3Intents, ACreationNeedsNoTag) {
  EXPECT_EQ(intent_for("a", {}).data, "create http://127.0.0.1:9000 /store/a");
}

TEST(S3Intents, WhatDoesNotFitIsLeftToTheSettleRule) {
  for (const WriteIntent& intent :
       {intent_for(std::string(1024, ';'), state("\"tag\"")),
        intent_for("a", state("\"" + std::string(300, 'x') + "\"")), intent_for("a", state("")),
        intent_for("a", state("W/\"weak\""))}) {
    EXPECT_EQ(intent.data, "");
    EXPECT_TRUE(intent.shared);
  }
}

TEST(S3Intents, UploadsCarryTheirId) {
  const S3InFlight request({.operation = "CompleteMultipartUpload",
                            .key = "a b",
                            .query = "uploadId=2~x%2Fy&x-id=CompleteMultipartUpload",
                            .content = "x"});
  const WriteIntent intent = backends::s3::upload_intent(options_with(Addressing::kPath), kOrigin,
                                                         request.resource(nullptr));
  EXPECT_FALSE(intent.shared);
  const auto upload = backends::s3::decode_upload(intent.data);
  ASSERT_TRUE(upload) << intent.data;
  EXPECT_EQ(upload->origin, kOrigin);
  EXPECT_EQ(upload->target, "/store/a%20b");
  EXPECT_EQ(upload->query, "uploadId=2~x%2Fy");
  EXPECT_FALSE(decode_intent(intent.data)) << "it is none of those of HTTP";
  for (const char* const other : {"", "upload", "upload x", "upload x y z", "create x /y"}) {
    EXPECT_FALSE(backends::s3::decode_upload(other)) << other;
  }
}

/// How a write bears on an older one that waits for the tag of "old" on the object `a`.
class S3Bearing : public ::testing::Test {
 protected:
  S3Bearing() {
    standing.conditional_put = standing.put_proven = true;
    standing.conditional_delete = true;
    standing.tags_are_md5 = true;
    upstream.options = options_with(Addressing::kPath);
    upstream.http = std::make_shared<backends::http::Upstream>();
    upstream.http->origin = kOrigin;
  }

  Bearing bearing_of(S3Call call, bool exists_now = true, const std::string& older = {}) {
    const S3InFlight request(std::move(call));
    const auto resource = request.resource(nullptr);
    const auto plan = backends::s3::plan_of(standing, resource);
    return backends::s3::bearing_on(
        upstream, resource, plan, seen_as(exists_now),
        holds ? std::optional<std::string_view>(request.call().content) : std::nullopt,
        older.empty() ? intent_for("a", state("\"" + backends::s3::md5_hex("old") + "\"")).data
                      : older);
  }

  [[nodiscard]] ObjectState seen_as(bool exists_now) const {
    ObjectState now = exists_now ? state("\"now\"") : ObjectState();
    now.tombstone = buried;
    return now;
  }

  S3Standing standing;
  backends::s3::S3Upstream upstream;
  bool buried = false;
  bool holds = true;
};

TEST_F(S3Bearing, ThePutOfOtherContentReplacesAndOfTheSameRevives) {
  EXPECT_EQ(bearing_of(put_of("a", "new")), Bearing::kReplaces);
  EXPECT_EQ(bearing_of(put_of("a", "old")), Bearing::kRevives);
  EXPECT_EQ(bearing_of(put_of("b", "old")), Bearing::kNone);
  EXPECT_EQ(bearing_of(put_of("a/b", "old")), Bearing::kNone) << "objects are not in each other";
}

TEST_F(S3Bearing, ATagThatNobodyCanTellMayBeTheOldOne) {
  EXPECT_EQ(bearing_of(put_of("a", "new", {{"x-amz-server-side-encryption", "aws:kms"}})),
            Bearing::kRevives);
  holds = false;
  EXPECT_EQ(bearing_of(put_of("a", "new")), Bearing::kRevives);
  holds = true;
  standing.tags_are_md5 = false;
  EXPECT_EQ(bearing_of(put_of("a", "new")), Bearing::kRevives);
}

TEST_F(S3Bearing, WhereTagsNeverReturnEveryWriteReplaces) {
  standing.tags_repeat = false;
  holds = false;
  EXPECT_EQ(bearing_of(put_of("a", "old")), Bearing::kReplaces);
}

TEST_F(S3Bearing, DeletionsReplaceAStateAndReviveAnAbsence) {
  const S3Call deletion{.operation = "DeleteObject", .key = "a"};
  const std::string creation = intent_for("a", {}).data;
  EXPECT_EQ(bearing_of(deletion), Bearing::kReplaces);
  EXPECT_EQ(bearing_of(deletion, true, creation), Bearing::kRevives);
  EXPECT_EQ(bearing_of(deletion, false), Bearing::kNone) << "nothing will be sent";
  EXPECT_EQ(bearing_of(put_of("a", "x"), false, creation), Bearing::kReplaces);
  S3Call version = deletion;
  version.query = "versionId=v";
  EXPECT_EQ(bearing_of(version), Bearing::kRevives) << "an older version becomes the current one";
}

TEST_F(S3Bearing, ATombstoneReplacesEveryState) {
  standing.conditional_delete = false;
  standing.tombstones = true;
  standing.tags_are_md5 = false;
  const S3Call deletion{.operation = "DeleteObject", .key = "a"};
  const std::string creation = intent_for("a", {}).data;
  EXPECT_EQ(bearing_of(deletion), Bearing::kReplaces) << "its tag is none that has been";
  EXPECT_EQ(bearing_of(deletion, true, creation), Bearing::kReplaces) << "absence does not return";
  S3Call version = deletion;
  version.query = "versionId=null";
  EXPECT_EQ(bearing_of(version, true, creation), Bearing::kRevives) << "this removes it for good";
  buried = true;
  EXPECT_EQ(bearing_of(deletion), Bearing::kNone) << "nothing will be sent";
  EXPECT_EQ(bearing_of(version), Bearing::kRevives);
}

TEST_F(S3Bearing, ATombstoneThatIsDeletedUnderAConditionIsGone) {
  buried = true;
  const S3Call deletion{.operation = "DeleteObject", .key = "a"};
  EXPECT_EQ(bearing_of(deletion), Bearing::kReplaces);
  EXPECT_EQ(bearing_of(deletion, true, intent_for("a", {}).data), Bearing::kRevives);
}

TEST_F(S3Bearing, WritesWithoutAConditionMayDoAnythingToTheirObject) {
  standing.put_proven = false;
  EXPECT_EQ(bearing_of(put_of("a", "new")), Bearing::kRevives);
  EXPECT_EQ(bearing_of(put_of("b", "new")), Bearing::kNone);
  EXPECT_EQ(bearing_of({.operation = "DeleteObjects", .query = "delete", .document = "<Delete/>"}),
            Bearing::kRevives)
      << "its objects are in its document";
  EXPECT_EQ(bearing_of({.operation = "PutObjectTagging", .key = "a", .query = "tagging"}),
            Bearing::kNone);
  EXPECT_EQ(bearing_of({.operation = "UploadPart", .key = "a", .query = "partNumber=1&uploadId=u"}),
            Bearing::kNone);
}

TEST_F(S3Bearing, OtherServersAndOtherKindsAreNoConcern) {
  for (const char* const older :
       {"if-match http://elsewhere:1 /store/a \"x\"", "upload http://127.0.0.1:9000 /store/a q",
        "change http://127.0.0.1:9000 /store/a", "nonsense"}) {
    EXPECT_EQ(bearing_of(put_of("a", "old"), true, older), Bearing::kNone) << older;
  }
}

TEST(S3Digests, AreThoseOfTheStandards) {
  EXPECT_EQ(backends::s3::md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(backends::s3::md5_hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(backends::s3::md5_base64("abc"), "kAFQmDzST7DWlj99KOF/cg==");
  EXPECT_EQ(backends::s3::hex_of(std::string("\x00\xff\x10", 3)), "00ff10");
}

}  // namespace
}  // namespace fenceline::testing
