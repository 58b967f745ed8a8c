#include "base/fence_key.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::base {
namespace {

/// UTF-8 of one code point, by RFC 3629's table; also of those that are not allowed.
std::string encode(unsigned point) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
  };
  if (point < 0x80U) {
    return {static_cast<char>(point)};
  }
  if (point < 0x800U) {
    return {static_cast<char>(0xC0U | (point >> 6U)), tail(0)};
  }
  if (point < 0x10000U) {
    return {static_cast<char>(0xE0U | (point >> 12U)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0U | (point >> 18U)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointButSurrogatesIsValid) {
  for (unsigned point = 0; point < 0x120000U; ++point) {
    const bool allowed = point <= 0x10FFFFU && (point < 0xD800U || point > 0xDFFFU);
    if (is_valid_utf8(encode(point)) != allowed) {
      ADD_FAILURE() << std::hex << point;
    }
  }
}

TEST(Utf8, OverlongFormsAndBrokenSequencesAreNot) {
  for (const std::string text : {"\x80",
                                 "\xBF",
                                 "\xC0\x80",
                                 "\xC1\xBF",
                                 "\xE0\x80\x80",
                                 "\xE0\x9F\xBF",
                                 "\xF0\x80\x80\x80",
                                 "\xF0\x8F\xBF\xBF",
                                 "\xF4\x90\x80\x80",
                                 "\xF5\x80\x80\x80",
                                 "\xFE",
                                 "\xFF",
                                 "\xC3",
                                 "\xE2\x82",
                                 "\xF0\x9F\x94",
                                 "\xC3(",
                                 "\xE2(\xA1",
                                 "\xE2\x82(",
                                 "\xF0(\x8C\xBC",
                                 "\xF0\x90(\xBC",
                                 "\xF0\x90\x8C("}) {
    EXPECT_FALSE(is_valid_utf8(text));
    EXPECT_FALSE(is_valid_utf8("ok" + text));
    EXPECT_FALSE(is_valid_utf8(text + "ok"));
  }
  EXPECT_TRUE(is_valid_utf8(""));
}

TEST(ControlByte, IsBelowBlankOrDelete) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = {'a', static_cast<char>(byte)};
    EXPECT_EQ(has_control_byte(text), byte < 0x20 || byte == 0x7F) << byte;
  }
  EXPECT_FALSE(has_control_byte(""));
}

TEST(FenceKey, TakesOneTo1024Bytes) {
  EXPECT_EQ(FenceKey::parse("k").value().text(), "k");
  EXPECT_EQ(FenceKey::parse(std::string(1024, 'k')).value().text(), std::string(1024, 'k'));
  EXPECT_EQ(FenceKey::parse("").error().kind, ErrorKind::kMalformedRequest);
  const auto long_key = FenceKey::parse(std::string(1025, 'k'));
  EXPECT_EQ(long_key.error().kind, ErrorKind::kTargetTooLong);
  EXPECT_NE(long_key.error().detail.find("1025"), std::string::npos);
}

TEST(FenceKey, KeepsItsBytes) {
  const std::string text = "exports/\xC3\xA9 %2F/..//\\'\"";
  EXPECT_EQ(FenceKey::parse(text).value().text(), text);
}

TEST(FenceKey, RefusesControlBytesAndBrokenUtf8) {
  using namespace std::string_literals;
  for (const std::string& text : {"a\nb"s, "a\0b"s, "\x7F"s, "a\xFF"s, "\xED\xA0\x80"s}) {
    EXPECT_EQ(FenceKey::parse(text).error().kind, ErrorKind::kMalformedRequest);
  }
}

TEST(FenceKey, IsComparedByteByByte) {
  const auto key = [](const char* text) { return FenceKey::parse(text).value(); };
  EXPECT_EQ(key("a/b"), key("a/b"));
  EXPECT_NE(key("a/b"), key("A/b"));
  EXPECT_LT(key("a"), key("a/b"));
  EXPECT_LT(key("z"), key("\xC3\xA9")) << "bytes above 0x7F come last, signed char or not";
}

}  // namespace
}  // namespace fenceline::base
