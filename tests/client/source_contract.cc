#include "tests/client/source_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "tests/support/server_process.h"

namespace fenceline::testing {

// A source is instantiated in the file of its server.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SourceContract);

namespace {

using base::ErrorKind;
using client::Grant;
using client::LeaseOrder;
using client::TokenSource;
using ::testing::AnyOf;
using ::testing::IsEmpty;

TEST_P(SourceContract, AHeldKeyIsHeld) {
  const auto held = key("held");
  const Source a = open();
  const Source b = open();
  const auto before = now();
  const Grant grant = must_acquire(*a, order(held));
  EXPECT_TRUE(grant.token.exists());
  EXPECT_FALSE(grant.lease.empty());
  EXPECT_EQ(grant.keys, std::vector{held});
  EXPECT_GT(grant.valid_until, now());
  EXPECT_LE(grant.valid_until, now() + kLong);
  EXPECT_GT(grant.valid_until, before);

  const auto start = now();
  const auto refused = b->acquire(order(held, "holder-b"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLeaseHeld) << refused.error().detail;
  EXPECT_LT(now() - start, kSlack) << "an order without wait waited";

  // Not reentrant either: another attempt of the same holder is another client.
  const auto again = b->acquire(order(held, "holder-a"), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kLeaseHeld);

  EXPECT_TRUE(a->release(grant));
  EXPECT_GT(must_acquire(*b, order(held, "holder-b")).token, grant.token);
}

TEST_P(SourceContract, ItSaysWhoHoldsAKey) {
  const auto shown = key("shown");
  const Source a = open();
  const Source b = open();
  const auto nobody = b->show(shown);
  ASSERT_TRUE(nobody) << nobody.error().detail;
  EXPECT_FALSE(nobody->has_value());

  const Grant grant = must_acquire(*a, order(shown, "worker-7@db1"));
  const auto held = b->show(shown);
  ASSERT_TRUE(held) << held.error().detail;
  ASSERT_TRUE(held->has_value());
  EXPECT_THAT((*held)->holder, AnyOf("worker-7@db1", IsEmpty()));
  if ((*held)->token.exists()) {
    EXPECT_EQ((*held)->token, grant.token);
  }
  if ((*held)->left) {
    EXPECT_GT(*(*held)->left, Milliseconds(0));
    EXPECT_LE(*(*held)->left, kLong + Milliseconds(1'000));
  }

  ASSERT_TRUE(a->release(grant));
  const auto after = b->show(shown);
  ASSERT_TRUE(after) << after.error().detail;
  EXPECT_FALSE(after->has_value());
}

TEST_P(SourceContract, OtherKeysAreFree) {
  const Source a = open();
  const auto one = key("one");
  const auto longer = base::FenceKey::parse(one.text() + "/more").value();
  const Grant first = must_acquire(*a, order(one));
  const Grant second = must_acquire(*a, order(longer));
  EXPECT_NE(first.lease, second.lease);
  EXPECT_TRUE(a->release(first));
  EXPECT_TRUE(a->renew(second, {}));
  EXPECT_TRUE(a->release(second));
}

TEST_P(SourceContract, TokensRiseFromGrantToGrant) {
  const auto rising = key("rising");
  const Source source = open();
  base::Token last;
  for (int i = 0; i < 20; ++i) {
    const Grant grant = must_acquire(*source, order(rising));
    ASSERT_GT(grant.token, last);
    last = grant.token;
    ASSERT_TRUE(source->release(grant));
  }
}

TEST_P(SourceContract, TokensRiseUnderContentionAndOneHoldsAtATime) {
  constexpr int kClients = 4;
  constexpr int kGrants = 8;
  const auto contended = key("contended");
  std::atomic<int> inside = 0;
  std::mutex mutex;
  std::vector<base::Token> tokens;  // In the order in which they were granted.
  const auto work = [&](int id) {
    const Source source = open();
    for (int i = 0; i < kGrants; ++i) {
      LeaseOrder mine = waiting(order(contended, "client-" + std::to_string(id)));
      mine.wait = 2 * kLong;
      const Grant grant = must_acquire(*source, mine);
      EXPECT_EQ(inside.fetch_add(1), 0) << "two holders at once";
      {
        const std::lock_guard lock(mutex);
        tokens.push_back(grant.token);
      }
      inside.fetch_sub(1);
      EXPECT_TRUE(source->release(grant));
    }
  };
  std::vector<std::future<void>> clients;
  for (int id = 0; id < kClients; ++id) {
    clients.push_back(std::async(std::launch::async, work, id));
  }
  for (std::future<void>& client : clients) {
    client.get();
  }
  EXPECT_EQ(tokens.size(), std::size_t{kClients} * kGrants);
  EXPECT_EQ(std::ranges::adjacent_find(tokens, std::greater_equal<>()), tokens.end())
      << "a later grant has no larger token";
}

TEST_P(SourceContract, AHolderThatDoesNotRenewIsReplacedAndNotTooEarly) {
  const auto expiring = key("expiring");
  const Source a = open();
  const Source b = open();
  const Grant old = must_acquire(*a, short_order(expiring));
  const Grant taken = must_acquire(*b, waiting(order(expiring, "holder-b")));
  EXPECT_GE(now(), old.valid_until) << "two could think that they hold it";
  EXPECT_GT(taken.token, old.token);

  // The late one can do no harm.
  const auto late_renewal = a->renew(old, {});
  ASSERT_FALSE(late_renewal);
  EXPECT_EQ(late_renewal.error().kind, ErrorKind::kLeaseEnded) << late_renewal.error().detail;
  const auto late_release = a->release(old);
  ASSERT_FALSE(late_release);
  EXPECT_EQ(late_release.error().kind, ErrorKind::kLeaseEnded) << late_release.error().detail;
  EXPECT_TRUE(b->renew(taken, {}));
  const auto third = a->acquire(order(expiring, "holder-c"), {});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::kLeaseHeld);
}

TEST_P(SourceContract, ALostLeaseIsNotRenewedEvenIfNobodyTookIt) {
  const auto lost = key("lost");
  const Source a = open();
  const Grant old = must_acquire(*a, short_order(lost));
  wait_until_free(*open(), lost, 5 * shortest_ttl() + kLong);
  const auto renewal = a->renew(old, {});
  ASSERT_FALSE(renewal);
  EXPECT_EQ(renewal.error().kind, ErrorKind::kLeaseEnded) << renewal.error().detail;
  const auto held = open()->show(lost);
  ASSERT_TRUE(held);
  EXPECT_FALSE(held->has_value()) << "the refused renewal revived it";
  EXPECT_GT(must_acquire(*a, waiting(order(lost))).token, old.token);
}

TEST_P(SourceContract, RenewalKeepsIt) {
  const auto kept = key("kept");
  const Source a = open();
  const Source b = open();
  Grant grant = must_acquire(*a, short_order(kept));
  const base::Token token = grant.token;
  const auto end = now() + 3 * shortest_ttl();
  while (now() < end) {
    const auto last_until = grant.valid_until;
    let_pass(shortest_ttl() / 4);
    auto renewed = a->renew(grant, {});
    ASSERT_TRUE(renewed) << renewed.error().detail;
    EXPECT_GT(renewed->valid_until, last_until);
    EXPECT_LE(renewed->valid_until, now() + shortest_ttl());
    EXPECT_EQ(renewed->token, token);
    grant = *renewed;
    const auto other = b->acquire(order(kept, "holder-b"), {});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::kLeaseHeld);
  }
  EXPECT_TRUE(a->release(grant));
}

TEST_P(SourceContract, ASecondReleaseIsRefused) {
  const Source a = open();
  const Grant grant = must_acquire(*a, order(key("released")));
  ASSERT_TRUE(a->release(grant));
  const auto again = a->release(grant);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kLeaseEnded) << again.error().detail;
  const auto renewal = a->renew(grant, {});
  ASSERT_FALSE(renewal);
  EXPECT_EQ(renewal.error().kind, ErrorKind::kLeaseEnded);
}

TEST_P(SourceContract, AnyKeyCanBeLocked) {
  const Source source = open();
  const std::string unique = key("any").text();
  std::vector<std::string> names = {unique + "/a//b/./../c/", "/" + unique,
                                    unique + "/Zürich/日本/🔒", unique + "/a b%2Fc?d=e&f#g*'\"\\{}",
                                    unique + "/"};
  names.push_back(unique + std::string(base::FenceKey::kMaxBytes - unique.size(), 'x'));
  std::vector<Grant> grants;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto parsed = base::FenceKey::parse(name).value();
    const auto grant = source->acquire(order(parsed), {});
    ASSERT_TRUE(grant) << grant.error().detail;
    const auto held = source->show(parsed);
    ASSERT_TRUE(held) << held.error().detail;
    EXPECT_TRUE(held->has_value());
    grants.push_back(*grant);
  }
  for (const Grant& grant : grants) {
    EXPECT_TRUE(source->renew(grant, {})) << grant.keys.front().text();
    EXPECT_TRUE(source->release(grant)) << grant.keys.front().text();
  }
}

TEST_P(SourceContract, SeveralKeysAreOneLeaseOrRefused) {
  const Source a = open();
  const Source b = open();
  LeaseOrder both = order(key("several"));
  both.keys.push_back(key("several"));
  std::ranges::sort(both.keys);
  const auto grant = a->acquire(both, {});
  if (!grant) {
    EXPECT_EQ(grant.error().kind, ErrorKind::kMalformedRequest) << grant.error().detail;
    EXPECT_TRUE(is_free_for_others(both.keys[0], Milliseconds(0)));
    return;
  }
  EXPECT_EQ(grant->keys, both.keys);
  for (const auto& each : both.keys) {
    EXPECT_EQ(b->acquire(order(each, "holder-b"), {}).error().kind, ErrorKind::kLeaseHeld);
  }
  EXPECT_TRUE(a->release(*grant));
  for (const auto& each : both.keys) {
    EXPECT_GT(must_acquire(*b, order(each, "holder-b")).token, grant->token);
  }
}

TEST_P(SourceContract, WhatCannotBeALeaseIsRefused) {
  const Source source = open();
  const auto refused = key("refused");
  for (const Milliseconds ttl : {Milliseconds(0), Milliseconds(-1), Milliseconds::max()}) {
    LeaseOrder wrong = order(refused);
    wrong.ttl = ttl;
    const auto grant = source->acquire(wrong, {});
    ASSERT_FALSE(grant) << ttl.count();
    EXPECT_EQ(grant.error().kind, ErrorKind::kMalformedRequest) << grant.error().detail;
  }
  EXPECT_TRUE(is_free_for_others(refused, Milliseconds(0)));
}

}  // namespace
}  // namespace fenceline::testing
