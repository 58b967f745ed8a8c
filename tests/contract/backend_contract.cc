#include "tests/contract/backend_contract.h"

#include <atomic>
#include <string>
#include <vector>

#include "base/http_date.h"

namespace fenceline::testing {
namespace {

using base::Applied;
using base::Method;

TEST_P(BackendContract, AnAbsentResourceIsNotFound) {
  EXPECT_EQ(get(backend(), "nothing").error_name(), "not-found");
  EXPECT_EQ(head(backend(), "nothing").error_name(), "not-found");
  const Answer removed = remove(backend(), "nothing");
  EXPECT_EQ(removed.error_name(), "not-found");
  EXPECT_EQ(removed.error->applied, Applied::kNo);
  if (limits().keeps_stamps) {
    EXPECT_EQ(backend().find_stamp("nothing").error().kind, base::ErrorKind::kNotFound);
  }
}

TEST_P(BackendContract, WhatWasPutIsRead) {
  const Answer made = put(backend(), "a", "one", {{"Content-Type", "text/plain; x=\"y\""}});
  EXPECT_EQ(made.status, created());
  const Answer read = get(backend(), "a");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.content, "one");
  if (limits().keeps_content_type) {
    EXPECT_EQ(read.field("Content-Type"), "text/plain; x=\"y\"");
  }
  const std::string tag = read.field("ETag");
  EXPECT_EQ(made.field("ETag"), limits().tells_tags ? tag : "");
  EXPECT_TRUE(tag.starts_with('"')) << "a strong tag";
  EXPECT_TRUE(base::parse_http_date(read.field("Last-Modified")));

  const Answer replaced = put(backend(), "a", "longer");
  EXPECT_EQ(replaced.status, 204);
  EXPECT_EQ(get(backend(), "a").content, "longer");
  EXPECT_EQ(replaced.field("ETag"), limits().tells_tags ? tag_of("a") : "");
  EXPECT_NE(tag_of("a"), tag);
}

TEST_P(VersionContract, EqualContentWrittenTwiceHasTwoTags) {
  put(backend(), "a", "same");
  const std::string first = tag_of("a");
  put(backend(), "a", "same");
  EXPECT_NE(first, tag_of("a"));
}

TEST_P(BackendContract, HeadTellsWhatGetWouldSend) {
  put(backend(), "a", "12345", {{"Content-Type", "text/x"}});
  const Answer shown = head(backend(), "a");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.content, "");
  EXPECT_EQ(shown.head_length_bytes, 5U);
  EXPECT_EQ(shown.fields, get(backend(), "a").fields);
}

TEST_P(BackendContract, DeleteRemoves) {
  put(backend(), "a", "x");
  EXPECT_EQ(remove(backend(), "a").status, 204);
  EXPECT_EQ(get(backend(), "a").error_name(), "not-found");
  EXPECT_EQ(remove(backend(), "a").error_name(), "not-found");
  EXPECT_EQ(put(backend(), "a", "y").status, created());
}

TEST_P(BackendContract, EmptyBodies) {
  EXPECT_EQ(put(backend(), "empty", "").status, created());
  const Answer read = get(backend(), "empty");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.content, "");
  EXPECT_EQ(head(backend(), "empty").head_length_bytes, 0U);
}

TEST_P(BackendContract, BodiesOfManyPieces) {
  std::vector<std::string> pieces;
  std::string whole;
  for (std::size_t i = 0; i < 300; ++i) {
    pieces.emplace_back(1 + i * 97, static_cast<char>('a' + i % 26));
    whole += pieces.back();
  }
  const Request request(Method::kPut, "big");
  PiecesBody body(std::move(pieces));
  auto staged = run(backend().stage(request.resource(), body, {}));
  ASSERT_TRUE(staged) << staged.error().detail;
  EXPECT_EQ(answer_of(run((*staged)->commit())).status, created());
  EXPECT_EQ(get(backend(), "big").content, whole);
}

TEST_P(BackendContract, ABodyThatBreaksOffLeavesNoTrace) {
  put(backend(), "a", "old");
  const Request request(Method::kPut, "a");
  PiecesBody body({"new but"}, base::Error{.kind = base::ErrorKind::kClientGone, .detail = "gone"});
  const auto staged = run(backend().stage(request.resource(), body, {}));
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().kind, base::ErrorKind::kClientGone);
  EXPECT_EQ(get(backend(), "a").content, "old");
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(BackendContract, AStagedWriteIsInvisible) {
  Staged staged = stage_put(backend(), "a", "new");
  ASSERT_TRUE(staged.write);
  EXPECT_EQ(get(backend(), "a").error_name(), "not-found");
  EXPECT_EQ(staged.commit().status, created());
  EXPECT_EQ(get(backend(), "a").content, "new");
}

TEST_P(BackendContract, ADestroyedWriteLeavesNoTrace) {
  put(backend(), "a", "old");
  {
    const Staged staged = stage_put(backend(), "a", "new");
    ASSERT_TRUE(staged.write);
    const Staged fresh = stage_put(backend(), "b", "new");
    ASSERT_TRUE(fresh.write);
    const Staged removal = stage_delete(backend(), "a");
    ASSERT_TRUE(removal.write);
  }
  EXPECT_EQ(get(backend(), "a").content, "old");
  EXPECT_EQ(get(backend(), "b").error_name(), "not-found");
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(BackendContract, StagedWritesCommitInEitherOrder) {
  for (const bool first_first : {true, false}) {
    put(backend(), "a", "old");
    Staged one = stage_put(backend(), "a", "one");
    Staged two = stage_put(backend(), "a", "two");
    Staged& earlier = first_first ? one : two;
    Staged& later = first_first ? two : one;
    EXPECT_EQ(earlier.commit().status, 204);
    EXPECT_EQ(get(backend(), "a").content, first_first ? "one" : "two");
    EXPECT_EQ(later.commit().status, 204);
    EXPECT_EQ(get(backend(), "a").content, first_first ? "two" : "one");
  }
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(VersionContract, ConditionsAreDecidedAtCommit) {
  put(backend(), "a", "old");
  const std::string old = tag_of("a");
  Staged late = stage_put(backend(), "a", "late", {{"If-Match", old}});
  Staged late_removal = stage_delete(backend(), "a", {{"If-Match", old}});
  EXPECT_EQ(put(backend(), "a", "new", {{"If-Match", old}}).status, 204);

  const Answer refused = late.commit();
  EXPECT_EQ(refused.error_name(), "precondition-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_EQ(late_removal.commit().error_name(), "precondition-failed");
  EXPECT_EQ(get(backend(), "a").content, "new");
}

TEST_P(BackendContract, CreateOnlyAndReplaceOnly) {
  EXPECT_EQ(put(backend(), "a", "x", {{"If-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_EQ(get(backend(), "a").error_name(), "not-found");
  EXPECT_EQ(put(backend(), "a", "x", {{"If-None-Match", "*"}}).status, created());
  EXPECT_EQ(put(backend(), "a", "y", {{"If-None-Match", "*"}}).error_name(), "precondition-failed");
  EXPECT_EQ(put(backend(), "a", "z", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(get(backend(), "a").content, "z");
}

TEST_P(BackendContract, UnmodifiedSince) {
  put(backend(), "a", "x");
  const std::string modified = get(backend(), "a").field("Last-Modified");
  EXPECT_EQ(put(backend(), "a", "y", {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}})
                .error_name(),
            "precondition-failed");
  EXPECT_EQ(put(backend(), "a", "z", {{"If-Unmodified-Since", modified}}).status, 204);
  EXPECT_EQ(get(backend(), "a").content, "z");
  if (limits().decides_in_one_step) {
    EXPECT_EQ(remove(backend(), "a", {{"If-Unmodified-Since", "soon"}}).error_name(),
              "malformed-request");
    EXPECT_EQ(get(backend(), "a").content, "z");
  }
}

TEST_P(BackendContract, BrokenConditionsNeverLetAWriteThrough) {
  put(backend(), "a", "x");
  EXPECT_EQ(put(backend(), "a", "y", {{"If-Match", "unquoted"}}).error_name(), "malformed-request");
  EXPECT_EQ(put(backend(), "a", "y", {{"If-None-Match", "\"a"}}).error_name(), "malformed-request");
  EXPECT_EQ(get(backend(), "a").content, "x");
  EXPECT_TRUE(fixture().is_free_of_leftovers());
}

TEST_P(BackendContract, ConditionalReads) {
  put(backend(), "a", "content");
  const std::string etag = tag_of("a");
  const Answer unchanged = get(backend(), "a", {{"If-None-Match", etag}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.content, "");
  EXPECT_EQ(unchanged.field("ETag"), etag);
  EXPECT_EQ(head(backend(), "a", {{"If-None-Match", etag}}).status, 304);
  EXPECT_EQ(get(backend(), "a", {{"If-None-Match", "\"x\""}}).status, 200);
  EXPECT_EQ(get(backend(), "a", {{"If-Match", "\"x\""}}).error_name(), "precondition-failed");
  EXPECT_EQ(get(backend(), "a", {{"If-Match", etag}}).content, "content");
  const std::string modified = get(backend(), "a").field("Last-Modified");
  EXPECT_EQ(get(backend(), "a", {{"If-Modified-Since", modified}}).status, 304);
}

TEST_P(BackendContract, Ranges) {
  for (const std::size_t size : {std::size_t{10}, std::size_t{100'000}}) {
    std::string content(size, 'x');
    content.replace(2, 3, "abc");
    content.back() = 'z';
    put(backend(), "a", content);
    const std::string etag = tag_of("a");
    const std::string total = "/" + std::to_string(size);

    const Answer part = get(backend(), "a", {{"Range", "bytes=2-4"}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.content, "abc");
    EXPECT_EQ(part.field("Content-Range"), "bytes 2-4" + total);
    EXPECT_EQ(part.field("ETag"), etag);
    EXPECT_EQ(get(backend(), "a", {{"Range", "bytes=-1"}}).content, "z");
    EXPECT_EQ(get(backend(), "a", {{"Range", "bytes=3-"}}).content, content.substr(3));

    const Answer outside = get(backend(), "a", {{"Range", "bytes=100000-"}});
    EXPECT_EQ(outside.error_name(), "range-not-satisfiable");
    EXPECT_EQ(outside.field("Content-Range"), "bytes *" + total);
    EXPECT_EQ(get(backend(), "a", {{"Range", "bytes=2-4"}, {"If-Range", etag}}).status, 206);
    EXPECT_EQ(get(backend(), "a", {{"Range", "bytes=2-4"}, {"If-Range", "\"x\""}}).status, 200);
    if (limits().only_get_has_ranges) {
      EXPECT_EQ(head(backend(), "a", {{"Range", "bytes=2-4"}}).head_length_bytes, size);
    }
  }
}

TEST_P(BackendContract, StampsAreKeptWithTheContent) {
  if (!limits().keeps_stamps) {
    EXPECT_FALSE(backend().find_stamp("a").value());
    return;
  }
  put(backend(), "a", "x", {}, {.key = "k", .token = base::Token::of(34), .request_id = "r-1"});
  auto stamp = backend().find_stamp("a");
  ASSERT_TRUE(stamp && *stamp);
  EXPECT_EQ((*stamp)->token, base::Token::of(34));
  EXPECT_EQ((*stamp)->request_id, "r-1");

  const Staged pending = stage_put(backend(), "a", "y", {},
                                   {.key = "k", .token = base::Token::of(35), .request_id = "r-2"});
  EXPECT_EQ(backend().find_stamp("a").value()->request_id, "r-1") << "not committed yet";

  put(backend(), "a", "z", {}, {.key = {}, .token = {}, .request_id = "r-3"});
  EXPECT_FALSE(backend().find_stamp("a").value()->token.exists());
}

TEST_P(BackendContract, MethodsAreReadsOrWrites) {
  for (const Method method : {Method::kGet, Method::kHead}) {
    EXPECT_TRUE(backend().is_read(Request(method, "a").head()));
  }
  for (const Method method : {Method::kPut, Method::kDelete, Method::kPost, Method::kOther}) {
    EXPECT_FALSE(backend().is_read(Request(method, "a").head()));
  }
  EXPECT_FALSE(backend().out_of_service());
}

}  // namespace
}  // namespace fenceline::testing
