// DeleteObjects where deletions are tombstones: a DeleteObject of each.

#include "backends/s3/deletions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/s3/s3_hostile.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using backends::s3::Deletes;
using base::Applied;
using base::ErrorKind;

const std::string kMark = "x-amz-meta-fencing-tombstone: 1\r\n";

std::string buried() {
  std::string head = seen("\"grave\"", "request-9");
  return head.insert(head.size() - 2, kMark);
}

/// The answers to HEAD by the path of the object, and what comes for its write; nothing: no answer.
struct Objects {
  std::map<std::string, std::string> heads;
  std::map<std::string, std::optional<std::string>> writes;

  [[nodiscard]] std::optional<std::string> operator()(const std::string& request) const {
    const std::size_t start = request.find(' ') + 1;
    const std::string path = request.substr(start, request.find_first_of(" ?", start) - start);
    if (request.starts_with("HEAD ")) {
      const auto found = heads.find(path);
      return found == heads.end() ? kAbsent : found->second;
    }
    const auto found = writes.find(path);
    return found == writes.end() ? answer("200 OK") : found->second;
  }
};

std::unique_ptr<S3Hostile> graves(Objects objects, Deletes deletes = Deletes::kTombstone) {
  return std::make_unique<S3Hostile>(std::move(objects), CommitMode::kConditional, deletes);
}

/// `objects`: what is in each `<Object>`.
S3Call deletion_of(const std::vector<std::string>& objects) {
  S3Call call{.operation = "DeleteObjects", .query = "delete", .document = "<Delete>"};
  for (const std::string& object : objects) {
    call.document += "<Object>" + object + "</Object>";
  }
  call.document += "</Delete>";
  return call;
}

std::string key(const std::string& text) { return "<Key>" + text + "</Key>"; }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(S3Deletions, EachIsThePutOfATombstone) {
  const auto hostile = graves({.heads = {{"/store/a", seen("\"1\"")},
                                         {"/store/b%20%3C%26", seen("\"2\"")},
                                         {"/store/d//..", seen("\"3\"")}},
                               .writes = {}});
  S3Call call = deletion_of({key("a"), key("b &lt;&amp;"), key("d//..")});
  call.fields = {{"x-amz-expected-bucket-owner", "111122223333"},
                 {"Content-MD5", "AAAA"},
                 {"x-amz-checksum-crc32", "AAAAAA=="},
                 {"x-amz-meta-color", "red"}};
  call.token = 7;
  S3Staged staged = hostile->driver().stage(std::move(call));
  ASSERT_TRUE(staged.staged()) << staged.error().detail;
  EXPECT_EQ(hostile->heads(), 3U) << "every state is read before the last check of the fence";
  EXPECT_TRUE(hostile->writes().empty());
  ASSERT_EQ(staged.parts().size(), 3U);
  for (const auto& part : staged.parts()) {
    EXPECT_TRUE(part.write->intent());
  }
  for (const Answer& each : staged.commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  const auto writes = hostile->writes();
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_TRUE(writes[0].starts_with("PUT /store/a HTTP/1.1\r\n")) << writes[0];
  EXPECT_TRUE(writes[1].starts_with("PUT /store/b%20%3C%26 HTTP/1.1\r\n")) << writes[1];
  EXPECT_TRUE(writes[2].starts_with("PUT /store/d//.. HTTP/1.1\r\n")) << writes[2];
  for (std::size_t i = 0; i < writes.size(); ++i) {
    for (const std::string& line : {"If-Match: \"" + std::to_string(i + 1) + "\"\r\n", kMark,
                                    std::string("x-amz-meta-fencing-token: 7\r\n"),
                                    std::string("x-amz-expected-bucket-owner: 111122223333\r\n")}) {
      EXPECT_TRUE(has(writes[i], line)) << line << writes[i];
    }
    EXPECT_FALSE(has(writes[i], "AAAA")) << writes[i];
    EXPECT_FALSE(has(writes[i], "color")) << writes[i];
  }
  EXPECT_NE(writes[0].substr(writes[0].size() - 53), writes[1].substr(writes[1].size() - 53));
}

TEST(S3Deletions, WhatIsNotThereSendsNothing) {
  const auto hostile = graves(
      {.heads = {{"/store/buried", buried()}, {"/store/there", seen("\"1\"")}}, .writes = {}});
  S3Staged staged =
      hostile->driver().stage(deletion_of({key("absent"), key("buried"), key("there")}));
  ASSERT_EQ(staged.parts().size(), 3U);
  EXPECT_FALSE(staged.parts()[0].write->intent());
  EXPECT_FALSE(staged.parts()[1].write->intent());
  EXPECT_TRUE(staged.parts()[2].write->intent());
  for (const Answer& each : staged.commit_parts()) {
    EXPECT_EQ(each.status, 204) << each.error_name();
  }
  EXPECT_EQ(hostile->writes().size(), 1U);
}

TEST(S3Deletions, EachHasAnOutcomeOfItsOwn) {
  const auto hostile = graves({.heads = {{"/store/denied", seen("\"1\"")},
                                         {"/store/lost", seen("\"2\"")},
                                         {"/store/there", seen("\"3\"")}},
                               .writes = {{"/store/denied", answer("403 Forbidden", {},
                                                                   "<Error><Code>AccessDenied"
                                                                   "</Code></Error>")},
                                          {"/store/lost", std::nullopt}}});
  const auto told = hostile->driver()
                        .stage(deletion_of({key("denied"), key("lost"), key("there")}))
                        .commit_parts();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].status, 403);
  ASSERT_TRUE(told[1].error);
  EXPECT_EQ(told[1].error->applied, Applied::kUnknown);
  EXPECT_EQ(told[2].status, 204);
  EXPECT_EQ(hostile->writes().size(), 3U) << "each was sent once";
}

TEST(S3Deletions, ALostAnswerIsFoundInItsStamp) {
  auto looks = std::make_shared<int>(0);
  S3Hostile hostile(
      [looks](const std::string& request) -> std::optional<std::string> {
        if (!request.starts_with("HEAD ")) {
          return std::nullopt;
        }
        return ++*looks == 1 ? seen("\"abc\"") : seen("\"t\"", "request-1");
      },
      CommitMode::kConditional, Deletes::kTombstone);
  const auto told = hostile.driver().stage(deletion_of({key("a")})).commit_parts();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].status, 204) << told[0].error_name();
  EXPECT_EQ(hostile.writes().size(), 1U);
}

TEST(S3Deletions, AnETagIsACondition) {
  const auto hostile =
      graves({.heads = {{"/store/a", seen("\"1\"")}, {"/store/b", seen("\"2\"")}}, .writes = {}});
  const auto told =
      hostile->driver()
          .stage(deletion_of({key("a") + "<ETag>1</ETag>", key("b") + "<ETag>&quot;9&quot;</ETag>",
                              key("absent") + "<ETag>*</ETag>"}))
          .commit_parts();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].status, 204) << told[0].error_name();
  EXPECT_EQ(told[1].error->code, "PreconditionFailed");
  EXPECT_EQ(told[2].error->code, "NoSuchKey");
  EXPECT_EQ(hostile->writes().size(), 1U);
}

TEST(S3Deletions, AVersionIsRemovedItself) {
  const auto hostile = graves(
      {.heads = {{"/store/a", buried()}}, .writes = {{"/store/a", answer("204 No Content")}}});
  S3Staged staged =
      hostile->driver().stage(deletion_of({key("a") + "<VersionId>n/1</VersionId>", key("a")}));
  ASSERT_EQ(staged.parts().size(), 2U) << "a version is another object than the current one";
  EXPECT_TRUE(staged.parts()[0].write->intent()->shared) << "by the settle rule";
  const auto told = staged.commit_parts();
  EXPECT_EQ(told[0].status, 204) << told[0].error_name();
  EXPECT_EQ(told[1].status, 204) << told[1].error_name();
  ASSERT_EQ(hostile->writes().size(), 1U);
  EXPECT_TRUE(hostile->writes()[0].starts_with("DELETE /store/a?versionId=n%2F1 "))
      << hostile->writes()[0];
}

TEST(S3Deletions, WhatIsNamedAgainIsOnePart) {
  const auto hostile =
      graves({.heads = {{"/store/a", seen("\"1\"")}, {"/store/b", seen("\"2\"")}}, .writes = {}});
  S3Staged staged = hostile->driver().stage(deletion_of({key("a"), key("b"), key("a"), key("a")}));
  ASSERT_EQ(staged.parts().size(), 2U);
  EXPECT_EQ(staged.parts()[0].named, 0U);
  EXPECT_EQ(staged.parts()[1].named, 1U);
  staged.commit_parts();
  EXPECT_EQ(hostile->writes().size(), 2U);
}

TEST(S3Deletions, WhatNobodyWouldCheckIsRefusedAsAWhole) {
  const auto hostile = graves({.heads = {{"/store/a", seen("\"1\"")}}, .writes = {}});
  const S3Staged twice =
      hostile->driver().stage(deletion_of({key("a"), key("a") + "<ETag>1</ETag>"}));
  ASSERT_FALSE(twice.staged());
  EXPECT_EQ(twice.error().kind, ErrorKind::kMalformedRequest);
  const S3Staged version = hostile->driver().stage(
      deletion_of({key("a") + "<VersionId>v</VersionId><ETag>1</ETag>", key("b")}));
  ASSERT_FALSE(version.staged());
  EXPECT_EQ(version.error().code, "NotImplemented");
  EXPECT_EQ(hostile->heads(), 0U);
}

TEST(S3Deletions, AnObjectThatCannotBeStagedLeavesTheOthers) {
  const auto hostile = graves(
      {.heads = {{"/store/hidden", answer("400 Bad Request")}, {"/store/there", seen("\"3\"")}},
       .writes = {}});
  S3Staged staged =
      hostile->driver().stage(deletion_of({key("hidden"), key(".fenceline-x"), key("there")}));
  ASSERT_TRUE(staged.staged());
  const auto told = staged.commit_parts();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].error->kind, ErrorKind::kUpstreamFailed);
  EXPECT_EQ(told[0].error->applied, Applied::kNo);
  EXPECT_EQ(told[1].error->kind, ErrorKind::kForbiddenName);
  EXPECT_EQ(told[2].status, 204);
  EXPECT_EQ(hostile->writes().size(), 1U);
  const S3Staged none = hostile->driver().stage(deletion_of({key("hidden"), key(".fenceline-x")}));
  ASSERT_FALSE(none.staged());
  EXPECT_EQ(none.error().kind, ErrorKind::kUpstreamFailed);
}

TEST(S3Deletions, ASilentUpstreamRefusesAllOfThem) {
  HostileUpstream silent([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.apply("asked");
      peer.read_to_end();
    }
  });
  auto options = s3_options_for(silent.port());
  options.http.commit = CommitMode::kConditional;
  options.http.client.first_byte = base::Milliseconds(50);
  options.deletes = Deletes::kTombstone;
  S3Driver driver(options);
  const S3Staged staged = driver.stage(deletion_of({key("a"), key("b"), key("c")}));
  ASSERT_FALSE(staged.staged());
  EXPECT_EQ(staged.error().kind, ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(staged.error().applied, Applied::kNo);
  EXPECT_EQ(silent.applied().size(), 1U) << "nobody asks about the next one";
}

TEST(S3Deletions, LookingHasALimit) {
  S3Driver* driver = nullptr;
  std::size_t heads = 0;
  HostileUpstream slow([&driver, &heads](UpstreamPeer& peer) {
    while (peer.read_request()) {
      if (++heads == 2) {
        driver->core().call([driver] {
          driver->core().timers().advance(std::chrono::steady_clock::now() +
                                          backends::s3::kLookLimit + base::Milliseconds(1'000));
        });
      }
      peer.send(seen("\"1\""));
    }
  });
  auto options = s3_options_for(slow.port());
  options.http.commit = CommitMode::kConditional;
  options.http.client.first_byte = 2 * backends::s3::kLookLimit;
  options.deletes = Deletes::kTombstone;
  S3Driver own(options);
  driver = &own;
  const S3Staged staged = own.stage(deletion_of({key("a"), key("b"), key("c")}));
  ASSERT_FALSE(staged.staged());
  EXPECT_EQ(staged.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(staged.error().applied, Applied::kNo);
  EXPECT_TRUE(has(staged.error().detail, "2 of 3")) << staged.error().detail;
}

TEST(S3Deletions, ElsewhereTheyAreOneRequest) {
  const auto hostile = graves({.heads = {}, .writes = {}}, Deletes::kAuto);
  S3Staged staged = hostile->driver().stage(deletion_of({key("a"), key("b")}));
  ASSERT_TRUE(staged.staged());
  EXPECT_TRUE(staged.parts().empty());
  EXPECT_EQ(staged.commit().status, 200);
  ASSERT_EQ(hostile->writes().size(), 1U);
  EXPECT_TRUE(hostile->writes()[0].starts_with("POST /store?delete ")) << hostile->writes()[0];
  EXPECT_EQ(hostile->heads(), 0U);
}

}  // namespace
}  // namespace fenceline::testing
