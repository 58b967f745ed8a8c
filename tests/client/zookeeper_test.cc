// What can be decided about ZooKeeper without a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/sources/zookeeper/zk_names.h"
#include "client/sources/zookeeper/zk_wire.h"

namespace fenceline::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ZkWire, NumbersAndTextsGoThereAndBack) {
  const std::string bytes =
      ZkWriter().number(-7).large(std::int64_t{1} << 40).flag(true).text("path").bytes();
  EXPECT_EQ(bytes.substr(0, 4), std::string("\xff\xff\xff\xf9", 4));
  EXPECT_EQ(bytes.size(), 4U + 8U + 1U + 4U + 4U);
  ZkReader reader(bytes);
  EXPECT_EQ(reader.number(), -7);
  EXPECT_EQ(reader.large(), std::int64_t{1} << 40);
  EXPECT_TRUE(reader.good());
}

TEST(ZkWire, WhatIsCutOffIsNotRead) {
  const std::string whole = ZkWriter().number(2).text("one").text("two").bytes();
  EXPECT_THAT(ZkReader(whole).texts(), ElementsAre("one", "two"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ZkReader reader(std::string_view(whole).substr(0, size));
    (void)reader.texts();
    EXPECT_FALSE(reader.good()) << size;
  }
  // A count or a length that the server cannot mean.
  ZkReader many("\x7f\xff\xff\xff");
  EXPECT_THAT(many.texts(), ElementsAre(""));
  EXPECT_FALSE(many.good());
  ZkReader none(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_EQ(none.text(), "");
  EXPECT_TRUE(none.good());
}

TEST(ZkNames, AKeyIsOneStepOfAPath) {
  const auto name = [](const char* key) {
    return zk_node_name(base::FenceKey::parse(key).value());
  };
  EXPECT_EQ(name("exports"), "exports");
  EXPECT_EQ(name("exports/42"), "exports%2F42");
  EXPECT_EQ(name("exports%2F42"), "exports%252F42");
  EXPECT_EQ(name("."), "%2E");
  EXPECT_EQ(name(".."), "%2E%2E");
  EXPECT_EQ(name("Z\xc3\xbcrich"), "Z%C3%BCrich");
}

TEST(ZkNames, PlacesAreOrderedByTheNumberThatTheServerAppended) {
  const std::string a = "00000000000000aa-0000000010";
  const std::string b = "ffffffffffffffff-0000000009";
  const std::string wrapped = "0123456789abcdef--2147483648";
  EXPECT_THAT(zk_in_order({a, "foreign", b, "not-0000000001"}), ElementsAre(b, a));
  EXPECT_THAT(zk_in_order({a, wrapped}), ElementsAre(wrapped, a));
  EXPECT_THAT(zk_in_order({}), IsEmpty());
}

TEST(ZkNames, AnAttemptHasAnotherNameInAnotherSession) {
  EXPECT_EQ(zk_attempt_name("a", 1), zk_attempt_name("a", 1));
  EXPECT_NE(zk_attempt_name("a", 1), zk_attempt_name("a", 2));
  EXPECT_NE(zk_attempt_name("a", 1), zk_attempt_name("b", 1));
  EXPECT_EQ(zk_attempt_name("a", 1).size(), 17U);
}

TEST(ZkNames, ALeaseGoesThereAndBack) {
  const ZkLease lease{.session = {.id = -2, .password = std::string("\x00\xff 0123456789abc", 16)},
                      .place = "00000000000000aa-0000000010"};
  const std::string text = zk_lease_text(lease);
  const auto read = parse_zk_lease(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->session.id, lease.session.id);
  EXPECT_EQ(read->session.password, lease.session.password);
  EXPECT_EQ(read->place, lease.place);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_zk_lease(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_zk_lease("x" + text.substr(1)));
  EXPECT_FALSE(parse_zk_lease(text.substr(0, 51) + "/../elsewhere"));
}

}  // namespace
}  // namespace fenceline::client
