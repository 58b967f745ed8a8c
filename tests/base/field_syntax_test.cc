#include "base/field_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::base {
namespace {

TEST(FieldSyntax, ATokenEndsAtTheFirstForeignByte) {
  EXPECT_EQ(token_length(""), 0U);
  EXPECT_EQ(token_length("ETag"), 4U);
  EXPECT_EQ(token_length("ETag: x"), 4U);
  EXPECT_EQ(token_length(" x"), 0U);
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool good = is_token_char(c);
    EXPECT_EQ(token_length(std::string("a") + c + "b"), good ? 3U : 1U) << value;
    EXPECT_EQ(is_token(std::string(1, c)), good) << value;
  }
  EXPECT_FALSE(is_token(""));
}

TEST(FieldSyntax, NamesAreComparedWithoutRegardToCase) {
  EXPECT_TRUE(equal_names("X-aZ", "x-Az"));
  EXPECT_FALSE(equal_names("X-a", "X-ab"));
  EXPECT_FALSE(equal_names("@", "`")) << "only letters have two cases";
  EXPECT_FALSE(equal_names("[", "{"));
  EXPECT_TRUE(begins_with_name("fencing-token", "Fencing-"));
  EXPECT_FALSE(begins_with_name("Fencing", "Fencing-"));
}

TEST(FieldSyntax, PlainNamesAreTheSameForEveryServer) {
  for (const char* name : {"a", "X-Amz-Date", "ETag", "P3P", "-"}) {
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
  for (const char* name : {"", "x_amz_acl", "x.amz", "a~", "a b", "a\x80", "x-amz-meta-a_b"}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
  EXPECT_TRUE(same_for_loose_servers("X_Amz.ACL", "x-amz-acl"));
  EXPECT_TRUE(same_for_loose_servers("x-amz-acl", "x-amz-acl"));
  EXPECT_FALSE(same_for_loose_servers("x-amz-acl", "x-amz-ac1"));
  EXPECT_FALSE(same_for_loose_servers("x-amz-acl", "x-amz-acl-"));
}

TEST(FieldSyntax, ASetHoldsItsNamesAndNoOthers) {
  constexpr NameSet<4> kSet = {{"Connection", "TE", "Trailer", "Upgrade"}};
  for (const char* name : {"Connection", "te", "TRAILER", "upgrade"}) {
    EXPECT_TRUE(kSet.contains(name)) << name;
  }
  for (const char* name : {"", "T", "TF", "Connectio", "Connections", "Trailes", "Server"}) {
    EXPECT_FALSE(kSet.contains(name)) << name;
  }
}

}  // namespace
}  // namespace fenceline::base
