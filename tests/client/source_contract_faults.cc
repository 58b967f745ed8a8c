// The server dies, and comes back or does not.

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "client/source_url.h"
#include "tests/client/source_contract.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Result;
using client::Grant;
using ::testing::AnyOf;
using ::testing::IsEmpty;

/// `host:port` of the servers in a URL.
std::vector<std::string> addresses(const std::string& url) {
  constexpr std::uint16_t kNone = 1;
  std::vector<std::string> all;
  const auto parsed = client::parse_source_url(url, kNone);
  if (!parsed) {
    throw std::runtime_error(parsed.error().detail);
  }
  for (const client::SourceHost& host : parsed->hosts) {
    all.push_back(host.host + ":" + std::to_string(host.port));
  }
  return all;
}

/// The refusal of a service that cannot be reached: says which, and nothing about the lease.
void expect_unreachable(const base::Error& error, const std::string& url) {
  EXPECT_THAT(error.kind, AnyOf(ErrorKind::kUpstreamFailed, ErrorKind::kUpstreamTimeout))
      << error.detail;
  const std::vector<std::string> all = addresses(url);
  EXPECT_TRUE(std::ranges::any_of(
      all,
      [&](const std::string& address) { return error.detail.find(address) != std::string::npos; }))
      << "the address is not named: " << error.detail;
}

TEST_P(SourceContract, ARestartOfTheServerMakesNoSecondHolder) {
  const auto survived = key("survived");
  const Source a = open();
  const Source b = open();
  const Grant first = must_acquire(*a, order(survived));
  server().kill();
  server().restart();

  // The holder does not know. Whatever the service remembers, it says the same to both.
  base::Token last = first.token;
  Result<Grant> other = b->acquire(order(survived, "holder-b"), {});
  for (int tries = 0; tries < 3 && !other && other.error().kind != ErrorKind::kLeaseHeld; ++tries) {
    other = b->acquire(order(survived, "holder-b"), {});  // The first may meet the dead connection.
  }
  const Result<Grant> renewed = renew_through(*a, first);
  if (other) {
    EXPECT_FALSE(renewed) << "two holders";
    EXPECT_GT(other->token, first.token);
    last = other->token;
    EXPECT_TRUE(b->release(*other));
  } else {
    EXPECT_EQ(other.error().kind, ErrorKind::kLeaseHeld) << other.error().detail;
  }
  if (renewed) {
    EXPECT_EQ(renewed->token, first.token);
    EXPECT_TRUE(a->release(*renewed));
  }
  const Grant next = must_acquire(*b, waiting(order(survived, "holder-c")));
  EXPECT_GT(next.token, last);
  EXPECT_TRUE(b->release(next));
}

TEST_P(SourceContract, AReleasedLeaseStaysReleasedOverARestart) {
  const auto released = key("released");
  const Source a = open();
  const Grant first = must_acquire(*a, order(released));
  ASSERT_TRUE(a->release(first));
  server().kill();
  server().restart();
  const Grant next = must_acquire(*open(), waiting(order(released, "holder-b")));
  EXPECT_GT(next.token, first.token);
}

TEST_P(SourceContract, AServerThatIsNotThereIsNamed) {
  const auto nowhere = key("nowhere");
  const Source a = open();
  const Grant grant = must_acquire(*a, order(nowhere));
  server().kill();
  const auto start = now();
  const Source b = open();
  const auto acquired = b->acquire(order(nowhere), {});
  ASSERT_FALSE(acquired);
  expect_unreachable(acquired.error(), server().url());
  const auto renewed = a->renew(grant, {});
  ASSERT_FALSE(renewed);
  expect_unreachable(renewed.error(), server().url());
  const auto released = a->release(grant);
  ASSERT_FALSE(released);
  expect_unreachable(released.error(), server().url());
  const auto shown = b->show(nowhere);
  ASSERT_FALSE(shown);
  expect_unreachable(shown.error(), server().url());
  EXPECT_LT(now() - start, 4 * kSlack);
  server().restart();
  EXPECT_TRUE(must_acquire(*b, order(key("there"))).token.exists());
}

TEST_P(SourceContract, AStopIsHeardWhileNobodyAnswers) {
  const auto unheard = key("unheard");
  const Source a = open();
  server().kill();
  std::stop_source stop;
  const auto asked = now();
  stop.request_stop();
  const auto grant = a->acquire(waiting(order(unheard)), stop.get_token());
  ASSERT_FALSE(grant);
  EXPECT_EQ(grant.error().kind, ErrorKind::kClientGone) << grant.error().detail;
  EXPECT_LT(now() - asked, Milliseconds(2'500));
  server().restart();
}

// The server of the contract is set up as the docs say.
TEST_P(SourceContract, AGoodSetupIsNotWarnedAbout) {
  const auto warnings = open()->warnings();
  ASSERT_TRUE(warnings) << warnings.error().detail;
  EXPECT_THAT(*warnings, IsEmpty());
}

}  // namespace
}  // namespace fenceline::testing
