#include "proxy/idempotency_key.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::proxy {
namespace {

base::Result<std::optional<std::string>> key_of(std::string_view value) {
  base::RequestHead head;
  head.fields.push_back({"idempotency-key", value});
  return idempotency_key_from(head);
}

TEST(IdempotencyKey, WithQuotesOrWithout) {
  EXPECT_EQ(**key_of("8e03978e-40d5-43dd-bc93-6894a57f9324"),
            "8e03978e-40d5-43dd-bc93-6894a57f9324");
  EXPECT_EQ(**key_of("\"abc\""), "abc");
  EXPECT_EQ(**key_of(R"("a\"b\\c")"), R"(a"b\c)");
  EXPECT_EQ(**key_of("a\"b"), "a\"b");
  EXPECT_EQ(**key_of(std::string(255, 'k')), std::string(255, 'k'));
  EXPECT_FALSE(idempotency_key_from({})->has_value());
}

TEST(IdempotencyKey, WhatIsNone) {
  for (const std::string value : {"", "\"\"", "\"", "\"abc", "\"abc\"x", "\"abc\";p=1", R"("a\b")",
                                  R"("a\)", "a b", "a\tb", "\xc3\xa4", "\"a b\""}) {
    const auto key = key_of(value);
    ASSERT_FALSE(key) << value;
    EXPECT_EQ(key.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_NE(key.error().detail.find("Idempotency-Key"), std::string::npos);
  }
  EXPECT_FALSE(key_of(std::string(256, 'k')));
  base::RequestHead twice;
  twice.fields.push_back({"Idempotency-Key", "a"});
  twice.fields.push_back({"Idempotency-Key", "a"});
  EXPECT_FALSE(idempotency_key_from(twice));
}

}  // namespace
}  // namespace fenceline::proxy
