#include "backends/http/burned.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace fenceline::backends::http {
namespace {

using Kind = IntentTarget::Kind;

constexpr const char* kOrigin = "http://h:1";
Seen seen(std::string etag) {
  return {.exists = true, .etag = std::move(etag), .last_modified_s = {}};
}

const After kGone{.exists = false};
const After kSome{};
const After kMade{.etag = "\"made\""};

IntentTarget older(Kind kind, std::string target = "/a", std::string etag = "\"old\"") {
  return {.kind = kind, .origin = kOrigin, .target = std::move(target), .etag = std::move(etag)};
}

TEST(Burned, AnyContentReplacesACreationAndADeleteRevivesIt) {
  const IntentTarget creation = older(Kind::kCreation);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a", kSome), Bearing::kReplaces);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a", kGone), Bearing::kRevives);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/b", kGone), Bearing::kNone);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a?view", kSome), Bearing::kNone)
      << "perhaps another resource: nothing is replaced";
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a?view", kGone), Bearing::kRevives)
      << "perhaps the same one";
}

TEST(Burned, DeletingACollectionRevivesWhatWasToBeMadeInIt) {
  const IntentTarget creation = older(Kind::kCreation, "/a/b");
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a", kGone), Bearing::kRevives);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a/", kGone), Bearing::kRevives);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/", kGone), Bearing::kRevives);
  EXPECT_EQ(bearing_on(creation, kOrigin, "/a/bc", kGone), Bearing::kNone);
  EXPECT_EQ(bearing_on(older(Kind::kCreation, "/ab"), kOrigin, "/a", kGone), Bearing::kNone);
}

TEST(Burned, AKnownTagReplacesAnotherAndAnUnknownOneMayRevive) {
  const IntentTarget change = older(Kind::kReturning);
  EXPECT_EQ(bearing_on(change, kOrigin, "/a", kMade), Bearing::kReplaces);
  EXPECT_EQ(bearing_on(change, kOrigin, "/a", kGone), Bearing::kReplaces);
  EXPECT_EQ(bearing_on(change, kOrigin, "/a", kSome), Bearing::kRevives);
  EXPECT_EQ(bearing_on(change, kOrigin, "/a", {.etag = "\"old\""}), Bearing::kRevives);
  EXPECT_EQ(bearing_on(change, kOrigin, "/a?view", kMade), Bearing::kRevives);
  EXPECT_EQ(bearing_on(change, kOrigin, "/b", kSome), Bearing::kNone);
}

TEST(Burned, OtherUpstreamsAndOtherKindsAreApart) {
  EXPECT_EQ(bearing_on(older(Kind::kCreation), "http://h:2", "/a", kGone), Bearing::kNone);
  EXPECT_EQ(bearing_on(older(Kind::kChange), kOrigin, "/a", kSome), Bearing::kNone)
      << "its tag never comes back";
  EXPECT_EQ(bearing_on(older(Kind::kTemporary), kOrigin, "/a", kGone), Bearing::kNone);
}

TEST(Burned, AWriteOfWhichNothingIsKnownMayReviveEverything) {
  EXPECT_EQ(bearing_of_any_write(older(Kind::kCreation), kOrigin), Bearing::kRevives);
  EXPECT_EQ(bearing_of_any_write(older(Kind::kReturning), kOrigin), Bearing::kRevives);
  EXPECT_EQ(bearing_of_any_write(older(Kind::kChange), kOrigin), Bearing::kNone);
  EXPECT_EQ(bearing_of_any_write(older(Kind::kCreation), "http://h:2"), Bearing::kNone);
}

TEST(Burned, DormantIsWhatWaitsForAnotherState) {
  const Seen absent;
  const Seen as_it_was = seen("\"old\"");
  const Seen changed = seen("\"new\"");
  EXPECT_EQ(dormancy_of(older(Kind::kCreation), absent), Revocation::kUnknown);
  EXPECT_EQ(dormancy_of(older(Kind::kCreation), changed), Revocation::kDormant);
  EXPECT_EQ(dormancy_of(older(Kind::kReturning), absent), Revocation::kDormant);
  EXPECT_EQ(dormancy_of(older(Kind::kReturning), as_it_was), Revocation::kUnknown);
  EXPECT_EQ(dormancy_of(older(Kind::kReturning), changed), Revocation::kDormant);
  EXPECT_EQ(dormancy_of(older(Kind::kReturning), seen("W/\"new\"")), Revocation::kUnknown);
  EXPECT_EQ(dormancy_of(older(Kind::kReturning), seen("")), Revocation::kUnknown);
  EXPECT_EQ(dormancy_of(older(Kind::kChange), changed), Revocation::kUnknown);
}

TEST(Burned, OnlyPlainStrongTagsGoOnRecord) {
  EXPECT_TRUE(can_be_burned("\"d41d8cd98f00b204e9800998ecf8427e-3\""));
  for (const char* tag : {"", "\"\"", "d41d", "W/\"x\"", "\"a b\"", "\"\xC3\xA4\"", "\"x"}) {
    EXPECT_FALSE(can_be_burned(tag)) << tag;
  }
  EXPECT_FALSE(can_be_burned("\"" + std::string(300, 'x') + "\""));
}

}  // namespace
}  // namespace fenceline::backends::http
