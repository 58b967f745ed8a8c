// What every ledger must do with leases (fencing/lease/lease_store.h).

#include <atomic>
#include <string>
#include <vector>

#include "fencing/lease/lease_change.h"
#include "tests/contract/ledger_contract.h"
#include "tests/support/lease_calls.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using base::Token;
using fencing::EndOrder;
using fencing::GrantOrder;
using fencing::Lease;
using fencing::LockDelay;
using std::chrono::seconds;
using Leases = std::vector<Lease>;
using Delays = std::vector<LockDelay>;

GrantOrder order_of(const Lease& lease, std::vector<std::string> ended = {},
                    std::vector<base::FenceKey> delays_over = {}) {
  return {lease, std::move(ended), std::move(delays_over), {}};
}

EndOrder end_of(std::vector<std::string> ids) { return {std::move(ids), {}, {}, {}, {}}; }

LockDelay delay_of(const std::string& key, int of_seconds) {
  return {key_of(key), seconds(of_seconds)};
}

}  // namespace

TEST_P(LedgerContract, AGrantTakesTheFirstTokenStoresTheLeaseAndRaisesTheMark) {
  const Lease lease = lease_of("1", {"a"});
  EXPECT_EQ(grant_now(ledger(), order_of(lease)).value(), Token::of(1));
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{with_token(lease, 1)});
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(1, "worker-1")) << "bound to its holder";
}

TEST_P(LedgerContract, TokensOfLeasesRiseOverAllKeysAndStayAboveEveryMarkOfTheirs) {
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("1", {"a"}))).value(), Token::of(1));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"b"}))).value(), Token::of(2));
  raise_now(ledger(), "c", mark_of(40, "elsewhere")).value();
  raise_now(ledger(), "d", mark_of(70)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("3", {"c", "d"}))).value(), Token::of(71));
  EXPECT_EQ(find_now(ledger(), "c").value(), mark_of(71, "worker-1"));
  EXPECT_EQ(find_now(ledger(), "d").value(), mark_of(71, "worker-1"));
  raise_now(ledger(), "elsewhere", mark_of(500)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("4", {"e"}))).value(), Token::of(72))
      << "marks of other keys do not matter";
}

TEST_P(LedgerContract, ATokenDoesNotGoBackWithTheMarkOfItsKey) {
  raise_now(ledger(), "a", mark_of(40)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("1", {"a"}))).value(), Token::of(41));
  reset_now(ledger(), "a", order_to(3)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"a"}), {"1"})).value(), Token::of(42));
}

TEST_P(LedgerContract, AGrantDropsWhatStandsInItsWay) {
  EndOrder delays;
  delays.delays = {delay_of("a", 5), delay_of("b", 6)};
  end_now(ledger(), delays).value();
  grant_now(ledger(), order_of(lease_of("1", {"c"}))).value();
  grant_now(ledger(), order_of(lease_of("2", {"d"}))).value();
  const Lease next = lease_of("3", {"a", "c"});
  EXPECT_EQ(grant_now(ledger(), order_of(next, {"1", "never"}, {key_of("a")})).value(),
            Token::of(3));
  const auto records = leases_now(ledger()).value();
  EXPECT_EQ(records.leases, (Leases{with_token(lease_of("2", {"d"}), 2), with_token(next, 3)}));
  EXPECT_EQ(records.delays, Delays{delay_of("b", 6)});
}

TEST_P(LedgerContract, ALeaseThatIsGrantedAnewHasOneNewToken) {
  grant_now(ledger(), order_of(lease_of("1", {"a", "b"}))).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("1", {"a", "b"}), {"1"})).value(), Token::of(2));
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{with_token(lease_of("1", {"a", "b"}), 2)});
}

TEST_P(LedgerContract, AKeyOrIdIsNeverGivenToTwoLeases) {
  const Lease held = lease_of("1", {"a"});
  grant_now(ledger(), order_of(held)).value();
  for (const Lease& other : {lease_of("2", {"a", "b"}), lease_of("1", {"c"})}) {
    const auto refused = grant_now(ledger(), order_of(other));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kInternal);
  }
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{with_token(held, 1)});
  EXPECT_EQ(find_now(ledger(), "b").value(), fencing::Mark{});
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("3", {"z"}))).value(), Token::of(2))
      << "and the ledger goes on";
}

TEST_P(LedgerContract, LeasesEndAllTogetherAndTwiceIsAsOnce) {
  for (const char* id : {"1", "2", "3"}) {
    grant_now(ledger(), order_of(lease_of(id, {std::string("k") + id}))).value();
  }
  EndOrder order = end_of({"1", "3", "never"});
  order.delays = {delay_of("k1", 5)};
  EXPECT_EQ(end_now(ledger(), order).value(), Token()) << "no token is taken";
  order.delays = {delay_of("k1", 7)};
  end_now(ledger(), order).value();
  const auto records = leases_now(ledger()).value();
  EXPECT_EQ(records.leases, Leases{with_token(lease_of("2", {"k2"}), 2)});
  EXPECT_EQ(records.delays, Delays{delay_of("k1", 7)}) << "replaced";
  EXPECT_EQ(find_now(ledger(), "k1").value(), mark_of(1, "worker-1")) << "marks stay";
  EndOrder over;
  over.delays_over = {key_of("k1"), key_of("never")};
  end_now(ledger(), over).value();
  EXPECT_EQ(leases_now(ledger()).value().delays, Delays{});
}

TEST_P(LedgerContract, ARevokeFencesTheKeysInTheSameCommit) {
  grant_now(ledger(), order_of(lease_of("1", {"a", "b"}))).value();
  raise_now(ledger(), "b", mark_of(30, "other")).value();
  EndOrder order = end_of({"1"});
  order.fenced = {key_of("a"), key_of("b")};
  EXPECT_EQ(end_now(ledger(), order).value(), Token::of(31));
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{});
  EXPECT_EQ(find_now(ledger(), "a").value(), mark_of(31)) << "nobody is bound to it";
  EXPECT_EQ(find_now(ledger(), "b").value(), mark_of(31));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"c"}))).value(), Token::of(32));
}

TEST_P(LedgerContract, ATokenIsAboveWhatWasPresentedButIsNotStoredYet) {
  GrantOrder grant = order_of(lease_of("1", {"a"}));
  grant.above = Token::of(40);
  EXPECT_EQ(grant_now(ledger(), grant).value(), Token::of(41));
  EndOrder revoke = end_of({"1"});
  revoke.fenced = {key_of("a")};
  revoke.above = Token::of(50);
  EXPECT_EQ(end_now(ledger(), revoke).value(), Token::of(51));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"b"}))).value(), Token::of(52));
}

TEST_P(LedgerContract, ATtlIsChangedWhereThereIsALease) {
  grant_now(ledger(), order_of(lease_of("1", {"a"}))).value();
  EXPECT_TRUE(change_ttl_now(ledger(), "1", seconds(60)));
  EXPECT_TRUE(change_ttl_now(ledger(), "never", seconds(60)));
  Lease changed = with_token(lease_of("1", {"a"}), 1);
  changed.ttl = seconds(60);
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{changed});
}

TEST_P(LedgerContract, WhereTheTokensEndNothingIsGranted) {
  raise_now(ledger(), "a", mark_of(Token::kMax - 1)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("1", {"a"}))).value(), Token::of(Token::kMax));
  const auto refused = grant_now(ledger(), order_of(lease_of("2", {"a"}), {"1"}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kConstraintFailed);
  EndOrder revoke = end_of({"1"});
  revoke.fenced = {key_of("a")};
  EXPECT_FALSE(end_now(ledger(), revoke).has_value());
  EXPECT_EQ(leases_now(ledger()).value().leases.size(), 1U) << "all or nothing";
  EXPECT_TRUE(end_now(ledger(), end_of({"1"})).has_value());
}

TEST_P(LedgerContract, AMarkThatSomebodyMadeUpEndsOnlyTheTokensOfItsOwnKey) {
  grant_now(ledger(), order_of(lease_of("1", {"a"}))).value();
  raise_now(ledger(), "bad", mark_of(Token::kMax - 1)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"bad"}))).value(), Token::of(Token::kMax));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("3", {"b"}))).value(), Token::of(2));
  EndOrder revoke = end_of({"3"});
  revoke.fenced = {key_of("b")};
  revoke.above = Token::of(Token::kMax - 1);
  EXPECT_EQ(end_now(ledger(), revoke).value(), Token::of(Token::kMax));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("4", {"c"}))).value(), Token::of(3));
  EXPECT_FALSE(grant_now(ledger(), order_of(lease_of("5", {"bad"}), {"2"})).has_value());
  // As the refusal says.
  reset_now(ledger(), "bad", order_to(40)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("5", {"bad"}), {"2"})).value(), Token::of(41));
}

TEST_P(LedgerContract, AResetKeyHasTokensAlsoAfterARestart) {
  raise_now(ledger(), "bad", mark_of(Token::kMax - 1)).value();
  grant_now(ledger(), order_of(lease_of("1", {"bad"}))).value();
  reset_now(ledger(), "bad", order_to(40)).value();
  reopen();
  const auto token = grant_now(ledger(), order_of(lease_of("2", {"bad"}), {"1"})).value();
  EXPECT_EQ(token, Token::of(GetParam().durable ? 41 : 1));
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("3", {"b"}))).value(),
            Token::of(token.value() + 1));
}

TEST_P(LedgerContract, TheSequenceRemembersTokensUpToItsBound) {
  constexpr std::int64_t kBound = fencing::kHighestRemembered;
  raise_now(ledger(), "a", mark_of(kBound - 1)).value();
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("1", {"a"}))).value(), Token::of(kBound));
  for (const char* key : {"b", "c"}) {
    EXPECT_EQ(grant_now(ledger(), order_of(lease_of(key, {key}))).value(), Token::of(kBound + 1));
  }
  EXPECT_EQ(grant_now(ledger(), order_of(lease_of("2", {"b"}), {"b"})).value(),
            Token::of(kBound + 2))
      << "above the mark of its own key as ever";
}

TEST_P(LedgerContract, LeasesAreListedByIdAndLockDelaysByKey) {
  for (const char* id : {"3", "10", "2"}) {
    grant_now(ledger(), order_of(lease_of(id, {std::string("k") + id}))).value();
  }
  EndOrder order;
  order.delays = {delay_of("\xF4\x8F\xBF\xBF", 1), delay_of("b", 2), delay_of("B", 3)};
  end_now(ledger(), order).value();
  const auto records = leases_now(ledger()).value();
  ASSERT_EQ(records.leases.size(), 3U);
  EXPECT_EQ(records.leases[0].id, "10");
  EXPECT_EQ(records.leases[1].id, "2");
  EXPECT_EQ(records.leases[2].id, "3");
  EXPECT_EQ(records.delays,
            (Delays{delay_of("B", 3), delay_of("b", 2), delay_of("\xF4\x8F\xBF\xBF", 1)}));
}

TEST_P(LedgerContract, ADurableLedgerKeepsItsLeasesWhenReopened) {
  std::vector<std::string> keys;
  for (int i = 0; i < 64; ++i) {
    keys.push_back("many/" + std::to_string(100 + i));
  }
  keys.back() = "\xF0\x9F\x94\x92" + std::string(base::FenceKey::kMaxBytes - 4, 'k');
  Lease many = lease_of(std::string(32, 'f'), keys, std::string(256, '~'));
  many.request_id = std::string(128, '!');
  many.ttl = base::Milliseconds(86'400'000);
  many.lock_delay = base::Milliseconds(1);
  grant_now(ledger(), order_of(many)).value();
  grant_now(ledger(), order_of(lease_of("gone", {"gone"}))).value();
  EndOrder order = end_of({"gone"});
  order.delays = {delay_of("gone", 60)};
  end_now(ledger(), order).value();
  reopen();
  const auto records = leases_now(ledger()).value();
  const auto next = grant_now(ledger(), order_of(lease_of("next", {"next"}))).value();
  if (GetParam().durable) {
    EXPECT_EQ(records.leases, Leases{with_token(many, 1)});
    EXPECT_EQ(records.delays, Delays{delay_of("gone", 60)});
    EXPECT_EQ(next, Token::of(3)) << "the sequence too";
    EXPECT_EQ(find_now(ledger(), keys.back()).value(), mark_of(1, many.holder));
  } else {
    EXPECT_TRUE(records.leases.empty());
  }
}

TEST_P(LedgerContract, ChangesOfLeasesTakeEffectInTheirOrder) {
  constexpr int kRounds = 50;
  Arrivals<bool> answers;
  const auto count = [&answers](const auto& result) { answers.add(result.has_value()); };
  for (int i = 0; i < kRounds; ++i) {
    const std::string id = std::to_string(i);
    ledger().grant(order_of(lease_of(id, {"a"})), count);
    ledger().change_ttl(id, seconds(i + 1), count);
    ledger().end_leases(end_of({id}), count);
  }
  ledger().grant(order_of(lease_of("last", {"a"})), count);
  ledger().change_ttl("last", seconds(20), count);
  ledger().change_ttl("last", seconds(30), count);
  for (const bool done : answers.wait_for(3 * kRounds + 3)) {
    EXPECT_TRUE(done);
  }
  Lease last = with_token(lease_of("last", {"a"}), kRounds + 1);
  last.ttl = seconds(30);
  EXPECT_EQ(leases_now(ledger()).value().leases, Leases{last});
}

TEST_P(LedgerContract, AGrantIsAboveEveryRaiseThatWasAnsweredBefore) {
  std::int64_t offered = 0;
  for (int i = 0; i < 50; ++i) {
    offered += 7;
    const auto mark = raise_now(ledger(), "a", mark_of(offered)).value();
    // Others are raised in the same commits.
    ledger().raise(key_of("b"), mark_of(offered), [](const auto&) {});
    const auto token =
        grant_now(ledger(), order_of(lease_of(std::to_string(i), {"a"}), {std::to_string(i - 1)}))
            .value();
    EXPECT_GT(token, mark.token);
    offered = token.value();
    EXPECT_EQ(raise_now(ledger(), "a", mark_of(offered - 1)).value(), mark_of(offered, "worker-1"))
        << "and no older one comes back";
  }
}

TEST_P(LedgerContract, DestroyedWithLeasesPendingItAnswersEachOnce) {
  constexpr std::size_t kCalls = 200;
  std::vector<std::atomic<int>> called(kCalls);
  std::atomic<std::size_t> granted = 0;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const std::string id = std::to_string(i);
    ledger().grant(order_of(lease_of(id, {"k" + id})), [&, i](const auto& token) {
      ++called[i];
      granted += token.has_value() ? 1U : 0U;
      if (!token) {
        EXPECT_EQ(token.error().kind, base::ErrorKind::kShuttingDown);
      }
    });
  }
  ledger_.reset();
  for (std::size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(called[i].load(), 1) << "call " << i;
  }
  if (GetParam().durable) {
    reopen();
    EXPECT_EQ(leases_now(ledger()).value().leases.size(), granted.load());
  }
}

}  // namespace fenceline::testing
