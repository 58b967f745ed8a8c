// Deletions by tombstone in front of radosgw, which keeps to conditions on PUT and not on DELETE.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/s3/tombstone.h"
#include "tests/backends/s3/s3_driver.h"
#include "tests/s3_servers/radosgw.h"
#include "tests/support/delaying_relay.h"
#include "tests/support/s3_server.h"

namespace fenceline::testing {
namespace {

using backends::Bearing;
using backends::Guarantee;
using backends::Revocation;

backends::s3::S3Options with_tombstones(const std::string& bucket) {
  auto options = probed_options(bucket);
  options.deletes = backends::s3::Deletes::kTombstone;
  return options;
}

class RadosgwTombstone : public ::testing::Test {
 protected:
  [[nodiscard]] Response direct(const std::string& method, const std::string& key) const {
    return radosgw().call(method, "/" + bucket + "/" + key);
  }

  bool is_hidden(const std::string& key) {
    const Answer read = driver.get(key);
    return read.error && read.error->code == "NoSuchKey";
  }

  static S3Call put_of(const std::string& content, std::int64_t token) {
    return {.operation = "PutObject", .key = "a", .content = content, .token = token};
  }

  static S3Call deletion_of(const std::vector<std::string>& keys) {
    S3Call call{.operation = "DeleteObjects", .query = "delete", .document = "<Delete>"};
    for (const std::string& key : keys) {
      call.document += "<Object><Key>" + key + "</Key></Object>";
    }
    call.document += "</Delete>";
    return call;
  }

  const std::string bucket = next_bucket();
  S3Driver driver{with_tombstones(bucket)};
};

TEST_F(RadosgwTombstone, MakesDeletionsStrict) {
  const auto deletion = driver.guarantee_of("DeleteObject");
  EXPECT_EQ(deletion.guarantee, Guarantee::kStrict) << deletion.how;
  EXPECT_NE(deletion.how.find("tombstone"), std::string::npos) << deletion.how;
  const auto many = driver.guarantee_of("DeleteObjects");
  EXPECT_EQ(many.guarantee, Guarantee::kStrict) << many.how;
  EXPECT_NE(many.how.find("tombstone"), std::string::npos) << many.how;
}

TEST_F(RadosgwTombstone, IsAbsentToEverybody) {
  ASSERT_EQ(driver.put("a", "one", {{"x-amz-meta-color", "red"}}).status, 200);
  const Answer deleted = driver.remove("a");
  EXPECT_EQ(deleted.status, 204) << deleted.error_name();
  EXPECT_EQ(direct("HEAD", "a").field("x-amz-meta-fencing-tombstone"), "1");
  EXPECT_EQ(direct("HEAD", "a").field("x-amz-meta-color"), "");
  EXPECT_EQ(direct("GET", "a").body.size(), backends::s3::new_tombstone().size());
  EXPECT_EQ(radosgw().keys(bucket), std::vector<std::string>{"a"}) << "lists show it";

  for (const Answer& read :
       {driver.get("a"), driver.head("a"), driver.get("a", {{"Range", "bytes=0-3"}}),
        driver.get("a", {{"Range", "bytes=1000-"}}), driver.get("a", {{"If-Match", "\"x\""}}),
        driver.get("a", {{"If-None-Match", "*"}}),
        driver.read({.operation = "GetObjectTagging", .key = "a", .query = "tagging"}),
        driver.write({.operation = "PutObjectTagging",
        .key = "a",
        .query = "tagging",
        .content = "<Tagging><TagSet/></Tagging>"}),
        driver.write({.operation = "CopyObject",
        .key = "copy",
        .fields = {{"x-amz-copy-source", "media/a"}}}),
        driver.put("a", "x", {{"If-Match", "*"}}), driver.remove("a", {{"If-Match", "*"}})}) {
    ASSERT_TRUE(read.error) << read.status << read.content;
    EXPECT_EQ(read.error->code, "NoSuchKey");
  }
  const std::string grave = direct("HEAD", "a").field("ETag");
  EXPECT_EQ(driver.remove("a").status, 204);
  EXPECT_EQ(direct("HEAD", "a").field("ETag"), grave) << "nothing was sent";
  EXPECT_EQ(driver.put("a", "again", {{"If-None-Match", "*"}}).status, 200);
  EXPECT_EQ(driver.get("a").content, "again");
  EXPECT_EQ(driver.get("copy").status, 404);
  EXPECT_EQ(driver.remove("a").status, 204);
  EXPECT_NE(direct("HEAD", "a").field("ETag"), grave) << "no two are alike";
}

TEST_F(RadosgwTombstone, NobodyMakesOneByANameThatTheServerReadsAsOurs) {
  for (const std::string name : {"x-amz-meta-fencing-tombstone", "x-amz-meta-fencing_tombstone",
                                 "X-Amz-Meta-Fencing_Tombstone"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(driver.put("a", "content", {{name, "1"}}).status, 200);
    EXPECT_EQ(driver.get("a").content, "content");
    EXPECT_EQ(direct("HEAD", "a").field("x-amz-meta-fencing-tombstone"), "");
  }
  ASSERT_EQ(driver.put("a", "content", {{"x-amz-meta-my_key", "kept"}}).status, 200);
  EXPECT_EQ(direct("HEAD", "a").field("x-amz-meta-my-key"), "kept") << "radosgw takes _ for -";
}

TEST_F(RadosgwTombstone, ManyAtOnceAreOneForEach) {
  const std::vector<std::string> keys = {"a", "b <&> c", "d//e", "f\xC3\xA9+%"};
  for (const std::string& key : keys) {
    ASSERT_EQ(driver.put(key, "one").status, 200) << key;
  }
  const S3Call call = deletion_of({"a", "b &lt;&amp;&gt; c", "absent", "d//e", "f\xC3\xA9+%", "a"});
  S3Staged many = driver.stage(call);
  ASSERT_TRUE(many.staged()) << many.error().detail;
  ASSERT_EQ(many.parts().size(), 5U);
  EXPECT_NE(many.parts()[0].write->intent()->data, many.parts()[1].write->intent()->data);
  EXPECT_FALSE(many.parts()[2].write->intent()) << "it is absent";
  for (const Answer& each : many.commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  for (const std::string& key : keys) {
    EXPECT_TRUE(is_hidden(key)) << key;
  }
  EXPECT_EQ(radosgw().keys(bucket).size(), keys.size());
  const std::string grave = direct("HEAD", "a").field("ETag");
  for (const Answer& each : driver.stage(call).commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  EXPECT_EQ(direct("HEAD", "a").field("ETag"), grave) << "nothing was sent";
}

TEST_F(RadosgwTombstone, AZombieAmongManyDeletesNothingThatChanged) {
  ASSERT_EQ(driver.put("a", "one").status, 200);
  ASSERT_EQ(driver.put("b", "one").status, 200);
  S3Staged zombie = driver.stage(deletion_of({"a", "b"}));
  ASSERT_EQ(driver.write(put_of("new", 2)).status, 200);
  const auto told = zombie.commit_parts();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].error_name(), "overloaded") << "another state than that on record";
  EXPECT_EQ(told[1].status, 204);
  EXPECT_EQ(driver.get("a").content, "new");
}

TEST_F(RadosgwTombstone, ManyAtOnceKeepToTheirETags) {
  ASSERT_EQ(driver.put("a", "one").status, 200);
  ASSERT_EQ(driver.put("b", "one").status, 200);
  S3Call call = deletion_of({});
  call.document = "<Delete><Object><Key>a</Key><ETag>" + direct("HEAD", "a").field("ETag") +
                  "</ETag></Object><Object><Key>b</Key><ETag>other</ETag></Object></Delete>";
  const auto told = driver.stage(call).commit_parts();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].status, 204) << told[0].error_name();
  EXPECT_EQ(told[1].error->code, "PreconditionFailed");
  EXPECT_TRUE(is_hidden("a"));
  EXPECT_EQ(driver.get("b").content, "one");
}

TEST_F(RadosgwTombstone, ManyBearOnOlderWritesAsTheOneOfThatObject) {
  const auto waits_for = [this](const std::string& key) {
    EXPECT_EQ(driver.put(key, "one").status, 200);
    return driver.stage({.operation = "DeleteObject", .key = key}).intent()->data;
  };
  const std::string of_a = waits_for("a");
  const std::string of_b = waits_for("b");
  const std::string of_c = waits_for("c");
  S3Call call = deletion_of({"a"});
  call.document =
      "<Delete><Object><Key>a</Key></Object>"
      "<Object><Key>b</Key><VersionId>null</VersionId></Object></Delete>";
  S3Staged many = driver.stage(call);
  EXPECT_EQ(many.bearing_on(of_a), Bearing::kReplaces);
  EXPECT_EQ(many.bearing_on(of_b), Bearing::kRevives) << "another version may come up";
  EXPECT_EQ(many.bearing_on(of_c), Bearing::kNone);
  for (const Answer& each : many.commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  EXPECT_EQ(radosgw().keys(bucket), (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(is_hidden("a"));
}

TEST_F(RadosgwTombstone, AZombieDeletesNothing) {
  ASSERT_EQ(driver.put("a", "one").status, 200);
  S3Staged zombie = driver.stage({.operation = "DeleteObject", .key = "a", .token = 1});
  ASSERT_EQ(driver.write(put_of("new", 2)).status, 200);
  EXPECT_EQ(zombie.commit().error_name(), "overloaded") << "another state than that on record";
  EXPECT_EQ(driver.get("a").content, "new");
}

// This server keeps to no condition on the source of a copy, so it is looked at before and after.
TEST_F(RadosgwTombstone, ACopyOfWhatIsDeletedMeanwhileIsNoSuccess) {
  ASSERT_EQ(driver.put("a", "one").status, 200);
  const S3Call copy{
      .operation = "CopyObject", .key = "b", .fields = {{"x-amz-copy-source", "media/a"}}};
  S3Staged staged = driver.stage(copy);
  ASSERT_EQ(driver.remove("a").status, 204);
  EXPECT_EQ(staged.commit().error->code, "NoSuchKey");
  EXPECT_EQ(driver.get("b").status, 404);
  ASSERT_EQ(driver.write(put_of("two", 1)).status, 200);
  EXPECT_EQ(driver.write(copy).status, 200);
  EXPECT_EQ(driver.get("b").content, "two");
}

// How an operator sweeps: by name of the one version that an unversioned bucket has.
TEST_F(RadosgwTombstone, IsRemovedAsAVersion) {
  driver.put("a", "one");
  ASSERT_EQ(driver.remove("a").status, 204);
  const S3Call sweep{.operation = "DeleteObject", .key = "a", .query = "versionId=null"};
  EXPECT_EQ(driver.write(sweep).status, 204);
  EXPECT_TRUE(radosgw().keys(bucket).empty());
}

/// Requests of an old holder that reach the server long after fenceline has given them up.
class RadosgwTombstoneLate : public RadosgwTombstone {
 protected:
  RadosgwTombstoneLate() {
    auto slow = with_tombstones(bucket);
    slow.http.client.port = relay.port();
    slow.http.client.first_byte = base::Milliseconds(1'000);
    old = std::make_unique<S3Driver>(slow);
    slow.http.client.first_byte = base::Milliseconds(10'000);
    newer = std::make_unique<S3Driver>(slow);
  }

  /// Parks the PUT that it is, and gives what is on record of it.
  std::string lose(S3Call call) {
    call.request_id = "zombie-1";
    relay.park(request);
    S3Staged staged = old->stage(std::move(call));
    const std::string on_record = staged.intent()->data;
    const Answer lost = staged.commit();
    EXPECT_TRUE(lost.error) << lost.status;
    EXPECT_EQ(lost.error_name(), "upstream-timeout");
    EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kUnknown) << "its state is there";
    return on_record;
  }

  std::string delivered() {
    const auto answers = relay.deliver(request);
    return answers.size() == 1 ? answers[0] : std::to_string(answers.size()) + " answers";
  }

  static S3Call deletion(std::int64_t token) {
    return {.operation = "DeleteObject", .key = "a", .token = token};
  }

  const std::string request = "PUT /" + bucket + "/a ";
  DelayingRelay relay{radosgw().port()};
  std::unique_ptr<S3Driver> old;
  std::unique_ptr<S3Driver> newer;
};

TEST_F(RadosgwTombstoneLate, ADeletionFindsTheNewerObject) {
  ASSERT_EQ(driver.put("a", "first").status, 200);
  const std::string on_record = lose(deletion(1));
  S3Staged takeover = newer->stage(put_of("new", 2));
  EXPECT_EQ(takeover.bearing_on(on_record), Bearing::kReplaces);
  ASSERT_EQ(takeover.commit().status, 200);
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kDormant);
  const std::string answer = delivered();
  EXPECT_NE(answer.find(" 412 "), std::string::npos) << answer;
  EXPECT_EQ(driver.get("a").content, "new");
}

TEST_F(RadosgwTombstoneLate, ADeletionFindsThatOfANewerOne) {
  ASSERT_EQ(driver.put("a", "first").status, 200);
  const std::string on_record = lose(deletion(1));
  S3Staged takeover = newer->stage(deletion(2));
  EXPECT_EQ(takeover.bearing_on(on_record), Bearing::kReplaces);
  ASSERT_EQ(takeover.commit().status, 204);
  ASSERT_EQ(newer->write(put_of("new", 2)).status, 200);
  const std::string answer = delivered();
  EXPECT_NE(answer.find(" 412 "), std::string::npos) << answer;
  EXPECT_EQ(driver.get("a").content, "new");
}

TEST_F(RadosgwTombstoneLate, OneOfManyFindsThatOfANewerOne) {
  for (const char* const key : {"a", "b"}) {
    ASSERT_EQ(driver.put(key, "first").status, 200);
  }
  S3Call call = deletion_of({"a", "b"});
  call.request_id = "zombie-1";
  relay.park(request);
  S3Staged zombie = old->stage(call);
  const std::string on_record = zombie.parts()[0].write->intent()->data;
  const auto lost = zombie.commit_parts();
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_EQ(lost[0].error_name(), "upstream-timeout");
  EXPECT_EQ(lost[1].status, 204) << "the others go on";
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kUnknown) << "its state is there";
  call = deletion_of({"b", "a"});
  call.token = 2;
  S3Staged takeover = newer->stage(call);
  EXPECT_EQ(takeover.bearing_on(on_record), Bearing::kReplaces) << "one of them does";
  for (const Answer& each : takeover.commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kDormant);
  ASSERT_EQ(newer->write(put_of("new", 2)).status, 200);
  const std::string answer = delivered();
  EXPECT_NE(answer.find(" 412 "), std::string::npos) << answer;
  EXPECT_EQ(driver.get("a").content, "new");
}

// Model d3, PHYSDEL: where a deletion leaves nothing, the creation finds the absence it waits for.
TEST_F(RadosgwTombstoneLate, ACreationDoesNotFindAnAbsenceAgain) {
  const std::string on_record = lose(put_of("zombie", 1));
  ASSERT_EQ(newer->write(put_of("new", 2)).status, 200);
  S3Staged removal = newer->stage(deletion(2));
  EXPECT_EQ(removal.bearing_on(on_record), Bearing::kReplaces);
  ASSERT_EQ(removal.commit().status, 204);
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kDormant);
  const std::string answer = delivered();
  EXPECT_NE(answer.find(" 412 "), std::string::npos) << answer;
  EXPECT_TRUE(is_hidden("a")) << "it stays deleted";
}

// Over a tombstone an object is made under the tag of that one, which never comes back.
TEST_F(RadosgwTombstoneLate, ACreationOverATombstoneFindsAnother) {
  driver.put("a", "first");
  ASSERT_EQ(driver.remove("a").status, 204);
  const std::string on_record = lose(put_of("zombie", 1));
  ASSERT_EQ(newer->write(put_of("new", 2)).status, 200);
  ASSERT_EQ(newer->write(deletion(2)).status, 204);
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kDormant);
  const std::string answer = delivered();
  EXPECT_NE(answer.find(" 412 "), std::string::npos) << answer;
  EXPECT_TRUE(is_hidden("a"));
}

}  // namespace
}  // namespace fenceline::testing
