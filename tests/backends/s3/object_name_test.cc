#include "backends/s3/object_name.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::testing {
namespace {

using backends::s3::check_key;
using backends::s3::decode_key;
using backends::s3::encode_key;
using backends::s3::is_bucket_name;
using backends::s3::kMaxKeyBytes;
using backends::s3::parse_copy_source;

std::string decoded(std::string_view raw) {
  const auto key = decode_key(raw);
  return key ? *key : "[" + std::string(key.error().code) + "]";
}

TEST(ObjectName, IsDecodedOnceAndNeverTidied) {
  EXPECT_EQ(decoded("a"), "a");
  EXPECT_EQ(decoded("%61"), "a");
  EXPECT_EQ(decoded("%2561"), "%61");
  EXPECT_EQ(decoded("d//a%20b+c%25%C3%BC=~"), "d//a b+c%ü=~");
  EXPECT_EQ(decoded("q/../z"), "q/../z");
  EXPECT_EQ(decoded("."), ".");
  EXPECT_EQ(decoded("a%2Fb%2fc"), "a/b/c");
  EXPECT_EQ(decoded("/"), "/");
  EXPECT_EQ(decoded("a/"), "a/");
}

TEST(ObjectName, WhatIsNone) {
  for (const std::string_view raw :
       {"", "%", "a%2", "%zz", "%0a", "a%00b", "%7F", "\n", "%C3", "%ED%A0%80", "%C0%AF", "%FF"}) {
    EXPECT_EQ(decoded(raw), "[InvalidURI]") << raw;
  }
  EXPECT_EQ(decoded(std::string(kMaxKeyBytes, 'k')).size(), kMaxKeyBytes);
  EXPECT_EQ(decoded(std::string(kMaxKeyBytes + 1, 'k')), "[KeyTooLongError]");
  std::string encoded;
  for (std::size_t i = 0; i < kMaxKeyBytes; ++i) {
    encoded += "%6b";
  }
  EXPECT_EQ(decoded(encoded).size(), kMaxKeyBytes) << "the limit is on what it means";
  EXPECT_EQ(decode_key("%").error().kind, base::ErrorKind::kMalformedRequest);
  EXPECT_FALSE(check_key("a\tb"));
  EXPECT_TRUE(check_key("a%zz")) << "it is decoded already";
}

TEST(ObjectName, EveryKeyHasOneSpelling) {
  EXPECT_EQ(encode_key("d//a b+c%ü=~"), "d//a%20b%2Bc%25%C3%BC%3D~");
  EXPECT_EQ(encode_key("AZaz09-._~/"), "AZaz09-._~/");
  EXPECT_EQ(encode_key("?#&:@!$'()*,;\\\""), "%3F%23%26%3A%40%21%24%27%28%29%2A%2C%3B%5C%22");
  for (int byte = 0x20; byte < 0x7F; ++byte) {
    const std::string key = "k" + std::string(1, static_cast<char>(byte));
    EXPECT_EQ(decoded(encode_key(key)), key);
  }
  EXPECT_EQ(decoded(encode_key("\xF0\x9F\x94\x92/\xE2\x82\xAC")), "\xF0\x9F\x94\x92/\xE2\x82\xAC");
}

TEST(ObjectName, NamesOfBuckets) {
  for (const std::string_view name :
       {"abc", "a.b", "0-9", "my-bucket.example", "192.168.0.a", "1.2.3", "xn--a"}) {
    EXPECT_TRUE(is_bucket_name(name)) << name;
  }
  for (const std::string_view name : {"", "ab", "Abc", "a_b", "-ab", "ab-", ".ab", "ab.", "a..b",
                                      "..", "a/b", "a%2fb", "a b", "192.168.0.1",
                                      "b\xC3\xBC"
                                      "cher",
                                      "a:b", "a@b"}) {
    EXPECT_FALSE(is_bucket_name(name)) << name;
  }
  EXPECT_TRUE(is_bucket_name(std::string(63, 'b')));
  EXPECT_FALSE(is_bucket_name(std::string(64, 'b')));
}

std::string source(std::string_view text) {
  const auto read = parse_copy_source(text);
  if (!read) {
    EXPECT_EQ(read.error().kind, base::ErrorKind::kMalformedRequest);
    return "[" + std::string(read.error().code) + "]";
  }
  return read->bucket + "|" + read->key + "|" + read->version;
}

TEST(ObjectName, TheSourceOfACopy) {
  EXPECT_EQ(source("media/a/b"), "media|a/b|");
  EXPECT_EQ(source("/media/a"), "media|a|");
  EXPECT_EQ(source("media//a"), "media|/a|");
  EXPECT_EQ(source("media/a%20b%2B%3Fc"), "media|a b+?c|");
  EXPECT_EQ(source("media%2Fa%2fb"), "media|a/b|") << "encoded as a whole";
  EXPECT_EQ(source("%2Fmedia%2Fa"), "media|a|");
  EXPECT_EQ(source("media/a%2525"), "media|a%25|") << "once";
  EXPECT_EQ(source("media/a?versionId=v%2B1"), "media|a|v+1");
  EXPECT_EQ(source("media/a?versionId=null"), "media|a|null");
  EXPECT_EQ(source("media/a b"), "media|a b|");
}

TEST(ObjectName, SourcesThatAreNone) {
  for (const std::string_view text : {"",
                                      "/",
                                      "media",
                                      "media/",
                                      "/media/",
                                      "//media/a",
                                      "Media/a",
                                      "me/a",
                                      "media/%",
                                      "media/a%0a",
                                      "media/a+b",
                                      "media/a?",
                                      "media/a?versionId",
                                      "media/a?versionId=",
                                      "media/a?versionid=v",
                                      "media/a?acl",
                                      "media/a?versionId=v&versionId=w",
                                      "media/a?versionId=%",
                                      "media/a?versionId=%00",
                                      "media/a?versionId=%FF",
                                      "arn:aws:s3:us-east-1:1:accesspoint/p/object/a"}) {
    EXPECT_EQ(source(text), "[InvalidArgument]") << text;
  }
}

}  // namespace
}  // namespace fenceline::testing
