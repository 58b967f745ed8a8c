#include "base/aws/hmac.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

namespace fenceline::testing {
namespace {

std::string mac(std::string_view key, std::string_view text) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(key.data()), key.size());
  return base::aws::hex(base::aws::hmac_sha256(bytes, text));
}

// RFC 4231, 4.2 to 4.4 and 4.7.
TEST(HmacSha256, KnownAnswers) {
  EXPECT_EQ(mac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(mac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(mac(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(mac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// As Python's hmac gives them.
TEST(HmacSha256, KeysAsLongAsABlockOrOneByteMore) {
  EXPECT_EQ(mac(std::string(64, 'k'), ""),
            "83026a325aaee70e36cfe607536aa1054104ad1077c36134810d4ccded1ccd3b");
  EXPECT_EQ(mac(std::string(65, 'k'), ""),
            "41f1c4cc3107cd5b8d92460f61032902bfdb06484eef17e861b83a5012d3b7f3");
}

}  // namespace
}  // namespace fenceline::testing
