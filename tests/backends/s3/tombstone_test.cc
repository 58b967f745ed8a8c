// Deletions that are the PUT of a tombstone, and what is told of one.

#include "backends/s3/tombstone.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "backends/s3/query.h"
#include "backends/s3/request_head.h"
#include "backends/s3/s3_standing.h"
#include "tests/backends/s3/s3_hostile.h"

namespace fenceline::testing {
namespace {

using backends::Guarantee;
using backends::http::CommitMode;
using backends::s3::Deletes;
using backends::s3::S3Standing;
using backends::s3::S3Verdict;
using base::Applied;

const std::string kMark = "x-amz-meta-fencing-tombstone: 1\r\n";

/// The answer to HEAD of a tombstone.
std::string buried(const std::string& etag = "\"grave\"") {
  std::string head = seen(etag, "request-9");
  return head.insert(head.size() - 2, kMark);
}

/// In front of a server whose conditions on PUT are trusted.
std::unique_ptr<S3Hostile> grave(S3Hostile::Reaction to_head, S3Hostile::Reaction to_others) {
  return std::make_unique<S3Hostile>(std::move(to_head), std::move(to_others),
                                     CommitMode::kConditional, Deletes::kTombstone);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(S3Tombstone, ADeletionIsThePutOfOne) {
  const auto hostile = grave(always(seen("\"abc\"")), always(answer("200 OK", "ETag: \"t\"\r\n")));
  S3Call call{.operation = "DeleteObject",
              .key = "a b",
              .query = "x-id=DeleteObject",
              .fields = {{"x-amz-expected-bucket-owner", "111122223333"},
                         {"x-amz-content-sha256", std::string(64, '0')},
                         {"x-amz-meta-color", "red"}},
              .token = 7};
  const Answer deleted = hostile->driver().write(call);
  EXPECT_EQ(deleted.status, 204) << deleted.error_name();
  EXPECT_EQ(deleted.content, "");
  EXPECT_EQ(deleted.field("ETag"), "");
  EXPECT_EQ(hostile->driver().write(call).status, 204);
  const auto writes = hostile->writes();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].starts_with("PUT /store/a%20b HTTP/1.1\r\n")) << writes[0];
  for (const std::string line :
       {"If-Match: \"abc\"\r\n", "x-amz-meta-fencing-token: 7\r\n",
        "x-amz-meta-fencing-request: request-1\r\n",
        "x-amz-expected-bucket-owner: 111122223333\r\n", "Content-Length: 53\r\n"}) {
    EXPECT_TRUE(has(writes[0], line)) << line << writes[0];
  }
  EXPECT_TRUE(has(writes[0], kMark));
  EXPECT_FALSE(has(writes[0], "color"));
  EXPECT_NE(writes[0].substr(writes[0].size() - 53), writes[1].substr(writes[1].size() - 53))
      << "or its ETag would be that of another one";
}

TEST(S3Tombstone, IsSignedWithTheHashOfWhatIsSent) {
  const std::string content = backends::s3::new_tombstone();
  EXPECT_EQ(content.size(), 53U);
  EXPECT_NE(content, backends::s3::new_tombstone());
  S3Hostile hostile(
      always(seen("\"abc\"")), always(answer("200 OK")), CommitMode::kConditional,
      Deletes::kTombstone,
      base::aws::Credentials{.access_key = "a", .secret_key = "s", .session_token = {}});
  const std::string of_nothing = base::aws::sha256_hex("");
  EXPECT_EQ(hostile.driver().remove("a", {{"x-amz-content-sha256", of_nothing}}).status, 204);
  const std::string put = hostile.writes().at(0);
  const std::string sent = put.substr(put.size() - content.size());
  EXPECT_TRUE(has(put, "x-amz-content-sha256: " + base::aws::sha256_hex(sent))) << put;
}

TEST(S3Tombstone, WhatIsNotThereIsNotDeleted) {
  for (const std::string& state : {kAbsent, buried()}) {
    const auto hostile = grave(always(state), always(answer("200 OK")));
    S3Staged staged = hostile->driver().stage({.operation = "DeleteObject", .key = "a"});
    EXPECT_FALSE(staged.intent()) << "nothing will be sent";
    EXPECT_EQ(staged.commit().status, 204) << "as S3 answers";
    EXPECT_EQ(hostile->driver().remove("a", {{"If-Match", "*"}}).error->code, "NoSuchKey");
    EXPECT_TRUE(hostile->writes().empty());
  }
}

TEST(S3Tombstone, ALostAnswerIsFoundInItsStamp) {
  const auto hostile = grave(
      [](std::size_t times) { return times == 0 ? seen("\"abc\"") : seen("\"t\"", "request-1"); },
      always(std::nullopt));
  EXPECT_EQ(hostile->driver().remove("a").status, 204);
  EXPECT_EQ(hostile->writes().size(), 1U);
  const auto silent = grave(always(seen("\"abc\"")), always(std::nullopt));
  EXPECT_EQ(silent->driver().remove("a").error->applied, Applied::kUnknown);
}

TEST(S3Tombstone, ALostRaceLooksAgain) {
  const auto reaction = [](std::size_t times) {
    return times == 0 ? answer("412 Precondition Failed") : answer("200 OK");
  };
  const auto replaced =
      grave([](std::size_t times) { return seen(times == 0 ? "\"old\"" : "\"new\""); }, reaction);
  EXPECT_EQ(replaced->driver().remove("a").status, 204);
  EXPECT_TRUE(has(replaced->writes().at(1), "If-Match: \"new\""));
  const auto gone =
      grave([](std::size_t times) { return times == 0 ? seen("\"old\"") : buried(); }, reaction);
  EXPECT_EQ(gone->driver().remove("a").status, 204) << "somebody else has deleted it";
  EXPECT_EQ(gone->writes().size(), 1U);
}

TEST(S3Tombstone, IsAbsentForConditionsAndTheStateForTheWrite) {
  const auto hostile = grave(always(buried()), always(answer("200 OK", "ETag: \"n\"\r\n")));
  EXPECT_EQ(hostile->driver().put("a", "new", {{"If-None-Match", "*"}}).status, 200);
  EXPECT_TRUE(has(hostile->writes().at(0), "If-Match: \"grave\"\r\n")) << hostile->writes().at(0);
  EXPECT_FALSE(has(hostile->writes().at(0), "If-None-Match"));
  EXPECT_EQ(hostile->driver().put("a", "new", {{"If-Match", "\"grave\""}}).error->code,
            "NoSuchKey");
  EXPECT_EQ(hostile->writes().size(), 1U);
}

TEST(S3Tombstone, ReadsHideIt) {
  for (const Deletes deletes : {Deletes::kAuto, Deletes::kTombstone}) {
    const std::string content = backends::s3::new_tombstone();
    S3Hostile hostile(always(buried()), always(answer("200 OK", kMark, content)),
                      CommitMode::kConditional, deletes);
    for (const Answer& read : {hostile.driver().get("a"), hostile.driver().head("a"),
                               hostile.driver().get("a", {{"Range", "bytes=0-9"}})}) {
      ASSERT_TRUE(read.error) << read.status << " also where no new ones are made";
      EXPECT_EQ(read.error->kind, base::ErrorKind::kNotFound);
      EXPECT_EQ(read.error->code, "NoSuchKey");
    }
  }
}

TEST(S3Tombstone, IsLookedForBehindAnswersThatDoNotShowIt) {
  for (const std::string status : {"304 Not Modified", "400 Bad Request", "412 Precondition Failed",
                                   "416 Range Not Satisfiable"}) {
    const auto hidden = grave(always(buried()), always(answer(status)));
    ASSERT_TRUE(hidden->driver().get("a").error) << status;
    const auto shown = grave(always(seen("\"abc\"")), always(answer(status)));
    EXPECT_EQ(std::to_string(shown->driver().get("a").status), status.substr(0, 3));
    EXPECT_EQ(shown->heads(), 1U);
    S3Hostile plain(always(buried()), always(answer(status)));
    EXPECT_EQ(std::to_string(plain.driver().get("a").status), status.substr(0, 3));
    EXPECT_EQ(plain.heads(), 0U) << "where there are none nobody asks";
  }
}

TEST(S3Tombstone, HasNoTagsToReadOrWrite) {
  const auto hostile = grave(always(buried()), always(answer("200 OK")));
  const S3Call read{.operation = "GetObjectTagging", .key = "a", .query = "tagging"};
  EXPECT_EQ(hostile->driver().read(read).error->code, "NoSuchKey");
  const S3Call write{.operation = "PutObjectTagging", .key = "a", .query = "tagging"};
  EXPECT_EQ(hostile->driver().write(write).error->code, "NoSuchKey");
  EXPECT_TRUE(hostile->writes().empty());
  const auto shown = grave(always(seen("\"abc\"")), always(answer("200 OK")));
  EXPECT_EQ(shown->driver().read(read).status, 200);
  EXPECT_EQ(shown->driver().write(write).status, 200);
}

S3Call copy(const std::string& operation, Fields more = {}) {
  S3Call call{.operation = operation,
              .key = "b",
              .query = operation == "UploadPartCopy" ? "partNumber=1&uploadId=u" : "",
              .fields = {{"x-amz-copy-source", "media/a%3Fb?versionId=v"}}};
  call.fields.insert(call.fields.end(), more.begin(), more.end());
  return call;
}

TEST(S3Tombstone, IsNoSourceOfACopy) {
  for (const char* const operation : {"CopyObject", "UploadPartCopy"}) {
    const auto hostile = grave(always(buried()), always(answer("200 OK")));
    EXPECT_EQ(hostile->driver().write(copy(operation)).error->code, "NoSuchKey");
    EXPECT_TRUE(hostile->writes().empty());
    const auto shown = grave(always(seen("\"abc\"")), always(answer("200 OK")));
    EXPECT_EQ(shown->driver().write(copy(operation)).status, 200);
    EXPECT_TRUE(has(shown->writes().at(0), "x-amz-copy-source-if-match: \"abc\"\r\n"))
        << "it must not become one before it is read";
  }
}

TEST(S3Tombstone, ASourceThatChangedMeanwhileIsALostRace) {
  const auto hostile = grave(always(seen("\"abc\"")), always(answer("412 Precondition Failed")));
  EXPECT_EQ(hostile->driver().write(copy("CopyObject")).error_name(), "overloaded");
  for (const Fields& own :
       {Fields{{"x-amz-copy-source-if-match", "\"own\""}},
        Fields{{"x-amz-copy-source-if-unmodified-since", "Mon, 30 Nov 2026 00:00:00 GMT"}}}) {
    const Answer refused = hostile->driver().write(copy("CopyObject", own));
    EXPECT_EQ(refused.status, 412) << "the client's own condition";
    EXPECT_FALSE(has(hostile->writes().back(), "-if-match: \"abc\""));
  }
  EXPECT_EQ(hostile->driver().write(copy("CopyObject", {{"If-None-Match", "*"}})).status, 412);
}

// Some servers keep to no condition on the source.
TEST(S3Tombstone, OneThatWasCopiedIsToldOfAsNoSuccess) {
  const auto result = [](const std::string& etag) {
    return answer("200 OK", {},
                  "<CopyObjectResult><ETag>&quot;" + etag + "&quot;</ETag></CopyObjectResult>");
  };
  const auto becomes = [](std::size_t times) { return times == 0 ? seen("\"abc\"") : buried(); };
  for (const char* const operation : {"CopyObject", "UploadPartCopy"}) {
    const auto late = grave(becomes, always(result("grave")));
    const Answer told = late->driver().write(copy(operation));
    EXPECT_EQ(told.status, 500) << told.content;
    EXPECT_TRUE(has(told.content, "InternalError")) << told.content;
    const auto in_time = grave(becomes, always(result("abc")));
    EXPECT_EQ(in_time->driver().write(copy(operation)).status, 200) << "deleted after the copy";
  }
}

TEST(S3Tombstone, AVersionIsRemovedItself) {
  const auto hostile = grave(always(buried()), always(answer("204 No Content")));
  const S3Call sweep{.operation = "DeleteObject", .key = "a", .query = "versionId=null"};
  EXPECT_EQ(hostile->driver().write(sweep).status, 204);
  EXPECT_TRUE(hostile->writes().at(0).starts_with("DELETE /store/a?versionId=null "));
}

TEST(S3Tombstone, NoClientMakesOne) {
  const auto hostile = grave(always(kAbsent), always(answer("200 OK")));
  const Answer made = hostile->driver().write(
      {.operation = "PutObject",
       .key = "a",
       .fields = {{"X-Amz-Meta-Fencing-Tombstone", "1"}, {"x-amz-meta-color", "red"}},
       .content = "x"});
  EXPECT_EQ(made.status, 200) << made.error_name();
  for (const std::string& write : hostile->writes()) {
    EXPECT_FALSE(has(write, "ombstone")) << write;
    EXPECT_TRUE(has(write, "color"));
  }
  EXPECT_EQ(backends::s3::use_of("x-amz-meta-fencing-tombstone"),
            backends::s3::QueryUse::kOperation)
      << "in the query it is no field, and in no row of the table";
}

S3Verdict like_radosgw() {
  S3Verdict verdict;
  verdict.no_conditional_put = std::nullopt;
  return verdict;
}

backends::OperationGuarantee said(const S3Standing& standing, const std::string& operation) {
  for (const auto& one : standing.capabilities.operations) {
    if (one.operation == operation) {
      return one;
    }
  }
  return {};
}

TEST(S3Tombstone, MakesDeletionsStrictWherePutsAre) {
  auto options = s3_options_for(9);
  options.http.commit = CommitMode::kAuto;
  options.deletes = Deletes::kTombstone;
  const S3Standing by_time = standing_of(options, like_radosgw());
  EXPECT_TRUE(by_time.tombstones);
  EXPECT_EQ(said(by_time, "DeleteObject").guarantee, Guarantee::kBounded);
  options.http.settle_after = std::nullopt;
  const S3Standing by_hand = standing_of(options, like_radosgw());
  EXPECT_EQ(said(by_hand, "DeleteObject").guarantee, Guarantee::kStrict);
  EXPECT_TRUE(has(said(by_hand, "DeleteObject").how, "tombstone"));
  EXPECT_EQ(said(by_hand, "DeleteObjects").guarantee, Guarantee::kStrict);
  EXPECT_TRUE(has(said(by_hand, "DeleteObjects").how, "a DeleteObject of each"));
  EXPECT_EQ(said(by_hand, "DeleteObject of a version").guarantee, Guarantee::kBounded);
  EXPECT_EQ(by_hand.capabilities.guarantee, Guarantee::kBounded);
}

TEST(S3Tombstone, IsMadeOnlyWhereItHelpsAndHolds) {
  auto options = s3_options_for(9);
  options.http.commit = CommitMode::kAuto;
  options.http.settle_after = std::nullopt;
  EXPECT_FALSE(standing_of(options, like_radosgw()).tombstones) << "not asked for";
  options.deletes = Deletes::kTombstone;
  S3Verdict takes_conditions = like_radosgw();
  takes_conditions.no_conditional_delete = std::nullopt;
  const S3Standing better = standing_of(options, takes_conditions);
  EXPECT_FALSE(better.tombstones);
  EXPECT_EQ(said(better, "DeleteObject").guarantee, Guarantee::kStrict);
  EXPECT_EQ(said(better, "DeleteObjects").guarantee, Guarantee::kBounded);
  const S3Standing worse = standing_of(options, S3Verdict());
  EXPECT_FALSE(worse.tombstones);
  EXPECT_EQ(said(worse, "DeleteObject").guarantee, Guarantee::kBounded);
  EXPECT_TRUE(has(said(worse, "DeleteObject").how, "tombstone")) << said(worse, "DeleteObject").how;
  options.http.commit = CommitMode::kConditional;
  const S3Standing unproven = standing_of(options, S3Verdict());
  EXPECT_TRUE(unproven.tombstones);
  EXPECT_EQ(said(unproven, "DeleteObject").guarantee, Guarantee::kBounded);
}

}  // namespace
}  // namespace fenceline::testing
