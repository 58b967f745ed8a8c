#include "fencing/admission.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace fenceline::fencing {
namespace {

/// A callback that either the gate's answer or the deadline calls, whichever is first.
struct FirstAnswer {
  std::atomic<bool> given = false;
  base::Done<base::Result<Ticket>> done;

  void give(base::Result<Ticket> answer) {
    if (!given.exchange(true)) {
      done(std::move(answer));
    }
  }
};

base::Awaitable<base::Result<Ticket>> admit_one(Gate& gate, const base::FenceKey& key, Claim claim,
                                                Announce announce, base::TimerWheel& timers,
                                                base::Milliseconds deadline) {
  std::optional<base::Result<Ticket>> known = gate.try_admit(key, claim, announce);
  if (known) {
    co_return std::move(*known);
  }
  auto first = std::make_shared<FirstAnswer>();
  const auto give_up = [first] {
    first->give(base::fail(base::ErrorKind::kLedgerUnavailable,
                           "The ledger did not give the mark of this key in time. Try again "
                           "later."));
  };
  base::Timer timer(timers, give_up);
  const auto start = [&gate, &key, &claim, announce, &timer, deadline,
                      first](base::Done<base::Result<Ticket>> done) {
    first->done = std::move(done);
    timer.arm(deadline);
    gate.admit(key, claim, announce,
               [first](base::Result<Ticket> answer) { first->give(std::move(answer)); });
  };
  auto answer = co_await base::from_callback<base::Result<Ticket>>(start);
  co_return answer;
}

base::Awaitable<base::Result<Permit>> enter_one(Gate& gate, Ticket& ticket,
                                                base::TimerWheel& timers,
                                                base::Milliseconds deadline) {
  std::optional<base::Result<Permit>> known = gate.try_enter(ticket);
  if (known) {
    co_return std::move(*known);
  }
  const auto give_up = [&gate, &ticket] { gate.abandon(ticket); };
  base::Timer timer(timers, give_up);
  const auto start = [&gate, &ticket, &timer, deadline](base::Done<base::Result<Permit>> done) {
    timer.arm(deadline);
    gate.enter(ticket, std::move(done));
  };
  auto answer = co_await base::from_callback<base::Result<Permit>>(start);
  co_return answer;
}

}  // namespace

base::Awaitable<base::Result<Tickets>> admit(Gate& gate, std::vector<base::FenceKey> keys,
                                             Claim claim, base::TimerWheel& timers,
                                             base::Milliseconds deadline) {
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  if (keys.size() > 1) {
    for (const base::FenceKey& key : keys) {
      auto verdict = co_await admit_one(gate, key, claim, Announce::kNo, timers, deadline);
      if (!verdict) {
        co_return tl::unexpected<base::Error>(std::move(verdict.error()));
      }
    }
  }
  Tickets tickets;
  tickets.reserve(keys.size());
  for (const base::FenceKey& key : keys) {
    auto ticket = co_await admit_one(gate, key, claim, Announce::kYes, timers, deadline);
    if (!ticket) {
      co_return tl::unexpected<base::Error>(std::move(ticket.error()));
    }
    tickets.push_back(std::move(*ticket));
  }
  co_return tickets;
}

base::Awaitable<base::Result<Permits>> enter(Gate& gate, Tickets& tickets, base::TimerWheel& timers,
                                             base::Milliseconds deadline) {
  Permits permits;
  permits.reserve(tickets.size());
  for (Ticket& ticket : tickets) {
    auto permit = co_await enter_one(gate, ticket, timers, deadline);
    if (!permit) {
      settle(permits, Settlement::kNotApplied);
      co_return tl::unexpected<base::Error>(std::move(permit.error()));
    }
    permits.push_back(std::move(*permit));
  }
  co_return permits;
}

void settle(Permits& permits, Settlement outcome) {
  for (Permit& permit : permits) {
    permit.settle(outcome);
  }
}

}  // namespace fenceline::fencing
