#include "fencing/admission.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/deadline.h"

namespace fenceline::fencing {
namespace {

base::Awaitable<base::Result<Ticket>> admit_one(Gate& gate, const base::FenceKey& key, Claim claim,
                                                Announce announce, base::TimerWheel& timers,
                                                base::Milliseconds deadline) {
  std::optional<base::Result<Ticket>> known = gate.try_admit(key, claim, announce);
  if (known) {
    co_return std::move(*known);
  }
  base::Error late{base::ErrorKind::kLedgerUnavailable,
                   "The ledger did not give the mark of this key in time. Try again later.",
                   base::Applied::kNo,
                   {}};
  const auto start = [&gate, &key, &claim, announce](base::Done<base::Result<Ticket>> done) {
    gate.admit(key, claim, announce, std::move(done));
  };
  auto answer = co_await base::answer_within<Ticket>(timers, deadline, std::move(late), start);
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
  // std::unique: clang-tidy 14 cannot parse the ranges form.
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
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

std::optional<base::Result<void>> try_admit(Gate& gate, const base::FenceKey& key,
                                            const Claim& claim, Tickets& tickets) {
  auto ticket = gate.try_admit(key, claim);
  if (!ticket) {
    return std::nullopt;
  }
  if (!*ticket) {
    return tl::unexpected<base::Error>(std::move(ticket->error()));
  }
  tickets.push_back(std::move(**ticket));
  return base::Result<void>();
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

std::optional<base::Result<void>> try_enter(Gate& gate, Tickets& tickets, Permits& permits) {
  if (tickets.empty()) {
    return base::Result<void>();
  }
  if (tickets.size() > 1) {
    return std::nullopt;
  }
  auto permit = gate.try_enter(tickets.front());
  if (!permit) {
    return std::nullopt;
  }
  if (!*permit) {
    return tl::unexpected<base::Error>(std::move(permit->error()));
  }
  permits.push_back(std::move(**permit));
  return base::Result<void>();
}

base::Token settle(Permits& permits, Settlement outcome) {
  base::Token first;
  for (Permit& permit : permits) {
    const base::Token mark = permit.settle(outcome);
    first = first.exists() ? first : mark;
  }
  return first;
}

}  // namespace fenceline::fencing
