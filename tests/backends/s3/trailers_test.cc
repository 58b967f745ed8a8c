// A checksum that the client sends behind a body which is too long to be held.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/backends/s3/s3_driver.h"
#include "tests/backends/s3/s3_store.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::Applied;

constexpr std::size_t kHold = 1000;

std::string long_content() {
  std::string content;
  for (int i = 0; content.size() < 300'000; ++i) {
    content += std::to_string(i);
  }
  return content + "!";
}

/// A probed server, with our credentials.
class Probed {
 public:
  explicit Probed(ChunkedQuirks quirks = {}, base::Milliseconds limit = base::Milliseconds(30'000))
      : store(quirks), driver(options(store.port(), limit)) {}

  /// The only PUT of this target.
  [[nodiscard]] std::string only_write(const std::string& target) const {
    const auto all = store.writes(target);
    EXPECT_EQ(all.size(), 1U) << target;
    return all.empty() ? std::string() : all.front();
  }

  S3Store store;
  S3Driver driver;

 private:
  static backends::s3::S3Options options(std::uint16_t port, base::Milliseconds limit) {
    auto options = s3_options_for(port);
    options.http.commit = backends::http::CommitMode::kAuto;
    options.http.probe = true;
    options.http.probe_limit = limit;
    options.hold_bytes = kHold;
    options.credentials = base::aws::Credentials{"key", "secret", ""};
    return options;
  }
};

S3Call put(const std::string& content, Fields fields = {}) {
  return {.operation = "PutObject", .key = "a", .fields = std::move(fields), .content = content};
}

TEST(S3Trailers, GoOnBehindABodyThatStreams) {
  Probed probed;
  const std::string content = long_content();
  const Answer answer = probed.driver.write(with_trailer(put(content)));
  EXPECT_EQ(answer.status, 200) << answer.error_name();
  const std::string request = probed.only_write("/store/a");
  EXPECT_EQ(field_in(request, "Content-Encoding"), "aws-chunked");
  EXPECT_EQ(field_in(request, "x-amz-content-sha256"), "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
  EXPECT_EQ(field_in(request, "x-amz-trailer"), "x-amz-checksum-crc32");
  EXPECT_EQ(field_in(request, "x-amz-sdk-checksum-algorithm"), "CRC32");
  EXPECT_EQ(field_in(request, "x-amz-decoded-content-length"), std::to_string(content.size()));
  EXPECT_EQ(field_in(request, "x-amz-checksum-crc32"), "") << "once is enough";
  const std::string body = body_in(request);
  EXPECT_EQ(field_in(request, "Content-Length"), std::to_string(body.size()));
  const std::string sent = with_trailer(put(content)).content;
  const std::string end = sent.substr(sent.rfind("\r\n0\r\n"));
  EXPECT_TRUE(body.ends_with("!" + end)) << body.substr(body.size() - 60);
  EXPECT_TRUE(probed.store.object("/store/a")->content == content);
  EXPECT_EQ(probed.store.object("/store/a")->coding, "");
}

TEST(S3Trailers, GoOnBehindAPart) {
  Probed probed;
  const std::string query = "partNumber=1&uploadId=u";
  S3Call part = put(long_content());
  part.operation = "UploadPart";
  part.query = query;
  EXPECT_EQ(probed.driver.write(with_trailer(part)).status, 200);
  const std::string request = probed.only_write("/store/a?" + query);
  EXPECT_EQ(field_in(request, "x-amz-trailer"), "x-amz-checksum-crc32");
  EXPECT_EQ(field_in(request, "Content-Encoding"), "aws-chunked");
  EXPECT_EQ(field_in(request, "x-amz-meta-fencing-request"), "");
}

TEST(S3Trailers, LeaveTheCodingOfTheContent) {
  for (const std::string coding : {"gzip,aws-chunked", "aws-chunked, gzip", "gzip"}) {
    Probed probed;
    EXPECT_EQ(probed.driver.write(with_trailer(put(long_content(), {{"Content-Encoding", coding}})))
                  .status,
              200);
    EXPECT_EQ(field_in(probed.only_write("/store/a"), "Content-Encoding"), "gzip,aws-chunked");
    EXPECT_EQ(probed.store.object("/store/a")->coding, "gzip");
  }
}

TEST(S3Trailers, OfABodyThatIsHeldAreFields) {
  Probed probed;
  const std::string content(kHold, 'x');
  EXPECT_EQ(probed.driver.write(with_trailer(put(content))).status, 200);
  const std::string request = probed.only_write("/store/a");
  EXPECT_EQ(field_in(request, "x-amz-checksum-crc32").size(), 8U);
  EXPECT_EQ(field_in(request, "x-amz-trailer"), "");
  EXPECT_EQ(field_in(request, "Content-Encoding"), "");
  EXPECT_TRUE(body_in(request) == content);
}

TEST(S3Trailers, OnlyABodyThatHasOneIsFramed) {
  Probed probed;
  EXPECT_EQ(probed.driver.put("a", long_content()).status, 200);
  const std::string request = probed.only_write("/store/a");
  EXPECT_EQ(field_in(request, "x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
  EXPECT_TRUE(body_in(request) == long_content());
}

TEST(S3Trailers, AreDroppedWhereTheServerDoesNotTakeThem) {
  const std::vector<ChunkedQuirks> all = {{.refuses = true},      {.hangs_up = true},
                                          {.keeps_frames = true}, {.keeps_frames_of_parts = true},
                                          {.keeps_coding = true}, {.drops_coding = true}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    Probed probed(all[i]);
    EXPECT_FALSE(probed.driver.backend().out_of_service()) << i;
    EXPECT_EQ(
        probed.driver
            .write(with_trailer(put(long_content(), {{"Content-Encoding", "aws-chunked,gzip"}})))
            .status,
        200)
        << i;
    const std::string request = probed.only_write("/store/a");
    EXPECT_EQ(field_in(request, "x-amz-content-sha256"), "UNSIGNED-PAYLOAD") << i;
    EXPECT_EQ(field_in(request, "Content-Encoding"), "gzip") << i;
    EXPECT_EQ(field_in(request, "x-amz-trailer"), "") << i;
    EXPECT_EQ(field_in(request, "x-amz-decoded-content-length"), "") << i;
    EXPECT_TRUE(body_in(request) == long_content()) << i;
  }
}

TEST(S3Trailers, TheProbeCleansUp) {
  Probed probed;
  EXPECT_FALSE(probed.driver.backend().out_of_service());
  EXPECT_EQ(probed.store.objects(), 0U);
}

TEST(S3Trailers, AServerThatHangsOnThemStaysInService) {
  Probed probed({.hangs = true}, base::Milliseconds(3'000));
  EXPECT_FALSE(probed.driver.backend().out_of_service());
  EXPECT_EQ(probed.driver.write(with_trailer(put(long_content()))).status, 200);
  EXPECT_EQ(field_in(probed.only_write("/store/a"), "x-amz-trailer"), "");
}

// All of the request that is upstream while the write is not committed.
std::string left_behind(Probed& probed) {
  wait_until("the end of the connection", [&] { return !probed.store.incomplete().empty(); });
  return probed.store.incomplete().front();
}

TEST(S3Trailers, StayHereUntilTheCommit) {
  Probed probed;
  const std::string content = long_content();
  const std::string almost = content.substr(content.size() - 100, 99);
  {
    const S3Staged staged = probed.driver.stage(with_trailer(put(content)));
    ASSERT_TRUE(staged.staged()) << staged.error().detail;
    wait_until("all but the last byte of the content",
               [&] { return probed.store.begun("/store/a").ends_with(almost); });
  }
  EXPECT_TRUE(left_behind(probed).ends_with(almost)) << "and nothing more";
  EXPECT_TRUE(probed.store.writes("/store/a").empty());
  EXPECT_FALSE(probed.store.object("/store/a"));
}

TEST(S3Trailers, ThatAreWrongAreNeverSent) {
  Probed probed;
  const std::string wrong = "AAAAAA==";
  const S3Staged staged = probed.driver.stage(with_trailer(put(long_content()), wrong));
  ASSERT_FALSE(staged.staged());
  EXPECT_EQ(staged.error().code, "BadDigest");
  EXPECT_EQ(staged.error().applied, Applied::kNo);
  const std::string request = left_behind(probed);
  EXPECT_EQ(request.find(wrong), std::string::npos);
  EXPECT_FALSE(request.ends_with("!"));
  EXPECT_FALSE(probed.store.object("/store/a"));
}

TEST(S3Trailers, ALostAnswerIsFoundInTheStamp) {
  Probed probed;
  probed.store.lose_answers();
  const Answer answer = probed.driver.write(with_trailer(put(long_content())));
  EXPECT_EQ(answer.status, 200) << answer.error_name();
  EXPECT_EQ(answer.field("ETag"), "\"abc\"");
  EXPECT_EQ(probed.store.writes("/store/a").size(), 1U) << "a write is never sent twice";
}

}  // namespace
}  // namespace fenceline::testing
