#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fencing/ledger.h"
#include "tests/support/no_leases.h"

namespace fenceline::testing {

/// A ledger whose calls wait until the test answers them, so that a test can stand between
/// "announced" and "durable". Keeps marks like a real one.
class ManualLedger final : public NoLeases {
 public:
  void raise(const base::FenceKey& key, const fencing::Mark& offered,
             base::Done<base::Result<fencing::Mark>> done) override {
    calls_.push_back({Kind::kRaise, key.text(), offered, std::move(done)});
  }

  void find(const base::FenceKey& key, base::Done<base::Result<fencing::Mark>> done) override {
    calls_.push_back({Kind::kFind, key.text(), {}, std::move(done)});
    if (answer_finds) {
      answer();
    }
  }

  void scan(std::string, std::string, std::size_t,
            base::Done<base::Result<std::vector<fencing::KeyedMark>>> done) override {
    done(std::vector<fencing::KeyedMark>());
  }

  void reset(const base::FenceKey& key, const fencing::ResetOrder& order,
             base::Done<base::Result<fencing::ResetOutcome>> done) override {
    Call call{Kind::kReset, key.text(), {}, {}};
    call.order = order;
    call.reset_done = std::move(done);
    calls_.push_back(std::move(call));
  }

  void resets(const base::FenceKey&, std::size_t,
              base::Done<base::Result<std::vector<fencing::ResetRecord>>> done) override {
    done(std::vector<fencing::ResetRecord>());
  }

  void put_intent(fencing::Intent put, std::vector<fencing::Intent> drop,
                  base::Done<base::Result<void>> done) override {
    Call call{Kind::kIntents, put.key, {}, {}};
    call.put = std::move(put);
    call.drop = std::move(drop);
    call.intents_done = std::move(done);
    calls_.push_back(std::move(call));
  }

  void drop_intents(std::vector<fencing::Intent> drop,
                    base::Done<base::Result<void>> done) override {
    Call call{Kind::kIntents, {}, {}, {}};
    call.drop = std::move(drop);
    call.intents_done = std::move(done);
    calls_.push_back(std::move(call));
  }

  void list_intents(base::Done<base::Result<std::vector<fencing::Intent>>> done) override {
    if (!readable) {
      done(base::fail(base::ErrorKind::kLedgerUnavailable, "refused by the test"));
      return;
    }
    done(std::vector<fencing::Intent>(intents.begin(), intents.end()));
  }

  [[nodiscard]] std::string identity() const override { return std::string(32, 'e'); }

  /// Carries out and answers the oldest waiting call.
  void answer() {
    Call call = take();
    if (call.kind == Kind::kIntents) {
      change_intents(call);
      call.intents_done({});
      return;
    }
    fencing::Mark& stored = marks[call.key];
    if (call.kind == Kind::kReset) {
      const fencing::ResetOutcome outcome = fencing::reset_mark(stored, call.order);
      stored = outcome.after;
      call.reset_done(outcome);
      return;
    }
    if (call.kind == Kind::kRaise) {
      stored = fencing::merged(stored, call.offered);
    }
    call.done(fencing::Mark(stored));
  }

  /// Answers the oldest waiting call with an error and changes nothing.
  void refuse() {
    Call call = take();
    const auto refusal = base::fail(base::ErrorKind::kLedgerUnavailable, "refused by the test");
    if (call.kind == Kind::kReset) {
      call.reset_done(refusal);
    } else if (call.kind == Kind::kIntents) {
      call.intents_done(refusal);
    } else {
      call.done(refusal);
    }
  }

  /// Carries out the oldest waiting call, a reset, and answers that it is in doubt.
  void answer_in_doubt() {
    Call call = take();
    fencing::Mark& stored = marks[call.key];
    stored = fencing::reset_mark(stored, call.order).after;
    call.reset_done(base::fail(base::ErrorKind::kLedgerUnavailable, "in doubt, says the test",
                               base::Applied::kUnknown));
  }

  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

  std::map<std::string, fencing::Mark> marks;
  std::set<fencing::Intent> intents;  ///< On record.
  bool answer_finds = true;           ///< Answer `find` inside the call.
  bool readable = true;               ///< `list_intents` succeeds.

 private:
  enum class Kind { kRaise, kFind, kReset, kIntents };
  struct Call {
    Kind kind;
    std::string key;
    fencing::Mark offered;
    base::Done<base::Result<fencing::Mark>> done;
    fencing::ResetOrder order{};
    base::Done<base::Result<fencing::ResetOutcome>> reset_done{};
    std::optional<fencing::Intent> put{};
    std::vector<fencing::Intent> drop{};
    base::Done<base::Result<void>> intents_done{};
  };

  void change_intents(const Call& call) {
    for (const fencing::Intent& intent : call.drop) {
      intents.erase(intent);
    }
    if (call.put) {
      intents.insert(*call.put);
    }
  }

  Call take() {
    Call call = std::move(calls_.at(0));
    calls_.pop_front();
    return call;
  }

  std::deque<Call> calls_;
};

}  // namespace fenceline::testing
