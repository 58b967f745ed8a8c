#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fencing/gate.h"
#include "fencing/lease/lessor.h"
#include "fencing/ledger.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/manual_clock.h"

namespace fenceline::testing {

using base::ErrorKind;
using base::Milliseconds;
using std::chrono::seconds;

/// The answer to one call, once it is there.
template <typename T>
class AnswerBox {
 public:
  /// The callback to hand over; it may outlive the box.
  base::Done<base::Result<T>> done() {
    return [state = state_](base::Result<T> result) {
      EXPECT_FALSE(state->has_value()) << "answered twice";
      state->emplace(std::move(result));
    };
  }
  [[nodiscard]] bool there() const { return state_->has_value(); }
  [[nodiscard]] bool ok() const { return there() && (*state_)->has_value(); }
  [[nodiscard]] decltype(auto) value() const { return std::as_const(*state_)->value(); }
  [[nodiscard]] const base::Error& error() const { return state_->value().error(); }
  /// The kind of the error; nothing if there is no answer, or a success.
  [[nodiscard]] std::optional<ErrorKind> kind() const {
    return there() && !ok() ? std::optional(error().kind) : std::nullopt;
  }

 private:
  std::shared_ptr<std::optional<base::Result<T>>> state_ =
      std::make_shared<std::optional<base::Result<T>>>();
};

using LeaseAnswer = AnswerBox<fencing::LeaseView>;

inline fencing::AcquireOrder order_for(const std::string& key, const std::string& holder,
                                       const std::string& request_id, Milliseconds wait = {},
                                       Milliseconds lock_delay = {}) {
  fencing::AcquireOrder order;
  order.keys = {key_of(key)};
  order.holder = holder;
  order.request_id = request_id;
  order.ttl = seconds(10);
  order.wait = wait;
  order.lock_delay = lock_delay;
  return order;
}

/// A lessor over a ledger in memory and the real gate, with a clock that the test moves. Everything
/// is answered inside the calls, unless somebody is inside the gate.
class LessorTest : public ::testing::Test {
 protected:
  LessorTest() { open(); }

  ~LessorTest() override {
    lessor_->close();
    lessor_.reset();
  }

  /// The lessor, anew, as a restart of the server makes it.
  void open(const fencing::LeaseLimits& limits = {}) {
    if (lessor_) {
      lessor_->close();
      lessor_.reset();
      gate_ = std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{});
    }
    fencing::LessorParts parts{.store = store(), .gate = *gate_, .clock = clock_, .make_id = {}};
    parts.make_id = [this] {
      std::string id = std::to_string(++ids_);
      return std::string(32 - id.size(), '0') + id;
    };
    parts.due_sooner = [this] { ++due_sooner_; };
    parts.events.granted = [this](const fencing::Lease& lease, Milliseconds) {
      events_.push_back("granted " + lease.request_id);
    };
    parts.events.ended = [this](const fencing::Lease& lease, fencing::LeaseEvents::End how) {
      static constexpr const char* kHow[] = {"released ", "expired ", "revoked "};
      events_.push_back(kHow[static_cast<int>(how)] + lease.request_id);
    };
    lessor_ = std::move(fencing::open_lessor(std::move(parts), limits).value());
  }

  /// What the lessor stores in; the ledger itself, unless a test stands between.
  virtual fencing::LeaseStore& store() { return *ledger_; }

  LeaseAnswer acquire(fencing::AcquireOrder order) {
    LeaseAnswer answer;
    attempt_ = lessor_->acquire(std::move(order), answer.done());
    return answer;
  }

  LeaseAnswer acquire(const std::string& key, const std::string& holder,
                      const std::string& request_id, Milliseconds wait = {},
                      Milliseconds lock_delay = {}) {
    return acquire(order_for(key, holder, request_id, wait, lock_delay));
  }

  LeaseAnswer renew(const fencing::Lease& lease, std::optional<Milliseconds> ttl = {}) {
    LeaseAnswer answer;
    lessor_->renew(lease.keys.front(), lease.id, ttl, answer.done());
    return answer;
  }

  AnswerBox<void> release(const std::string& key, const std::string& id) {
    AnswerBox<void> answer;
    lessor_->release(key_of(key), id, answer.done());
    return answer;
  }

  AnswerBox<void> release(const fencing::Lease& lease) {
    return release(lease.keys.front().text(), lease.id);
  }

  AnswerBox<fencing::Revoked> revoke(const std::string& key) {
    AnswerBox<fencing::Revoked> answer;
    lessor_->revoke(key_of(key), answer.done());
    return answer;
  }

  /// Lets time pass, and has the lessor end what is due.
  void pass(Milliseconds time) {
    clock_.advance(time);
    lessor_->run_due();
  }

  /// Enters the gate with `token`; nothing if it is refused or has to wait.
  std::optional<fencing::Permit> enter(const std::string& key, std::int64_t token) {
    std::optional<fencing::Permit> entered;
    std::optional<fencing::Ticket> ticket;
    gate_->admit(key_of(key), fencing::Claim{base::Token::of(token), {}, 0},
                 fencing::Announce::kYes, [&ticket](base::Result<fencing::Ticket> admitted) {
                   if (admitted) {
                     ticket = std::move(*admitted);
                   }
                 });
    if (ticket) {
      if (auto permit = gate_->try_enter(*ticket); permit && *permit) {
        entered = std::move(**permit);
      }
    }
    return entered;
  }

  ManualClock clock_;
  std::unique_ptr<fencing::Ledger> ledger_ = fencing::make_memory_ledger();
  std::unique_ptr<fencing::Gate> gate_ =
      std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{});
  std::unique_ptr<fencing::Lessor> lessor_;
  fencing::Lessor::Attempt attempt_ = 0;  ///< Of the last acquire.
  std::vector<std::string> events_;
  int due_sooner_ = 0;
  int ids_ = 0;
};

}  // namespace fenceline::testing
