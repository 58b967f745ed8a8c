#pragma once

// The inside of the gate, shared by gate.cc (steps 1 and 3) and permit.cc (step 6). No other file
// includes this.

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fencing/gate.h"
#include "fencing/hashed_key.h"
#include "fencing/idle_marks.h"
#include "fencing/key_state.h"

namespace fenceline::fencing {

/// Hash ranges: enough that cores seldom meet at one mutex.
inline constexpr std::size_t kShards = 64;

/// Work to do once no lock is held: ledger calls and callbacks.
using Afterwards = std::vector<std::function<void()>>;

/// The keys of one hash range and the mutex that guards them. A key has a state, or an idle mark,
/// or neither; never both.
struct Shard {
  std::mutex mutex;
  /// The text of a key is that of its state.
  std::unordered_map<HashedKey, std::unique_ptr<KeyState>, HashOfKey> states;
  /// Loaded and forgettable states, the longest idle first.
  boost::intrusive::list<KeyState> idle;
  /// The marks of keys that are idle for longer than those.
  IdleMarks marks;

  [[nodiscard]] std::size_t keys() const { return states.size() + marks.size(); }
};

class Gate::Impl {
 public:
  Impl(Gate& gate, Ledger& ledger, GateOptions options);

  /// The shard that holds `key`.
  Shard& shard_of(const HashedKey& key) { return shards_[key.hash % kShards]; }
  std::array<Shard, kShards>& shards() { return shards_; }

  // The methods below expect the shard's mutex to be held.

  /// The state of `key`, made from its idle mark if it has one; null if the key is not in memory.
  KeyState* find(Shard& shard, const base::FenceKey& key, const HashedKey& hashed);

  /// The state of `key`, created if needed; null if the shard is full of keys in use.
  KeyState* find_or_create(Shard& shard, const base::FenceKey& key, const HashedKey& hashed);

  /// Decides on a claim against a loaded state, announces it, and asks for the raise.
  base::Result<Ticket> decide_locked(Shard& shard, KeyState& state, const Claim& claim,
                                     Announce announce, Afterwards& afterwards);

  /// Starts the durable raise of what is announced, if none is under way.
  void raise_if_needed(Shard& shard, KeyState& state, Afterwards& afterwards);

  /// Reads the mark from the ledger, if nobody does yet.
  void load_if_needed(Shard& shard, KeyState& state, Afterwards& afterwards);

  /// Ends the waits that are over.
  void wake(Shard& shard, KeyState& state, Afterwards& afterwards);

  /// What `entry` means for a request with `token`; counts nothing.
  base::Result<Permit> outcome_of(Shard& shard, KeyState& state, Entry entry, base::Token token);

  void pin(Shard& shard, KeyState& state);
  /// May destroy `state`.
  void unpin(Shard& shard, KeyState& state);

  // These take the mutex themselves.

  void reset(const base::FenceKey& key, const ResetOrder& order,
             base::Done<base::Result<ResetOutcome>> done);
  void on_loaded(KeyState& state, base::Result<Mark> found);
  void on_raised(KeyState& state, base::Result<Mark> stored);
  std::uint64_t next_id();

 private:
  static KeyState* add_state(Shard& shard, const base::FenceKey& key, const HashedKey& hashed);
  /// Makes room for one more key, if idle ones can be forgotten for it.
  void forget_idle(Shard& shard) const;
  /// Leaves so many of the idle states; the others become idle marks.
  static void demote_all_but(Shard& shard, std::size_t kept);

  Gate& gate_;
  Ledger& ledger_;
  std::size_t max_keys_per_shard_;
  std::size_t max_warm_per_shard_;
  const std::function<std::vector<base::Token>(const base::FenceKey&)> unsettled_on_record_;
  std::atomic<std::uint64_t> last_id_ = 0;
  std::array<Shard, kShards> shards_;
};

/// Runs what was put off until no lock is held.
void run(const Afterwards& afterwards);

/// All the keys of a shard are in use.
base::Error too_many_keys();

/// What a ticket from before a reset gets instead of a permit.
base::Error reset_meanwhile();

}  // namespace fenceline::fencing
