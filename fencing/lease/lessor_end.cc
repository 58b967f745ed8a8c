// Leases end: by release, expiry and revoke.

#include <chrono>
#include <utility>

#include "fencing/lease/lessor_impl.h"

namespace fenceline::fencing {
namespace {

// How long the store is left alone after it has failed, unless somebody releases.
constexpr base::Milliseconds kRetryEnds{1'000};

tl::unexpected<base::Error> fail_revoke(base::ErrorKind kind, const char* detail) {
  return base::fail(kind, detail);
}

}  // namespace

void LessorImpl::end(Bid& bid, LeaseEvents::End how, Time now) {
  ended_.remember(bid.lease, now);
  if (parts_.events.ended) {
    outbox_.post([this, lease = bid.lease, how] { parts_.events.ended(lease, how); });
  }
  book_.end(bid,
            how == LeaseEvents::End::kReleased ? LeaseBook::LockDelayed::kNo
                                               : LeaseBook::LockDelayed::kYes,
            now);
}

void LessorImpl::end_owed() {
  if (closed_) {
    return;
  }
  if (!book_.owed().any()) {
    retry_at_.reset();  // A grant has told the store meanwhile: nothing is due.
    return;
  }
  const Time now = parts_.clock.now();
  if (retry_at_ && now < *retry_at_ && releases_.empty()) {
    return;
  }
  retry_at_.reset();
  EndOrder order = book_.owed().take();
  if (order.ids.empty() && order.delays.empty() && order.delays_over.empty()) {
    return;
  }
  outbox_.post([this, order = std::move(order), releases = std::exchange(releases_, {})] {
    parts_.store.end_leases(order, [this, order, releases](const base::Result<base::Token>& done) {
      on_ends_stored(order, releases, done);
    });
  });
}

void LessorImpl::on_ends_stored(const EndOrder& order, const std::vector<Release>& releases,
                                const base::Result<base::Token>& stored) {
  Lock lock(mutex_);
  const Time now = settle_due();
  if (stored) {
    book_.owed().confirm(order);
  } else {
    book_.owed().take_back(order);
    retry_at_ = now + kRetryEnds;
  }
  for (const Release& release : releases) {
    answer(release.done, stored.map([](base::Token) {}));
  }
  finish(lock);
}

void LessorImpl::revoke(const base::FenceKey& key, base::Done<base::Result<Revoked>> done) {
  Lock lock(mutex_);
  settle_due();
  Bid* const bid = book_.holder_of(key);
  if (closed_) {
    answer<base::Result<Revoked>>(
        std::move(done), fail_revoke(base::ErrorKind::kShuttingDown, "The server is stopping."));
  } else if (bid == nullptr || bid->state == Bid::State::kGranting) {
    answer<base::Result<Revoked>>(
        std::move(done),
        fail_revoke(base::ErrorKind::kNotFound, "Nobody holds a lease on this key."));
  } else if (revoking_.contains(bid->number)) {
    answer<base::Result<Revoked>>(
        std::move(done),
        fail_revoke(base::ErrorKind::kDraining, "The lease on this key is being revoked already."));
  } else {
    Revocation& revocation = revoking_[bid->number];
    revocation.takeover = std::make_shared<Takeover>(parts_.gate, bid->lease.keys);
    revocation.done = std::move(done);
    revocation.lease = bid->lease;
    EndOrder order;
    order.ids.push_back(bid->lease.id);
    if (bid->lease.lock_delay.count() > 0) {
      for (const base::FenceKey& own : bid->lease.keys) {
        order.delays.push_back({own, bid->lease.lock_delay});
      }
    }
    fence(bid->number, revocation, std::move(order));
  }
  finish(lock);
}

void LessorImpl::fence(std::uint64_t number, Revocation& revocation, EndOrder order) {
  ++revocation.tokens;
  order.fenced = revocation.lease.keys;
  outbox_.post([this, number, order = std::move(order), takeover = revocation.takeover]() mutable {
    order.above = takeover->highest();
    parts_.store.end_leases(order, [this, number, order](const base::Result<base::Token>& token) {
      on_fenced(number, order, token);
    });
  });
}

void LessorImpl::on_fenced(std::uint64_t number, const EndOrder& order,
                           const base::Result<base::Token>& token) {
  Lock lock(mutex_);
  const Time now = settle_due();
  Revocation& revocation = revoking_.at(number);
  Bid* const bid = book_.find(number);
  const bool first = revocation.tokens == 1;
  if (!token || closed_) {
    // The first has failed: the lease goes on. A later one: it has ended, and has not drained.
    const base::Error error = token
                                  ? base::Error{base::ErrorKind::kShuttingDown,
                                                "The server is stopping.", base::Applied::kUnknown}
                                  : token.error();
    answer<base::Result<Revoked>>(std::move(revocation.done), tl::unexpected<base::Error>(error));
    if (!first && bid != nullptr) {
      book_.end(*bid, LeaseBook::LockDelayed::kYes, now);
    }
    revoking_.erase(number);
    drains_.remove(number);
    start_turns();
  } else {
    if (first) {
      if (bid == nullptr) {
        // It ended by itself meanwhile; a lock-delay that it does not have is taken back.
        book_.owed().take_back({{}, order.delays, {}, {}, {}});
      } else {
        ended_.remember(bid->lease, now);
        if (parts_.events.ended) {
          outbox_.post([this, lease = bid->lease] {
            parts_.events.ended(lease, LeaseEvents::End::kRevoked);
          });
        }
        book_.begin_ending(*bid);
      }
      drains_.put(number, now + limits_.drain);
    }
    outbox_.post([this, number, token = *token, takeover = revocation.takeover] {
      takeover->run(token, {}, [this, number, token](const base::Result<void>& drained) {
        on_revoked(number, token, drained);
      });
    });
  }
  finish(lock);
}

void LessorImpl::on_revoked(std::uint64_t number, base::Token token,
                            const base::Result<void>& drained) {
  Lock lock(mutex_);
  const Time now = settle_due();
  Revocation& revocation = revoking_.at(number);
  Bid* const bid = book_.find(number);
  const bool overtaken = !drained && drained.error().kind == base::ErrorKind::kStaleToken;
  if (overtaken && bid != nullptr && revocation.tokens < kMostTokens && !closed_) {
    fence(number, revocation, {});
  } else {
    base::Result<Revoked> result = Revoked{revocation.lease, token};
    // With the keys gone, whoever came after has drained, or drains, for itself.
    if (!drained && !(overtaken && bid == nullptr)) {
      result = overtaken
                   ? fail_revoke(base::ErrorKind::kDraining,
                                 "The lease has ended. Others present ever higher tokens for "
                                 "its keys, so it is not known whether older writes have left.")
                   : tl::unexpected<base::Error>(drained.error());
    }
    answer(std::move(revocation.done), std::move(result));
    revoking_.erase(number);
    drains_.remove(number);
    if (bid != nullptr) {
      book_.end(*bid, LeaseBook::LockDelayed::kYes, now);
    }
    start_turns();
  }
  finish(lock);
}

void LessorImpl::abandon(std::uint64_t number) {
  std::shared_ptr<Takeover> takeover;
  if (const auto grant = grants_.find(number); grant != grants_.end()) {
    takeover = grant->second.takeover;
  } else if (const auto revocation = revoking_.find(number); revocation != revoking_.end()) {
    takeover = revocation->second.takeover;
  }
  if (takeover) {
    outbox_.post([takeover] { takeover->abandon(); });
  }
}

}  // namespace fenceline::fencing
