// What can be decided about etcd without a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/boottime_clock.h"
#include "client/sources/etcd/etcd_requests.h"
#include "client/token_source.h"

namespace fenceline::client {
namespace {

using base::FenceKey;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FenceKey key(const char* text) { return FenceKey::parse(text).value(); }

TEST(EtcdNames, NoQueueLiesInAnother) {
  const EtcdNames one = make_etcd_names("p/", key("a"), 1);
  const EtcdNames two = make_etcd_names("p/", key("a/b"), 1);
  EXPECT_EQ(one.own, "p/a/0000000000000001");
  EXPECT_EQ(two.own, "p/a%2Fb/0000000000000001");
  EXPECT_EQ(one.queue, "p/a/");
  EXPECT_EQ(one.queue_end, "p/a0");
  EXPECT_FALSE(two.own >= one.queue && two.own < one.queue_end);
  EXPECT_NE(make_etcd_names("p/", key("a%2Fb"), 1).queue, two.queue);
}

TEST(EtcdNames, ALeaseBelongsToAnAttemptAndAKey) {
  const std::int64_t lease = etcd_lease_of("attempt", key("a"));
  EXPECT_GT(lease, 0);
  EXPECT_EQ(lease, etcd_lease_of("attempt", key("a")));
  EXPECT_NE(lease, etcd_lease_of("attempt", key("b")));
  EXPECT_NE(lease, etcd_lease_of("another", key("a")));
  EXPECT_EQ(parse_etcd_lease(etcd_lease_text(lease)), lease);
  for (const char* wrong :
       {"", "1", "000000000000000g", "0000000000000000", "ffffffffffffffff", "00000000000000011"}) {
    EXPECT_EQ(parse_etcd_lease(wrong), std::nullopt) << wrong;
  }
}

TEST(EtcdAnswers, NumbersAreStringsAndWhatIsMissingIsZero) {
  const auto object =
      boost::json::parse(R"({"a":"9223372036854775807","b":7,"c":"x","d":null})").as_object();
  EXPECT_EQ(etcd_number(object, "a"), 9223372036854775807);
  EXPECT_EQ(etcd_number(object, "b"), 7);
  for (const char* name : {"c", "d", "e"}) {
    EXPECT_EQ(etcd_number(object, name), 0);
  }
}

TEST(EtcdAnswers, ATransactionsRangesAreReadInTheirOrder) {
  const auto answer =
      boost::json::parse(R"({"succeeded":true,"responses":[{"response_put":{}},)"
                         R"({"response_range":{"kvs":[{"create_revision":"12","value":"aG9sZGVy",)"
                         R"("lease":"5"}]}},{"response_range":{"header":{}}}]})")
          .as_object();
  EXPECT_TRUE(etcd_succeeded(answer));
  const auto ranges = etcd_ranges(answer);
  ASSERT_EQ(ranges.size(), 2U);
  ASSERT_EQ(ranges[0].size(), 1U);
  EXPECT_EQ(ranges[0][0].value, "holder");
  EXPECT_EQ(ranges[0][0].create_revision, 12);
  EXPECT_EQ(ranges[0][0].lease, 5);
  EXPECT_THAT(ranges[1], IsEmpty());
}

TEST(EtcdAnswers, AnswersOfAnotherShapeAreEmpty) {
  for (const char* text : {"{}", R"({"kvs":1,"responses":{}})", R"({"kvs":[1],"responses":[[]]})",
                           R"({"responses":[{"response_range":7}],"succeeded":"true"})"}) {
    const auto answer = boost::json::parse(text).as_object();
    EXPECT_FALSE(etcd_succeeded(answer)) << text;
    EXPECT_THAT(etcd_entries(answer), IsEmpty()) << text;
    EXPECT_THAT(etcd_ranges(answer), IsEmpty()) << text;
  }
}

TEST(EtcdUrl, WhatItCannotMeanIsRefused) {
  const base::BoottimeClock clock;
  const std::pair<const char*, const char*> cases[] = {
      {"etcd://h:1/path", "'/path'"},        {"etcd://h:1?ca=/x.pem", "etcds://"},
      {"etcd://h:1?colour=red", "'colour'"}, {"zookeeper://h:1/a/../b", "no path of ZooKeeper"},
      {"zookeeper://h:1?ca=x", "'ca'"},
  };
  for (const auto& [url, part] : cases) {
    const auto source = make_source(url, clock);
    ASSERT_FALSE(source) << url;
    EXPECT_EQ(source.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_THAT(source.error().detail, HasSubstr(part));
  }
}

}  // namespace
}  // namespace fenceline::client
