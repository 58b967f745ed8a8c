#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/decide.h"
#include "fencing/gate.h"
#include "fencing/mark.h"

namespace fenceline::fencing {

struct Shard;

/// A request that waits in `Gate::enter`.
struct EnterWaiter {
  std::uint64_t id = 0;
  base::Token token;
  base::Done<base::Result<Permit>> done;
};

/// A request that waits in `Gate::admit` for the mark to be read from the ledger.
struct AdmitWaiter {
  base::Token token;
  std::string holder;
  std::int64_t max_jump = 0;
  Announce announce = Announce::kYes;
  base::Done<base::Result<Ticket>> done;
};

/// Everything that is known about one key. Plain state with the rules that change it; no locking
/// of its own: every member is guarded by the mutex of the shard that holds it.
struct KeyState : boost::intrusive::list_base_hook<> {
  KeyState(base::FenceKey fence_key, Shard& guard) : key(std::move(fence_key)), shard(guard) {}

  base::FenceKey key;
  Shard& shard;          ///< Whose mutex guards everything below.
  bool loaded = false;   ///< `durable` holds what the ledger holds.
  bool loading = false;  ///< A find is under way.
  bool raising = false;  ///< A raise is under way.
  Mark announced;        ///< Highest admitted: may reject, never admits before it is durable.
  Mark durable;
  std::uint64_t resets = 0;  ///< Resets begun: tickets from before one never enter.
  std::size_t pins = 0;      ///< Tickets, permits and ledger calls that point here.
  boost::container::small_vector<std::pair<base::Token, std::size_t>, 2> inside;
  std::vector<base::Token> unsettled;
  std::vector<EnterWaiter> waiters;
  std::vector<AdmitWaiter> admits;

  /// The facts for `decide_entry`.
  [[nodiscard]] EntryFacts facts() const;

  /// Counts one commit of `token` in.
  void count_in(base::Token token);

  /// Counts one commit of `token` out; in doubt, it stays behind as unsettled.
  void count_out(base::Token token, Settlement outcome);

  /// Takes the ledger's answer to a raise in: the stored mark is durable, and final where it is
  /// at least as high as what was announced here.
  void became_durable(const Mark& stored);

  /// True if a raise has to be started now.
  [[nodiscard]] bool needs_raise() const;

  /// True if forgetting this state loses nothing that the ledger does not hold.
  [[nodiscard]] bool forgettable() const;

  /// Removes and returns the waiters whose wait is over, first come first served, each with what
  /// `decide_entry` said; those that enter are counted in one after the other.
  std::vector<std::pair<EnterWaiter, Entry>> take_ready();
};

}  // namespace fenceline::fencing
