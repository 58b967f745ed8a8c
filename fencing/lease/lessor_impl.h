#pragma once

// The inside of the lessor, shared by lessor.cc (what is asked), lessor_grant.cc (a turn has come)
// and lessor_end.cc (leases end). No other file includes this.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fencing/lease/ended_requests.h"
#include "fencing/lease/expiry_queue.h"
#include "fencing/lease/lease_book.h"
#include "fencing/lease/lessor.h"
#include "fencing/lease/outbox.h"
#include "fencing/lease/takeover.h"

namespace fenceline::fencing {

/// Orchestrates: the book decides, under one mutex; what follows from it (ledger, gate, callbacks)
/// goes through the outbox, without the mutex, in the order of the decisions.
class LessorImpl final : public Lessor {
 public:
  LessorImpl(LessorParts parts, const LeaseLimits& limits, LeaseRecords records);
  ~LessorImpl() override;

  Attempt acquire(AcquireOrder order, base::Done<base::Result<LeaseView>> done) override;
  void cancel(Attempt attempt) override;
  base::Result<LeaseView> confirm(const base::FenceKey& key, const std::string& id) override;
  void give_back(const base::FenceKey& key, const std::string& id) override;
  void renew(const base::FenceKey& key, const std::string& id,
             std::optional<base::Milliseconds> ttl,
             base::Done<base::Result<LeaseView>> done) override;
  void release(const base::FenceKey& key, const std::string& id,
               base::Done<base::Result<void>> done) override;
  void revoke(const base::FenceKey& key, base::Done<base::Result<Revoked>> done) override;
  std::optional<LeaseKeyView> show(const base::FenceKey& key) override;
  std::vector<Listed> list(const std::string& prefix, const std::string& after,
                           std::size_t limit) override;
  std::optional<base::MonotonicTime> run_due() override;
  void set_limits(const LeaseLimits& limits) override;
  void close() override;
  Counts counts() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Time = base::MonotonicTime;

  /// Who is answered when a bid has its lease, or will not have it.
  struct Caller {
    Attempt attempt = 0;
    base::Done<base::Result<LeaseView>> done;
  };
  /// A grant that is under way.
  struct Grant {
    std::shared_ptr<Takeover> takeover;
    int tokens = 0;  ///< Taken so far; the last one is stored.
    base::MonotonicTime turn;
  };
  /// A revoke that is under way.
  struct Revocation {
    std::shared_ptr<Takeover> takeover;
    base::Done<base::Result<Revoked>> done;
    Lease lease;
    int tokens = 0;
  };
  struct Release {
    base::Done<base::Result<void>> done;
  };

  // All of the following expect the mutex to be held.

  /// Every way in begins with this: ends what is due, so that nobody sees a lease that has expired.
  Time settle_due();
  /// And ends with this: gives what is owed to the store, tells the timer, makes the calls.
  void finish(Lock& lock);
  std::optional<Time> next_due() const;

  // lessor.cc
  void admit(Attempt attempt, AcquireOrder order, base::Done<base::Result<LeaseView>> done);
  void rejoin(Bid& bid, Caller caller, const Lease& wanted, base::Milliseconds wait, Time now);
  std::optional<base::Error> obstacle_to(const Lease& wanted, base::Milliseconds wait, Time now);
  void call(Bid& bid, Caller caller);
  /// Takes the caller of a bid away; nothing if nobody is to be answered.
  std::optional<Caller> caller_of(std::uint64_t number);
  void refuse(std::uint64_t number, const base::Error& error);
  Bid* held_by(const base::FenceKey& key, const std::string& id);
  void store_ttl(Bid& bid, base::Milliseconds ttl, Time asked,
                 base::Done<base::Result<LeaseView>> done);
  template <typename Result>
  void answer(base::Done<Result> done, Result result);

  // lessor_grant.cc
  void start_turns();
  void start_grant(Bid& bid);
  void take_token(Bid& bid, Grant& grant);
  void on_keys_held(std::uint64_t number, const base::Result<void>& outcome);
  void on_token(std::uint64_t number, const GrantOrder& order,
                const base::Result<base::Token>& token);
  void on_drained(std::uint64_t number, const base::Result<void>& outcome);
  void granted(Bid& bid);
  void fail_grant(std::uint64_t number, base::Error error);

  // lessor_end.cc
  void end(Bid& bid, LeaseEvents::End how, Time now);
  void end_owed();
  void on_ends_stored(const EndOrder& order, const std::vector<Release>& releases,
                      const base::Result<base::Token>& stored);
  void fence(std::uint64_t number, Revocation& revocation, EndOrder order);
  void on_fenced(std::uint64_t number, const EndOrder& order,
                 const base::Result<base::Token>& token);
  void on_revoked(std::uint64_t number, base::Token token, const base::Result<void>& drained);
  void abandon(std::uint64_t number);

  const LessorParts parts_;
  std::mutex mutex_;
  Outbox outbox_;
  LeaseLimits limits_;
  bool closed_ = false;
  Attempt last_attempt_ = 0;
  LeaseBook book_;
  EndedRequests ended_;
  std::unordered_map<std::uint64_t, Caller> callers_;       ///< By number of the bid.
  std::unordered_map<Attempt, std::uint64_t> attempts_;     ///< The bid of each caller.
  std::unordered_map<std::uint64_t, Grant> grants_;         ///< By number of the bid.
  std::unordered_map<std::uint64_t, Revocation> revoking_;  ///< By number of the bid.
  ExpiryQueue<std::uint64_t> drains_;                       ///< Until when each may drain.
  std::vector<Release> releases_;                           ///< To be answered when stored.
  std::optional<Time> retry_at_;                            ///< The store has failed.
  std::optional<Time> told_;                                ///< What the timer waits for.
};

template <typename Result>
void LessorImpl::answer(base::Done<Result> done, Result result) {
  outbox_.post([done = std::move(done), result = std::move(result)] { done(result); });
}

/// How often a grant, or a revoke, takes another token because somebody has presented a higher one.
inline constexpr int kMostTokens = 5;

}  // namespace fenceline::fencing
