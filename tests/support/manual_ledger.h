#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fencing/ledger.h"

namespace fenceline::testing {

/// A ledger whose calls wait until the test answers them, so that a test can stand between
/// "announced" and "durable". Keeps marks like a real one.
class ManualLedger final : public fencing::Ledger {
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

  [[nodiscard]] std::string identity() const override { return std::string(32, 'e'); }

  /// Carries out and answers the oldest waiting call.
  void answer() {
    Call call = take();
    fencing::Mark& stored = marks[call.key];
    if (call.kind == Kind::kRaise) {
      stored = fencing::merged(stored, call.offered);
    }
    call.done(fencing::Mark(stored));
  }

  /// Answers the oldest waiting call with an error and changes nothing.
  void refuse() {
    take().done(base::fail(base::ErrorKind::kLedgerUnavailable, "refused by the test"));
  }

  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

  std::map<std::string, fencing::Mark> marks;
  bool answer_finds = true;  ///< Answer `find` inside the call.

 private:
  enum class Kind { kRaise, kFind };
  struct Call {
    Kind kind;
    std::string key;
    fencing::Mark offered;
    base::Done<base::Result<fencing::Mark>> done;
  };

  Call take() {
    Call call = std::move(calls_.at(0));
    calls_.pop_front();
    return call;
  }

  std::deque<Call> calls_;
};

}  // namespace fenceline::testing
