// The ledger fails, or the server dies, at the worst moment.

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "fencing/sqlite_ledger.h"
#include "tests/fencing/lease/lessor_fixture.h"
#include "tests/support/lease_calls.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;
using base::Token;
using fencing::EndOrder;
using fencing::GrantOrder;
using fencing::LeaseStore;

/// Stands between lessor and ledger: holds calls back, or refuses them.
class FaultyStore final : public LeaseStore {
 public:
  explicit FaultyStore(std::unique_ptr<fencing::Ledger>& ledger) : ledger_(ledger) {}

  void grant(GrantOrder order, base::Done<base::Result<Token>> done) override {
    carry_out([this, order = std::move(order), done] { ledger_->grant(order, done); }, done);
  }
  void end_leases(EndOrder order, base::Done<base::Result<Token>> done) override {
    carry_out([this, order = std::move(order), done] { ledger_->end_leases(order, done); }, done);
  }
  void change_ttl(std::string id, base::Milliseconds ttl,
                  base::Done<base::Result<void>> done) override {
    carry_out([this, id = std::move(id), ttl, done] { ledger_->change_ttl(id, ttl, done); }, done);
  }
  void list_leases(base::Done<base::Result<fencing::LeaseRecords>> done) override {
    ledger_->list_leases(std::move(done));
  }

  /// Carries out what was held back.
  void let_go() {
    holds = false;
    while (!held_.empty()) {
      const auto call = std::move(held_.front());
      held_.pop_front();
      call();
    }
  }

  bool fails = false;
  bool holds = false;
  int calls = 0;

 private:
  template <typename Call, typename Done>
  void carry_out(Call call, const Done& done) {
    ++calls;
    if (fails) {
      done(base::fail(ErrorKind::kLedgerUnavailable, "the disk is full, says the test"));
    } else if (holds) {
      held_.push_back(std::move(call));
    } else {
      call();
    }
  }

  std::unique_ptr<fencing::Ledger>& ledger_;
  std::deque<std::function<void()>> held_;
};

class LessorFailureTest : public LessorTest {
 protected:
  LessorFailureTest() {
    faulty_ = true;
    open();
  }
  LeaseStore& store() override {
    return faulty_ ? static_cast<LeaseStore&>(store_) : LessorTest::store();
  }

  bool faulty_ = false;
  FaultyStore store_{ledger_};
};

TEST_F(LessorFailureTest, WithAFullDiskNoTokenIsGivenAndTheKeyIsFreeAgain) {
  store_.fails = true;
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kLedgerUnavailable);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  store_.fails = false;
  EXPECT_EQ(acquire("a", "w1", "r1").value().lease.token, Token::of(1));
}

TEST_F(LessorFailureTest, BetweenTheTurnAndTheCommitTheKeyIsTaken) {
  store_.holds = true;
  const auto first = acquire("a", "w1", "r1");
  const auto refused = acquire("a", "w2", "r2");
  ASSERT_EQ(refused.kind(), ErrorKind::kLeaseHeld);
  EXPECT_NE(refused.error().detail.find("just being granted"), std::string::npos);
  const auto waiting = acquire("a", "w3", "r3", 60s);
  EXPECT_EQ(lessor_->show(key_of("a"))->waiting, 2U);
  store_.let_go();
  EXPECT_TRUE(first.ok());
  EXPECT_FALSE(waiting.there());
}

TEST_F(LessorFailureTest, EveryWaiterIsToldThatTheLedgerFails) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  std::vector<LeaseAnswer> waiting;
  for (int i = 1; i <= 1000; ++i) {
    waiting.push_back(acquire("a", "w", "r" + std::to_string(i), 60s));
  }
  store_.fails = true;
  EXPECT_EQ(release(held).kind(), ErrorKind::kLedgerUnavailable);
  for (const LeaseAnswer& answer : waiting) {
    EXPECT_EQ(answer.kind(), ErrorKind::kLedgerUnavailable);
  }
}

TEST_F(LessorFailureTest, AReleaseThatIsNotStoredIsStoredLaterAndNeverInTheWay) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  store_.fails = true;
  EXPECT_EQ(release(lease).kind(), ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded) << "it has ended for its holder";
  store_.fails = false;
  EXPECT_TRUE(acquire("a", "w2", "r2").ok()) << "the grant drops what stands in its way";
  EXPECT_EQ(leases_now(*ledger_).value().leases.size(), 1U);
  // Nothing is left to be tried again: whoever keeps time is not called for ever.
  pass(2s);
  EXPECT_GT(*lessor_->run_due(), clock_.now());
}

TEST_F(LessorFailureTest, AnEndThatWasNotStoredIsTriedAgainAfterASecond) {
  acquire("a", "w1", "r1", 0s, 5s);
  store_.fails = true;
  pass(10s);
  EXPECT_EQ(leases_now(*ledger_).value().leases.size(), 1U);
  const int calls = store_.calls;
  pass(500ms);
  EXPECT_EQ(store_.calls, calls) << "not at every occasion";
  store_.fails = false;
  EXPECT_EQ(lessor_->run_due(), clock_.now() + 500ms);
  pass(500ms);
  EXPECT_TRUE(leases_now(*ledger_).value().leases.empty());
  EXPECT_EQ(leases_now(*ledger_).value().delays.size(), 1U);
}

TEST_F(LessorFailureTest, ATtlThatIsNotStoredIsNotPromised) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  store_.fails = true;
  EXPECT_EQ(renew(lease, 60s).kind(), ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(lessor_->show(key_of("a"))->held->lease.ttl, 10s);
  EXPECT_TRUE(renew(lease).ok()) << "the present one needs no ledger";
}

TEST_F(LessorFailureTest, ARevokeThatIsNotStoredChangesNothing) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  store_.fails = true;
  EXPECT_EQ(revoke("a").kind(), ErrorKind::kLedgerUnavailable);
  EXPECT_TRUE(renew(lease).ok());
  store_.fails = false;
  EXPECT_TRUE(revoke("a").ok());
}

TEST_F(LessorFailureTest, ALeaseThatExpiresWhileItIsRevokedEndsOnce) {
  acquire("a", "w1", "r1");
  store_.holds = true;
  const auto revoked = revoke("a");
  pass(10s);
  const auto next = acquire("a", "w2", "r2");
  store_.let_go();
  EXPECT_TRUE(revoked.ok());
  ASSERT_TRUE(next.ok());
  EXPECT_GT(next.value().lease.token, revoked.value().token);
  EXPECT_EQ(events_, (std::vector<std::string>{"granted r1", "expired r1", "granted r2"}));
}

TEST_F(LessorFailureTest, ALeaseThatIsReleasedWhileItIsRevokedLeavesNoLockDelay) {
  const auto lease = acquire("a", "w1", "r1", 0s, 5s).value().lease;
  store_.holds = true;
  const auto revoked = revoke("a");
  const auto released = release(lease);
  store_.let_go();
  EXPECT_TRUE(revoked.ok());
  EXPECT_TRUE(released.ok());
  EXPECT_TRUE(leases_now(*ledger_).value().delays.empty());
  EXPECT_TRUE(acquire("a", "w2", "r2").ok());
}

TEST_F(LessorFailureTest, ACancelDuringTheCommitReleasesWhatItGives) {
  store_.holds = true;
  const auto gone = acquire("a", "w1", "r1");
  lessor_->cancel(attempt_);
  const auto waiting = acquire("a", "w2", "r2", 60s);
  store_.let_go();
  EXPECT_EQ(gone.kind(), ErrorKind::kClientGone);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(leases_now(*ledger_).value().leases.size(), 1U);
}

/// The ledger on disk, which is opened again as after a crash: nobody has closed the lessor.
class LessorCrashTest : public LessorTest {
 protected:
  LessorCrashTest() {
    ledger_ = open_ledger();
    gate_ = std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{});
    open();
  }
  ~LessorCrashTest() override {
    lessor_->close();
    ledger_.reset();
  }

  std::unique_ptr<fencing::Ledger> open_ledger() {
    fencing::SqliteLedgerOptions options;
    options.path = folder_.at("ledger.db");
    return std::move(fencing::open_sqlite_ledger(std::move(options)).value());
  }

  base::Result<fencing::LeaseView> acquired(const fencing::AcquireOrder& order) {
    const auto answer = std::make_shared<Arrivals<base::Result<fencing::LeaseView>>>();
    lessor_->acquire(order, [answer](auto result) { answer->add(std::move(result)); });
    return answer->wait_for(1).front();
  }

  /// The server ends without a word and starts again.
  void restart() {
    lessor_->close();
    ledger_.reset();
    lessor_.reset();
    ledger_ = open_ledger();
    gate_ = std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{});
    open();
  }

  TempFolder folder_;
};

TEST_F(LessorCrashTest, ARetryAfterACrashBetweenCommitAndReplyGetsTheToken) {
  // The commit, and nobody was told.
  auto committed = lease_of(std::string(32, 'c'), {"a"}, "w1");
  committed.request_id = "r1";
  const Token token = grant_now(*ledger_, {committed, {}, {}, {}}).value();
  restart();
  const auto again = acquired(order_for("a", "w1", "r1"));
  ASSERT_TRUE(again.has_value()) << again.error().detail;
  EXPECT_EQ(again->lease.token, token);
  EXPECT_EQ(again->lease.id, committed.id);
  EXPECT_EQ(again->left, 10s);
  EXPECT_EQ(acquired(order_for("a", "w2", "r2")).error().kind, ErrorKind::kLeaseHeld);
}

TEST_F(LessorCrashTest, LeasesMarksAndTokensSurviveOneAfterTheOther) {
  Token last;
  for (int i = 0; i < 5; ++i) {
    const auto view = acquired(order_for("a", "w", "r" + std::to_string(i)));
    ASSERT_TRUE(view.has_value()) << view.error().detail;
    EXPECT_GT(view->lease.token, last);
    last = view->lease.token;
    restart();
    EXPECT_EQ(lessor_->show(key_of("a"))->held->lease, view->lease);
    EXPECT_EQ(find_now(*ledger_, "a").value(), mark_of(last.value(), "w"));
    pass(10s);
  }
}

}  // namespace
}  // namespace fenceline::testing
