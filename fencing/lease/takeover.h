#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/gate.h"

namespace fenceline::fencing {

/// What one grant, or one revoke, does at the gate: its token is announced for every key, and every
/// older commit leaves. Shared, because answers of the gate come from any thread. One step at a
/// time; each calls `done` once, possibly inside the call.
class Takeover : public std::enable_shared_from_this<Takeover> {
 public:
  using Done = base::Done<base::Result<void>>;

  Takeover(Gate& gate, std::vector<base::FenceKey> keys) : gate_(gate), keys_(std::move(keys)) {}

  /// Holds the keys in the gate's memory, before the token is taken: from then on `run` notices
  /// that somebody else has presented that very token. Failure: `kLedgerUnavailable`,
  /// `kOverloaded`.
  void hold_keys(Done done);

  /// Announces `token`, which is durable in the ledger, and waits for the drain.
  /// Success: nobody older is inside, nor will be. Failure: `kStaleToken` (somebody has presented a
  /// token that is not below: take another and run again), `kDraining` (an older commit is in
  /// doubt, the mark was set back meanwhile, or `abandon`), `kLedgerUnavailable`, `kOverloaded`.
  void run(base::Token token, std::string holder, Done done);

  /// Ends the waiting of `run`, also of those to come. Thread-safe.
  void abandon();

 private:
  void hold(std::size_t index);
  void announce(std::size_t index);
  void enter(std::size_t index);
  void finish(base::Result<void> outcome);

  Gate& gate_;
  const std::vector<base::FenceKey> keys_;
  base::Token token_;
  std::string holder_;
  Done done_;
  std::vector<Ticket> held_;
  std::vector<Ticket> tickets_;
  /// Of earlier runs: `abandon` may still look at one of them.
  std::vector<std::vector<Ticket>> retired_;

  std::mutex mutex_;  ///< Guards what follows; never held during a call of the gate.
  bool abandoned_ = false;
  Ticket* entering_ = nullptr;
};

}  // namespace fenceline::fencing
