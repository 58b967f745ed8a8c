#include "fencing/lease/lessor.h"

#include <future>
#include <utility>

#include "fencing/lease/lease_refusals.h"
#include "fencing/lease/lease_rules.h"
#include "fencing/lease/lessor_impl.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;

base::Error error_of(ErrorKind kind, const char* detail) {
  return base::Error{kind, detail, base::Applied::kNo};
}

base::Error shutting_down() {
  return error_of(
      ErrorKind::kShuttingDown,
      "The server is stopping. Send the request again later, with the same request id.");
}

LeaseView view_of(const Bid& bid, base::MonotonicTime now) {
  return {bid.lease, std::chrono::ceil<base::Milliseconds>(bid.due - now)};
}

LeaseView repeated(LeaseView view) {
  view.repeated = true;
  return view;
}

}  // namespace

LessorImpl::LessorImpl(LessorParts parts, const LeaseLimits& limits, LeaseRecords records)
    : parts_(std::move(parts)), limits_(limits) {
  book_.restore(std::move(records), parts_.clock.now());
}

LessorImpl::~LessorImpl() {
  close();
  Lock lock(mutex_);
  outbox_.wait_idle(lock);
}

Lessor::Attempt LessorImpl::acquire(AcquireOrder order, base::Done<base::Result<LeaseView>> done) {
  Lock lock(mutex_);
  const Attempt attempt = ++last_attempt_;
  admit(attempt, std::move(order), std::move(done));
  finish(lock);
  return attempt;
}

void LessorImpl::admit(Attempt attempt, AcquireOrder order,
                       base::Done<base::Result<LeaseView>> done) {
  const Time now = settle_due();
  const auto refuse_at_once = [this, &done](base::Error error) {
    answer<base::Result<LeaseView>>(std::move(done), tl::unexpected<base::Error>(std::move(error)));
  };
  if (closed_) {
    refuse_at_once(shutting_down());
    return;
  }
  const base::Milliseconds wait = order.wait;
  auto wanted = lease_wanted(std::move(order), limits_);
  if (!wanted) {
    refuse_at_once(std::move(wanted.error()));
    return;
  }
  const std::string name = attempt_name(wanted->holder, wanted->request_id);
  if (Bid* const known = book_.find_attempt(name)) {
    rejoin(*known, {attempt, std::move(done)}, *wanted, wait, now);
    return;
  }
  if (ended_.contains(name, now)) {
    refuse_at_once(attempt_ended());
    return;
  }
  if (auto obstacle = obstacle_to(*wanted, wait, now)) {
    refuse_at_once(std::move(*obstacle));
    return;
  }
  call(book_.add(std::move(*wanted), now, wait), {attempt, std::move(done)});
  start_turns();
}

std::optional<base::Error> LessorImpl::obstacle_to(const Lease& wanted, base::Milliseconds wait,
                                                   Time now) {
  if (book_.size() >= limits_.max_leases) {
    return error_of(ErrorKind::kOverloaded,
                    "As many leases are held or waited for as the server takes. Try again later.");
  }
  if (book_.all_free(wanted.keys)) {
    return std::nullopt;
  }
  if (wait.count() == 0) {
    return lease_held(book_, wanted, now);
  }
  for (const base::FenceKey& key : wanted.keys) {
    if (book_.waiting_for(key) >= limits_.max_waiters) {
      return error_of(ErrorKind::kOverloaded,
                      "As many wait for this key as the server lets wait. Try again later.");
    }
  }
  return std::nullopt;
}

void LessorImpl::rejoin(Bid& bid, Caller caller, const Lease& wanted, base::Milliseconds wait,
                        Time now) {
  const auto refuse_at_once = [this, &caller](base::Error error) {
    answer<base::Result<LeaseView>>(std::move(caller.done),
                                    tl::unexpected<base::Error>(std::move(error)));
  };
  if (bid.lease.keys != wanted.keys) {
    refuse_at_once(error_of(ErrorKind::kMalformedRequest,
                            "This request id has been used for other keys. Every attempt needs a "
                            "request id of its own."));
    return;
  }
  switch (bid.state) {
    case Bid::State::kHeld:
      answer<base::Result<LeaseView>>(std::move(caller.done), repeated(view_of(bid, now)));
      return;
    case Bid::State::kEnding:
      refuse_at_once(attempt_ended());
      return;
    case Bid::State::kWaiting:
      book_.wait_until(bid, now + wait);
      break;
    case Bid::State::kGranting:
      break;
  }
  refuse(bid.number, attempt_repeated());
  call(bid, std::move(caller));
  // The new call may not want to wait at all.
  settle_due();
}

void LessorImpl::call(Bid& bid, Caller caller) {
  attempts_[caller.attempt] = bid.number;
  callers_[bid.number] = std::move(caller);
}

std::optional<LessorImpl::Caller> LessorImpl::caller_of(std::uint64_t number) {
  const auto found = callers_.find(number);
  if (found == callers_.end()) {
    return std::nullopt;
  }
  Caller caller = std::move(found->second);
  callers_.erase(found);
  attempts_.erase(caller.attempt);
  return caller;
}

void LessorImpl::refuse(std::uint64_t number, const base::Error& error) {
  if (auto caller = caller_of(number)) {
    answer<base::Result<LeaseView>>(std::move(caller->done), tl::unexpected<base::Error>(error));
  }
}

void LessorImpl::cancel(Attempt attempt) {
  Lock lock(mutex_);
  settle_due();
  const auto found = attempts_.find(attempt);
  if (found != attempts_.end()) {
    Bid* const bid = book_.find(found->second);
    refuse(bid->number, error_of(ErrorKind::kClientGone, "Nobody reads the answer any more."));
    // One that is being granted is released when it has been.
    if (bid->state == Bid::State::kWaiting) {
      book_.withdraw(*bid);
      start_turns();
    }
  }
  finish(lock);
}

Bid* LessorImpl::held_by(const base::FenceKey& key, const std::string& id) {
  Bid* const bid = book_.holder_of(key);
  return bid != nullptr && bid->state == Bid::State::kHeld && bid->lease.id == id ? bid : nullptr;
}

base::Result<LeaseView> LessorImpl::confirm(const base::FenceKey& key, const std::string& id) {
  Lock lock(mutex_);
  const Time now = settle_due();
  base::Result<LeaseView> view = tl::unexpected<base::Error>(error_of(
      ErrorKind::kDraining,
      "The lease has ended while older writes on its keys were being settled. Try again."));
  if (Bid* const bid = held_by(key, id)) {
    bid->confirmed = true;
    view = view_of(*bid, now);
  }
  finish(lock);
  return view;
}

void LessorImpl::renew(const base::FenceKey& key, const std::string& id,
                       std::optional<base::Milliseconds> ttl,
                       base::Done<base::Result<LeaseView>> done) {
  Lock lock(mutex_);
  const Time now = settle_due();
  const auto refuse_at_once = [this, &done](base::Error error) {
    answer<base::Result<LeaseView>>(std::move(done), tl::unexpected<base::Error>(std::move(error)));
  };
  Bid* const bid = held_by(key, id);
  const auto allowed = ttl ? check_ttl(*ttl, limits_) : base::Result<void>();
  if (closed_) {
    refuse_at_once(shutting_down());
  } else if (!allowed) {
    refuse_at_once(allowed.error());
  } else if (bid == nullptr) {
    refuse_at_once(lease_ended());
  } else {
    // With the ttl that a restart would give it; a longer one counts when it is durable.
    book_.extend(*bid, now + std::min(ttl.value_or(bid->lease.ttl), bid->lease.ttl));
    store_ttl(*bid, ttl.value_or(bid->lease.ttl), now, std::move(done));
  }
  finish(lock);
}

void LessorImpl::store_ttl(Bid& bid, base::Milliseconds ttl, Time asked,
                           base::Done<base::Result<LeaseView>> done) {
  // A restart must not give it less than what it has been promised.
  const auto stored = std::max(ttl, view_of(bid, asked).left);
  if (ttl == bid.lease.ttl || stored == bid.stored_ttl) {
    bid.lease.ttl = ttl;
    book_.extend(bid, asked + ttl);
    answer<base::Result<LeaseView>>(std::move(done), view_of(bid, asked));
    return;
  }
  const auto on_stored = [this, number = bid.number, ttl, stored, asked,
                          done = std::move(done)](const base::Result<void>& outcome) {
    Lock lock(mutex_);
    const Time now = settle_due();
    Bid* const still = book_.find(number);
    base::Result<LeaseView> result = tl::unexpected<base::Error>(lease_ended());
    if (!outcome) {
      result = tl::unexpected<base::Error>(outcome.error());
    } else if (still != nullptr && still->state == Bid::State::kHeld) {
      still->lease.ttl = ttl;
      still->stored_ttl = stored;
      book_.extend(*still, asked + ttl);
      result = view_of(*still, now);
    }
    answer(done, std::move(result));
    finish(lock);
  };
  outbox_.post([this, id = bid.lease.id, stored, on_stored] {
    parts_.store.change_ttl(id, stored, on_stored);
  });
}

void LessorImpl::release(const base::FenceKey& key, const std::string& id,
                         base::Done<base::Result<void>> done) {
  Lock lock(mutex_);
  const Time now = settle_due();
  Bid* const bid = held_by(key, id);
  if (closed_ || bid == nullptr) {
    answer<base::Result<void>>(
        std::move(done), tl::unexpected<base::Error>(closed_ ? shutting_down() : lease_ended()));
  } else {
    end(*bid, LeaseEvents::End::kReleased, now);
    releases_.push_back({std::move(done)});
    start_turns();
  }
  finish(lock);
}

std::optional<LeaseKeyView> LessorImpl::show(const base::FenceKey& key) {
  Lock lock(mutex_);
  const Time now = settle_due();
  auto view = book_.show(key, now);
  finish(lock);
  return view;
}

std::vector<Lessor::Listed> LessorImpl::list(const std::string& prefix, const std::string& after,
                                             std::size_t limit) {
  Lock lock(mutex_);
  const Time now = settle_due();
  auto rows = book_.list(prefix, after, limit, now);
  finish(lock);
  return rows;
}

Lessor::Counts LessorImpl::counts() {
  Lock lock(mutex_);
  settle_due();
  const Counts counts = book_.counts();
  finish(lock);
  return counts;
}

void LessorImpl::set_limits(const LeaseLimits& limits) {
  const Lock lock(mutex_);
  limits_ = limits;
}

std::optional<base::MonotonicTime> LessorImpl::run_due() {
  Lock lock(mutex_);
  settle_due();
  finish(lock);
  told_ = next_due();
  return told_;
}

LessorImpl::Time LessorImpl::settle_due() {
  const Time now = parts_.clock.now();
  if (closed_) {
    return now;
  }
  while (const auto due = book_.take_due(now)) {
    Bid* const bid = *due;
    if (bid != nullptr && bid->state == Bid::State::kHeld) {
      end(*bid, LeaseEvents::End::kExpired, now);
    } else if (bid != nullptr) {
      refuse(bid->number, lease_held(book_, bid->lease, now));
      book_.withdraw(*bid);
    }
    start_turns();
  }
  while (const auto number = drains_.take_due(now)) {
    abandon(*number);
  }
  return now;
}

std::optional<base::MonotonicTime> LessorImpl::next_due() const {
  std::optional<Time> next = book_.next_due();
  for (const auto& other : {drains_.next(), retry_at_}) {
    if (other && (!next || *other < *next)) {
      next = other;
    }
  }
  return closed_ ? std::nullopt : next;
}

void LessorImpl::finish(Lock& lock) {
  end_owed();
  const auto next = next_due();
  if (next && (!told_ || *next < *told_)) {
    told_ = next;
    if (parts_.due_sooner) {
      outbox_.post(parts_.due_sooner);
    }
  }
  outbox_.run(lock);
}

void LessorImpl::close() {
  Lock lock(mutex_);
  if (!closed_) {
    closed_ = true;
    std::vector<std::uint64_t> waiting;
    for (const auto& [number, caller] : callers_) {
      waiting.push_back(number);
    }
    for (const std::uint64_t number : waiting) {
      refuse(number, shutting_down());
      if (Bid* const bid = book_.find(number); bid->state == Bid::State::kWaiting) {
        book_.withdraw(*bid);
      }
    }
    // Their answers are not waited for: what they point to goes with the lessor.
    for (const auto& [number, grant] : grants_) {
      outbox_.post([takeover = grant.takeover] { takeover->abandon(); });
    }
    for (const auto& [number, revocation] : revoking_) {
      outbox_.post([takeover = revocation.takeover] { takeover->abandon(); });
    }
  }
  outbox_.run(lock);
}

base::Result<std::unique_ptr<Lessor>> open_lessor(LessorParts parts, LeaseLimits limits) {
  // Shared: the thread that answers may still be inside when the answer is here.
  const auto listed = std::make_shared<std::promise<base::Result<LeaseRecords>>>();
  parts.store.list_leases(
      [listed](base::Result<LeaseRecords> records) { listed->set_value(std::move(records)); });
  auto records = listed->get_future().get();
  if (!records) {
    return tl::unexpected<base::Error>(std::move(records.error()));
  }
  return std::make_unique<LessorImpl>(std::move(parts), limits, std::move(*records));
}

}  // namespace fenceline::fencing
