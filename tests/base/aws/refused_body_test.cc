// What is wrong with a body is found before its last byte is given.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/aws/verified_body.h"
#include "tests/base/aws/body_fixture.h"
#include "tests/base/aws/wire_lines.h"

namespace fenceline::testing {
namespace {

using base::aws::Payload;

const std::string kText = "a storage service that is fenced";  // 32 bytes
constexpr std::string_view kTrailer = "x-amz-checksum-crc32";

SentBody trailer_body(std::string bytes) {
  return {.payload = Payload::kUnsignedTrailer,
          .fields = {{"Content-Encoding", "aws-chunked"},
                     {"x-amz-decoded-content-length", "32"},
                     {"x-amz-trailer", std::string(kTrailer)}},
          .bytes = std::move(bytes),
          .declares = false};
}

std::string good_trailer() { return fmt::format("{}:{}", kTrailer, crc32_of(kText)); }

/// However it is cut and framed, with a declared length and without, this is the failure, and not
/// all of the 32 bytes were given.
void expect_refused(SentBody sent, std::string_view code,
                    base::ErrorKind kind = base::ErrorKind::kMalformedRequest) {
  for (const bool declares : {true, false}) {
    sent.declares = declares;
    for (std::size_t step = 1; step <= sent.bytes.size(); ++step) {
      const GotBody got = receive(sent, step);
      ASSERT_TRUE(got.opened) << got.error->detail;
      ASSERT_EQ(got.outcome(), code) << "in pieces of " << step;
      ASSERT_EQ(got.error->kind, kind);
      ASSERT_FALSE(got.error->detail.empty());
      ASSERT_LT(got.content.size(), kText.size()) << "in pieces of " << step;
      ASSERT_FALSE(got.reads_on);
    }
  }
}

/// The same, also where the client has not said how long the content is.
void expect_refused_without_length(SentBody sent, std::string_view code) {
  expect_refused(sent, code);
  std::erase_if(sent.fields, [](const auto& field) { return field.first.ends_with("-length"); });
  expect_refused(sent, code);
}

TEST(RefusedBody, AWrongDigest) {
  for (const auto& [name, value] : std::vector<base::OwnedField>{
           {"Content-MD5", "kAFQmDzST7DWlj99KOF/cg=="},
           {"x-amz-checksum-crc32", "y/Q5Jg=="},
           {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="},
           {"x-amz-checksum-sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="}}) {
    expect_refused({.fields = {{name, value}}, .bytes = kText}, "BadDigest");
  }
  base::aws::Verified verified;
  verified.payload_hash = base::aws::sha256_hex("something else");
  expect_refused({.payload = Payload::kHash, .bytes = kText, .verified = &verified},
                 "XAmzContentSHA256Mismatch");
}

TEST(RefusedBody, AWrongTrailer) {
  expect_refused_without_length(
      trailer_body(lines({"20", kText, "0", "x-amz-checksum-crc32:y/Q5Jg==", ""})), "BadDigest");
  for (const std::string_view value : {"", "y/Q5Jg", "y/Q5Jg===", "y/Q5Jh==", "AAAA", "y/Q5J!=="}) {
    const std::string line = fmt::format("{}:{}", kTrailer, value);
    expect_refused_without_length(trailer_body(lines({"20", kText, "0", line, ""})),
                                  "MalformedTrailerError");
  }
  expect_refused_without_length(trailer_body(lines({"20", kText, "0", ""})),
                                "MalformedTrailerError");
  expect_refused_without_length(
      trailer_body(lines({"20", kText, "0", good_trailer(), "x-amz-checksum-sha1:AAAA", ""})),
      "MalformedTrailerError");
  SentBody nothing_announced = trailer_body(lines({"20", kText, "0", good_trailer(), ""}));
  nothing_announced.fields.pop_back();
  expect_refused_without_length(nothing_announced, "MalformedTrailerError");
}

TEST(RefusedBody, AnotherLengthThanDeclared) {
  const std::string good = good_trailer();
  for (const std::string_view length : {"33", "1000", "9223372036854775807"}) {
    SentBody sent = trailer_body(lines({"20", kText, "0", good, ""}));
    sent.fields[1].second = length;
    for (std::size_t step = 1; step <= sent.bytes.size(); ++step) {
      const GotBody got = receive(sent, step);
      EXPECT_EQ(got.outcome(), "IncompleteBody");
      EXPECT_LT(got.content.size(), *got.declared_bytes);
    }
  }
  for (const std::string_view length : {"0", "1", "31"}) {
    SentBody sent =
        trailer_body(lines({"10", kText.substr(0, 16), "10", kText.substr(16), "0", good, ""}));
    sent.fields[1].second = length;
    for (std::size_t step = 1; step <= sent.bytes.size(); ++step) {
      const GotBody got = receive(sent, step);
      EXPECT_EQ(got.outcome(), "IncompleteBody");
      EXPECT_TRUE(got.content.empty() || got.content.size() < *got.declared_bytes);
    }
  }
}

TEST(RefusedBody, Truncated) {
  const std::string good = good_trailer();
  const std::string whole = lines({"10", std::string_view(kText).substr(0, 16), "10",
                                   std::string_view(kText).substr(16), "0", good, ""});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused_without_length(trailer_body(whole.substr(0, size)), "IncompleteBody");
  }
  const SentBody plain{.fields = {{"x-amz-decoded-content-length", "32"}},
                       .bytes = kText.substr(0, 31),
                       .declares = false};
  EXPECT_EQ(receive(plain).outcome(), "IncompleteBody");
}

TEST(RefusedBody, BytesBehindTheEnd) {
  const std::string whole = lines({"20", kText, "0", good_trailer(), ""});
  for (const std::string_view more : {"\r\n", "x", "0\r\n\r\n", "\0"}) {
    expect_refused_without_length(trailer_body(whole + std::string(more.data(), 1)),
                                  "InvalidRequest");
    expect_refused_without_length(trailer_body(whole + std::string(more) + "more"),
                                  "InvalidRequest");
  }
}

TEST(RefusedBody, FramingThatIsNone) {
  const std::string good = good_trailer();
  expect_refused(trailer_body(lines({"21", kText, "0", good, ""})), "IncompleteBody");
  SentBody longer = trailer_body(lines({"21", kText, "0", good, ""}));
  longer.fields.erase(longer.fields.begin() + 1);
  EXPECT_EQ(receive(longer).outcome(), "InvalidRequest") << "the chunk has the CR, then no CR LF";
  expect_refused_without_length(trailer_body(lines({"1f", kText, "0", good, ""})),
                                "InvalidRequest");
  expect_refused_without_length(trailer_body(lines({"20;a=b", kText, "0", good, ""})),
                                "InvalidRequest");
  expect_refused_without_length(trailer_body(kText + lines({"", "0", good, ""})), "InvalidRequest");
}

/// What `open_body` says.
std::string_view opened(Payload payload, std::vector<base::OwnedField> fields) {
  const GotBody got = receive({.payload = payload, .fields = std::move(fields), .bytes = "x"});
  return got.opened ? "opened" : got.outcome();
}

TEST(RefusedBody, DeclarationsThatCannotBe) {
  constexpr Payload kPlain = Payload::kUnsigned;
  constexpr Payload kChunks = Payload::kUnsignedTrailer;
  const base::OwnedField crc32{"x-amz-checksum-crc32", "y/Q5Jg=="};
  const base::OwnedField sha1{"x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE="};
  const base::OwnedField trailer{"x-amz-trailer", "x-amz-checksum-crc32c"};
  EXPECT_EQ(opened(kPlain, {crc32}), "opened");
  EXPECT_EQ(opened(kPlain, {crc32, sha1}), "InvalidRequest");
  EXPECT_EQ(opened(kPlain, {crc32, crc32}), "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {trailer}), "opened");
  EXPECT_EQ(opened(kChunks, {}), "opened");
  EXPECT_EQ(opened(kChunks, {trailer, crc32}), "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {trailer, trailer}), "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {{"x-amz-trailer", "x-amz-checksum-sha1, x-amz-checksum-crc32"}}),
            "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {{"x-amz-trailer", "x-amz-meta-a"}}), "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {{"x-amz-trailer", "x-amz-trailer-signature"}}), "InvalidRequest");
  EXPECT_EQ(opened(kChunks, {{"X-Amz-Trailer", " X-Amz-Checksum-SHA1 "}}), "opened");
  EXPECT_EQ(opened(kPlain, {trailer}), "InvalidRequest");
  EXPECT_EQ(opened(kPlain, {{"Content-Encoding", "aws-chunked"}}), "InvalidRequest");
  EXPECT_EQ(opened(kPlain, {{"Content-Encoding", "gzip, AWS-Chunked"}}), "InvalidRequest");
  EXPECT_EQ(opened(kPlain, {{"Content-Encoding", "gzip"}}), "opened");
  EXPECT_EQ(opened(kChunks, {{"Content-Encoding", "gzip,aws-chunked"}}), "opened");
  EXPECT_EQ(opened(Payload::kSignedChunks, {}), "InvalidRequest") << "nobody has signed it";
  EXPECT_EQ(opened(Payload::kSignedTrailer, {}), "InvalidRequest");
  EXPECT_EQ(opened(Payload::kHash, {}), "InvalidRequest");
}

TEST(RefusedBody, ValuesThatAreNone) {
  for (const std::string_view value : {"", "y/Q5Jg", "y/Q5Jg= =", "y/Q5Jh==", "4waSgw==4waSgw=="}) {
    EXPECT_EQ(opened(Payload::kUnsigned, {{"x-amz-checksum-crc32c", std::string(value)}}),
              "InvalidRequest")
        << value;
    EXPECT_EQ(opened(Payload::kUnsigned, {{"Content-MD5", std::string(value)}}), "InvalidDigest")
        << value;
  }
  const base::OwnedField md5{"Content-MD5", "kAFQmDzST7DWlj99KOF/cg=="};
  EXPECT_EQ(opened(Payload::kUnsigned, {md5}), "opened");
  EXPECT_EQ(opened(Payload::kUnsigned, {md5, md5}), "InvalidDigest");
  for (const std::string_view value :
       {"", "-1", "+1", "1.0", "0x1", "1 ", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(
        opened(Payload::kUnsignedTrailer, {{"x-amz-decoded-content-length", std::string(value)}}),
        "InvalidArgument")
        << value;
  }
  const base::OwnedField one{"x-amz-decoded-content-length", "1"};
  EXPECT_EQ(opened(Payload::kUnsignedTrailer, {one, one}), "InvalidArgument");
  EXPECT_EQ(opened(Payload::kUnsigned, {one}), "opened");
  EXPECT_EQ(opened(Payload::kUnsigned, {{"x-amz-decoded-content-length", "2"}}), "InvalidRequest");
}

}  // namespace
}  // namespace fenceline::testing
