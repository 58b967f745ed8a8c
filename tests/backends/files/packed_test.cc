#include "backends/files/packed.h"

#include <gtest/gtest.h>

#include <limits>

namespace fenceline::backends::files {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(PackedNumber, IsReadAsWritten) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128},
                                     std::uint64_t{16383}, std::uint64_t{16384}, kLargest}) {
    std::string bytes;
    append_number(bytes, number);
    std::string_view rest = bytes;
    EXPECT_EQ(take_number(rest), number);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(PackedNumber, HasOneFormOnly) {
  for (const std::string& bytes :
       {std::string(), std::string("\x80"), std::string("\x80\x00", 2), std::string("\xff\x00", 2),
        std::string(9, '\xff') + "\x02", std::string(10, '\xff') + "\x01"}) {
    std::string_view rest = bytes;
    EXPECT_EQ(take_number(rest), std::nullopt) << bytes.size();
  }
}

TEST(PackedId, IsReadAsWritten) {
  for (const char* id :
       {"", "r", "request-1", "0123456789abcdef-0", "0123456789abcdef-2f",
        "ffffffffffffffff-18446744073709551615", "ffffffffffffffff-ffffffffffffffff",
        // Almost ours.
        "0123456789ABCDEF-1", "0123456789abcdef-01", "0123456789abcdef-", "0123456789abcdef-F",
        "0123456789abcdef-18446744073709551616", "0123456789abcdef1-1", "0123456789abcde-1",
        "0123456789abcdef-10000000000000000", "+123456789abcdef-1", "0123456789abcdef--1"}) {
    std::string bytes;
    PackedId(id).append_to(bytes);
    bytes += "next";
    PackedId::Space space;
    std::string_view rest = bytes;
    const auto found = PackedId::take(rest);
    ASSERT_TRUE(found) << id;
    EXPECT_EQ(found->text(space), id);
    EXPECT_EQ(rest, "next") << id;
  }
}

TEST(PackedId, OursAreShort) {
  std::string bytes;
  PackedId("0123456789abcdef-1000000").append_to(bytes);
  EXPECT_EQ(bytes.size(), 1U + 8U + 3U);
}

TEST(PackedId, WhatIsCutOffIsNone) {
  std::string bytes;
  PackedId("0123456789abcdef-1000000").append_to(bytes);
  PackedId("request-1").append_to(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    EXPECT_FALSE(PackedId::take(rest) && PackedId::take(rest)) << size;
  }
  for (const std::string& other : {"\x41" + std::string(65, 'a'),
                                   std::string("\x03"
                                               "a b"),
                                   std::string("\xf2")}) {
    std::string_view rest = other;
    EXPECT_FALSE(PackedId::take(rest));
  }
}

}  // namespace
}  // namespace fenceline::backends::files
