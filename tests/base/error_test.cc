#include "base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

namespace fenceline::base {
namespace {

constexpr auto kLast = static_cast<int>(ErrorKind::kUpstreamTimeout);

TEST(Error, EveryKindHasANameOfItsOwnThatFitsAUrnAndALabel) {
  std::set<std::string> names;
  for (int kind = 0; kind <= kLast; ++kind) {
    const std::string name(name_of(static_cast<ErrorKind>(kind)));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || c == '-';
    })) << name;
  }
}

TEST(Error, TheNamesOfTheContractAreStable) {
  EXPECT_EQ(name_of(ErrorKind::kStaleToken), "stale-token");
  EXPECT_EQ(name_of(ErrorKind::kHolderConflict), "holder-conflict");
  EXPECT_EQ(name_of(ErrorKind::kTokenTooFarAhead), "token-too-far-ahead");
  EXPECT_EQ(name_of(ErrorKind::kTokenRequired), "token-required");
  EXPECT_EQ(name_of(ErrorKind::kMalformedToken), "malformed-token");
  EXPECT_EQ(name_of(ErrorKind::kPreconditionFailed), "precondition-failed");
  EXPECT_EQ(name_of(ErrorKind::kDraining), "draining");
  EXPECT_EQ(name_of(ErrorKind::kLedgerUnavailable), "ledger-unavailable");
  EXPECT_EQ(name_of(ErrorKind::kInsufficientStorage), "insufficient-storage");
  EXPECT_EQ(name_of(ErrorKind::kUpstreamTimeout), "upstream-timeout");
}

TEST(Error, SaysWhoCausedItAndWhatMayBeRetried) {
  EXPECT_EQ(source_of(ErrorKind::kStaleToken), Source::kClient);
  EXPECT_EQ(retry_of(ErrorKind::kStaleToken), Retry::kNewToken);
  EXPECT_EQ(source_of(ErrorKind::kLedgerUnavailable), Source::kSelf);
  EXPECT_EQ(retry_of(ErrorKind::kLedgerUnavailable), Retry::kLater);
  EXPECT_EQ(source_of(ErrorKind::kUpstreamFailed), Source::kUpstream);
  EXPECT_EQ(retry_of(ErrorKind::kMalformedToken), Retry::kNever);
}

TEST(Error, OnlyFencedRequestsAreToldToTakeANewToken) {
  for (int i = 0; i <= kLast; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    EXPECT_EQ(retry_of(kind) == Retry::kNewToken,
              kind == ErrorKind::kStaleToken || kind == ErrorKind::kHolderConflict)
        << name_of(kind);
  }
}

TEST(Error, FailMakesTheErrorSideOfAResult) {
  const Result<int> plain = fail(ErrorKind::kNotFound, "There is no x.");
  EXPECT_EQ(plain.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(plain.error().detail, "There is no x.");
  EXPECT_EQ(plain.error().applied, Applied::kNo);
  const Result<int> unsure = fail(ErrorKind::kStorageFailed, "x", Applied::kUnknown);
  EXPECT_EQ(unsure.error().applied, Applied::kUnknown);
}

TEST(Error, AppliedInWords) {
  EXPECT_EQ(to_string(Applied::kNo), "no");
  EXPECT_EQ(to_string(Applied::kYes), "yes");
  EXPECT_EQ(to_string(Applied::kUnknown), "unknown");
}

TEST(Error, AFullDiskIsToldFromABrokenOne) {
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_EQ(error_from_errno(full, "write x").kind, ErrorKind::kInsufficientStorage);
  }
  for (const int broken : {EIO, EROFS, EACCES, EMFILE}) {
    EXPECT_EQ(error_from_errno(broken, "write x").kind, ErrorKind::kStorageFailed);
  }
  EXPECT_EQ(error_from_errno(ENOSPC, "write x").detail, "write x: No space left on device");
  EXPECT_EQ(error_from_errno(ENOSPC, "write x").applied, Applied::kNo);
}

}  // namespace
}  // namespace fenceline::base
