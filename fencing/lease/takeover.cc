#include "fencing/lease/takeover.h"

#include <utility>

namespace fenceline::fencing {
namespace {

tl::unexpected<base::Error> overtaken() {
  return base::fail(base::ErrorKind::kStaleToken,
                    "Somebody has presented a token for this key that is not below the new one.");
}

tl::unexpected<base::Error> still_draining() {
  return base::fail(base::ErrorKind::kDraining,
                    "Older writes on the keys of this lease have not left in time. Try again "
                    "later.");
}

}  // namespace

void Takeover::hold_keys(Done done) {
  done_ = std::move(done);
  hold(0);
}

void Takeover::hold(std::size_t index) {
  if (index == keys_.size()) {
    finish({});
    return;
  }
  // Any mark is at most this one, and nothing is announced.
  const Claim any{base::Token::of(base::Token::kMax), {}, 0};
  gate_.admit(keys_[index], any, Announce::kNo,
              [self = shared_from_this(), index](base::Result<Ticket> ticket) {
                if (!ticket) {
                  self->finish(tl::unexpected<base::Error>(std::move(ticket.error())));
                  return;
                }
                self->held_.push_back(std::move(*ticket));
                self->hold(index + 1);
              });
}

void Takeover::run(base::Token token, std::string holder, Done done) {
  token_ = token;
  holder_ = std::move(holder);
  done_ = std::move(done);
  retired_.push_back(std::move(tickets_));
  tickets_.clear();
  tickets_.reserve(keys_.size());
  announce(0);
}

// All of them before anybody waits: none of the keys lets older ones in meanwhile.
void Takeover::announce(std::size_t index) {
  if (index == keys_.size()) {
    enter(0);
    return;
  }
  gate_.admit(
      keys_[index], Claim{token_, holder_, 0}, Announce::kYes,
      [self = shared_from_this(), index](base::Result<Ticket> ticket) {
        if (!ticket) {
          const auto kind = ticket.error().kind;
          const bool late =
              kind == base::ErrorKind::kStaleToken || kind == base::ErrorKind::kHolderConflict;
          self->finish(late ? overtaken() : tl::unexpected<base::Error>(std::move(ticket.error())));
          return;
        }
        // The key was in memory before the token was taken, so the mark was lower unless somebody
        // has presented the same token.
        if (!self->held_.empty() && !ticket->took_over()) {
          self->finish(overtaken());
          return;
        }
        self->tickets_.push_back(std::move(*ticket));
        self->announce(index + 1);
      });
}

void Takeover::enter(std::size_t index) {
  if (index == keys_.size()) {
    finish({});
    return;
  }
  Ticket& ticket = tickets_[index];
  bool give_up = false;
  {
    const std::scoped_lock lock(mutex_);
    give_up = abandoned_;
    entering_ = give_up ? nullptr : &ticket;
  }
  if (give_up) {
    finish(still_draining());
    return;
  }
  const auto self = shared_from_this();
  gate_.enter(ticket, [self, index](base::Result<Permit> permit) {
    {
      const std::scoped_lock lock(self->mutex_);
      self->entering_ = nullptr;
    }
    if (!permit) {
      self->finish(tl::unexpected<base::Error>(std::move(permit.error())));
      return;
    }
    // Who is let in knows that all older ones have left; there is nothing to do inside.
    permit->settle(Settlement::kNotApplied);
    self->enter(index + 1);
  });
  {
    // `abandon` came between the look above and the wait.
    const std::scoped_lock lock(mutex_);
    give_up = abandoned_ && entering_ == &ticket;
  }
  if (give_up) {
    gate_.abandon(ticket);
  }
}

void Takeover::abandon() {
  Ticket* waiting = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    abandoned_ = true;
    waiting = entering_;
  }
  if (waiting != nullptr) {
    gate_.abandon(*waiting);
  }
}

void Takeover::finish(base::Result<void> outcome) {
  // Whoever is called may start the next step.
  const Done done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

}  // namespace fenceline::fencing
