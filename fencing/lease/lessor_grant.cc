// A turn has come: the way of a bid from its keys to its lease.

#include <fmt/format.h>

#include <utility>

#include "fencing/lease/lessor_impl.h"

namespace fenceline::fencing {

using base::ErrorKind;

void LessorImpl::start_turns() {
  if (closed_) {
    return;
  }
  for (Bid* const bid : book_.take_turns()) {
    start_grant(*bid);
  }
}

void LessorImpl::start_grant(Bid& bid) {
  bid.lease.id = parts_.make_id();
  Grant& grant = grants_[bid.number];
  grant.turn = parts_.clock.now();
  grant.takeover = std::make_shared<Takeover>(parts_.gate, bid.lease.keys);
  outbox_.post([this, number = bid.number, takeover = grant.takeover] {
    takeover->hold_keys(
        [this, number](const base::Result<void>& outcome) { on_keys_held(number, outcome); });
  });
}

void LessorImpl::on_keys_held(std::uint64_t number, const base::Result<void>& outcome) {
  Lock lock(mutex_);
  settle_due();
  if (!outcome) {
    fail_grant(number, outcome.error());
  } else if (Bid* const bid = book_.find(number); !closed_) {
    take_token(*bid, grants_.at(number));
  }
  finish(lock);
}

void LessorImpl::take_token(Bid& bid, Grant& grant) {
  GrantOrder order;
  order.lease = bid.lease;
  if (grant.tokens > 0) {
    order.ended.push_back(bid.lease.id);
  }
  book_.owed().add_to(order);
  outbox_.post(
      [this, number = bid.number, order = std::move(order), takeover = grant.takeover]() mutable {
        order.above = takeover->highest();
        parts_.store.grant(order, [this, number, order](const base::Result<base::Token>& token) {
          on_token(number, order, token);
        });
      });
}

void LessorImpl::on_token(std::uint64_t number, const GrantOrder& order,
                          const base::Result<base::Token>& token) {
  Lock lock(mutex_);
  const Time now = settle_due();
  if (!token) {
    fail_grant(number, token.error());
  } else if (!closed_) {
    book_.owed().confirm(order);
    Bid& bid = *book_.find(number);
    bid.lease.token = *token;
    Grant& grant = grants_.at(number);
    if (grant.tokens++ == 0) {
      drains_.put(number, now + limits_.drain);
    }
    outbox_.post(
        [this, number, token = *token, holder = bid.lease.holder, takeover = grant.takeover] {
          takeover->run(token, holder, [this, number](const base::Result<void>& outcome) {
            on_drained(number, outcome);
          });
        });
  }
  finish(lock);
}

void LessorImpl::on_drained(std::uint64_t number, const base::Result<void>& outcome) {
  Lock lock(mutex_);
  settle_due();
  Grant& grant = grants_.at(number);
  // Closed: it stays in the store, and the same request id gets it after the restart.
  if (!closed_) {
    if (outcome) {
      granted(*book_.find(number));
    } else if (outcome.error().kind != ErrorKind::kStaleToken) {
      fail_grant(number, outcome.error());
    } else if (grant.tokens < kMostTokens) {
      take_token(*book_.find(number), grant);
    } else {
      fail_grant(number, base::Error{ErrorKind::kDraining,
                                     fmt::format("Others present ever higher tokens for a key of "
                                                 "this lease: {} tokens in a row were overtaken. "
                                                 "Let one source give the tokens of a key.",
                                                 kMostTokens),
                                     base::Applied::kNo});
    }
  }
  finish(lock);
}

void LessorImpl::granted(Bid& bid) {
  const Time now = parts_.clock.now();
  const auto waited =
      std::chrono::floor<base::Milliseconds>(grants_.at(bid.number).turn - bid.arrived);
  grants_.erase(bid.number);
  drains_.remove(bid.number);
  book_.hold(bid, now);
  auto caller = caller_of(bid.number);
  if (!caller) {
    // It was cancelled. Not remembered: a retry takes it afresh.
    book_.end(bid, LeaseBook::LockDelayed::kNo, now);
    start_turns();
    return;
  }
  if (parts_.events.granted) {
    outbox_.post([this, lease = bid.lease, waited] { parts_.events.granted(lease, waited); });
  }
  answer<base::Result<LeaseView>>(std::move(caller->done),
                                  LeaseView{bid.lease, bid.lease.ttl, false, waited});
}

void LessorImpl::give_back(const base::FenceKey& key, const std::string& id) {
  Lock lock(mutex_);
  const Time now = settle_due();
  Bid* const bid = held_by(key, id);
  if (bid != nullptr && !bid->confirmed && !closed_) {
    if (parts_.events.ended) {
      outbox_.post(
          [this, lease = bid->lease] { parts_.events.ended(lease, LeaseEvents::End::kReleased); });
    }
    // Not remembered: a retry takes it afresh.
    book_.end(*bid, LeaseBook::LockDelayed::kNo, now);
    start_turns();
  }
  finish(lock);
}

void LessorImpl::fail_grant(std::uint64_t number, base::Error error) {
  Bid* const bid = book_.find(number);
  const bool stored = grants_.at(number).tokens > 0;
  grants_.erase(number);
  drains_.remove(number);
  refuse(number, error);
  if (stored) {
    book_.end(*bid, LeaseBook::LockDelayed::kNo, parts_.clock.now());
  } else {
    book_.drop(*bid);
  }
  start_turns();
}

}  // namespace fenceline::fencing
