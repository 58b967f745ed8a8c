#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fencing/lease/lessor.h"
#include "tests/proxy/front_fixture.h"

namespace fenceline::proxy::testing {

/// A lessor that answers an acquire when the test says so, and everything else as the test has
/// prepared. Remembers its calls.
class FakeLessor final : public fencing::Lessor {
 public:
  using View = base::Result<fencing::LeaseView>;

  Attempt acquire(fencing::AcquireOrder order, base::Done<View> done) override {
    Attempt attempt = 0;
    board.update([&] {
      attempt = ++attempts_;
      orders.push_back(std::move(order));
      waiting_.emplace(attempt, std::move(done));
    });
    return attempt;
  }

  void cancel(Attempt attempt) override {
    base::Done<View> done;
    board.update([&] {
      cancelled.push_back(attempt);
      done = take(attempt);
    });
    if (done) {
      done(base::fail(base::ErrorKind::kClientGone, "cancelled"));
    }
  }

  /// Answers the acquire with this number, the first one is 1.
  void answer(Attempt attempt, View view) {
    base::Done<View> done;
    board.update([&] { done = take(attempt); });
    done(std::move(view));
  }

  View confirm(const base::FenceKey& key, const std::string& id) override {
    board.update([&] { calls.push_back("confirm " + key.text() + " " + id); });
    return confirmed;
  }

  void give_back(const base::FenceKey& key, const std::string& id) override {
    board.update([&] { calls.push_back("give back " + key.text() + " " + id); });
  }

  void renew(const base::FenceKey& key, const std::string& id,
             std::optional<base::Milliseconds> ttl, base::Done<View> done) override {
    board.update([&] {
      calls.push_back("renew " + key.text() + " " + id +
                      (ttl ? " " + std::to_string(ttl->count()) : ""));
    });
    done(renewal);
  }

  void release(const base::FenceKey& key, const std::string& id,
               base::Done<base::Result<void>> done) override {
    board.update([&] { calls.push_back("release " + key.text() + " " + id); });
    done(released);
  }

  void revoke(const base::FenceKey& key, base::Done<base::Result<fencing::Revoked>> done) override {
    board.update([&] { calls.push_back("revoke " + key.text()); });
    done(base::fail(base::ErrorKind::kNotFound, "nobody"));
  }

  std::optional<fencing::LeaseKeyView> show(const base::FenceKey& key) override {
    return key.text() == "free" ? std::nullopt : std::optional(shown);
  }

  std::vector<Listed> list(const std::string& prefix, const std::string& after,
                           std::size_t limit) override {
    board.update(
        [&] { calls.push_back("list " + prefix + " " + after + " " + std::to_string(limit)); });
    return listed;
  }

  std::optional<base::MonotonicTime> run_due() override { return std::nullopt; }
  void set_limits(const fencing::LeaseLimits& /*limits*/) override {}
  void close() override {}
  Counts counts() override { return {}; }

  Board board;
  std::vector<fencing::AcquireOrder> orders;
  std::vector<Attempt> cancelled;
  std::vector<std::string> calls;
  View renewal = base::fail(base::ErrorKind::kLeaseEnded, "It has ended.");
  View confirmed;
  base::Result<void> released;
  fencing::LeaseKeyView shown;
  std::vector<Listed> listed;

 private:
  base::Done<View> take(Attempt attempt) {
    const auto found = waiting_.find(attempt);
    if (found == waiting_.end()) {
      return nullptr;
    }
    base::Done<View> done = std::move(found->second);
    waiting_.erase(found);
    return done;
  }

  Attempt attempts_ = 0;
  std::map<Attempt, base::Done<View>> waiting_;
};

}  // namespace fenceline::proxy::testing
