#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/lease/expiry_queue.h"
#include "fencing/lease/lease.h"
#include "fencing/lease/lease_store.h"
#include "fencing/lease/lessor.h"
#include "fencing/lease/owed_ends.h"

namespace fenceline::fencing {

/// One acquire, from its arrival to the end of its lease.
struct Bid {
  enum class State : std::uint8_t {
    kWaiting,   ///< In the line of each of its keys.
    kGranting,  ///< Has its keys; the grant is under way.
    kHeld,
    kEnding,  ///< Revoked; has its keys until older commits have left.
  };
  std::uint64_t number = 0;  ///< In the order of arrival.
  State state = State::kWaiting;
  Lease lease;  ///< With its id and token once they are known.
  base::MonotonicTime arrived;
  base::MonotonicTime due;           ///< Held: expires at it. Waiting: the wait is over at it.
  base::Milliseconds stored_ttl{0};  ///< What a restart would give it.
  bool confirmed = false;            ///< Held: somebody was told of it after a wait; see `Lessor`.
};

/// Who holds which keys, who waits for them in which order, and which are closed by a lock-delay.
/// Plain state with the rules that change it: no lock, no clock, no ledger.
///
/// The rule: a bid gets its keys, all at once, when each of them is free and the bid is the first
/// in the line of each. So nobody who came later passes (no barging), also not one who wants fewer
/// keys; and the oldest bid of all is first in each of its lines, so it gets its turn when the
/// holders have ended (no deadlock, nobody starves). Each step costs O(k log n) for the k keys of a
/// bid, however long the lines are.
class LeaseBook {
 public:
  LeaseBook() = default;
  LeaseBook(const LeaseBook&) = delete;
  LeaseBook& operator=(const LeaseBook&) = delete;

  /// Takes in what a store holds: every lease has its whole ttl from `now`, every lock-delay its
  /// whole length.
  void restore(LeaseRecords records, base::MonotonicTime now);

  /// Puts a bid behind all others in the lines of its keys. `wanted` is checked and sorted.
  Bid& add(Lease wanted, base::MonotonicTime now, base::Milliseconds wait);

  /// Those whose turn has come since the last call: they have their keys and are `kGranting`.
  std::vector<Bid*> take_turns();

  /// Takes a waiting bid out of the lines. The reference is gone.
  void withdraw(Bid& bid);

  /// The lease of a bid that was `kGranting` is held, for its whole ttl from `now`.
  void hold(Bid& bid, base::MonotonicTime now);

  /// Moves the expiry of a held lease; never to an earlier time.
  void extend(Bid& bid, base::MonotonicTime due);

  /// Postpones or shortens the wait of a waiting bid.
  void wait_until(Bid& bid, base::MonotonicTime due);

  /// A held lease has been revoked: it does not expire any more, and keeps its keys until `end`.
  void begin_ending(Bid& bid);

  enum class LockDelayed : bool { kNo, kYes };
  /// A bid that has its keys gives them up; with its lock-delay, if it has one. The end is owed to
  /// the store. The reference is gone.
  void end(Bid& bid, LockDelayed delayed, base::MonotonicTime now);

  /// A granting bid gives its keys up and nothing is owed: the store has nothing of it.
  void drop(Bid& bid);

  /// The first that is due at `now`: a lease that has expired, or a bid whose wait is over, which
  /// the caller ends or withdraws at once; null: a lock-delay was over. Then turns may have come.
  /// At the same time expiries come before lock-delays, and these before waits. Nothing: nothing is
  /// due.
  std::optional<Bid*> take_due(base::MonotonicTime now);
  [[nodiscard]] std::optional<base::MonotonicTime> next_due() const { return timed_.next(); }

  [[nodiscard]] Bid* find(std::uint64_t number) const;
  /// By `attempt_name`.
  [[nodiscard]] Bid* find_attempt(const std::string& name) const;
  /// The bid that has the key; may be null.
  [[nodiscard]] Bid* holder_of(const base::FenceKey& key) const;

  /// Whether a bid for these keys would have its turn at once.
  [[nodiscard]] bool all_free(const std::vector<base::FenceKey>& keys) const;
  [[nodiscard]] std::size_t waiting_for(const base::FenceKey& key) const;
  [[nodiscard]] base::Milliseconds lock_delay_left(const base::FenceKey& key,
                                                   base::MonotonicTime now) const;

  /// As `Lessor::show` and `Lessor::list`.
  [[nodiscard]] std::optional<LeaseKeyView> show(const base::FenceKey& key,
                                                 base::MonotonicTime now) const;
  [[nodiscard]] std::vector<Lessor::Listed> list(const std::string& prefix,
                                                 const std::string& after, std::size_t limit,
                                                 base::MonotonicTime now) const;

  [[nodiscard]] Lessor::Counts counts() const { return counts_; }
  /// Bids and keys under a lock-delay: what takes memory.
  [[nodiscard]] std::size_t size() const { return bids_.size() + delays_.size(); }

  /// What the store has to be told about ends and lock-delays.
  OwedEnds& owed() { return owed_; }

 private:
  struct KeyEntry {
    Bid* holder = nullptr;
    std::map<std::uint64_t, Bid*> line;
    std::optional<base::MonotonicTime> closed_until;
    std::uint64_t delay_number = 0;

    [[nodiscard]] bool free() const { return holder == nullptr && !closed_until; }
  };
  /// Looks a key up by its text, or by any text that stands before or behind it.
  struct ByText {
    using is_transparent = void;
    static std::string_view text(const base::FenceKey& key) { return key.text(); }
    static std::string_view text(std::string_view other) { return other; }
    bool operator()(const auto& left, const auto& right) const { return text(left) < text(right); }
  };
  using Keys = std::map<base::FenceKey, KeyEntry, ByText>;
  enum class Due : std::uint8_t { kExpiry, kLockDelay, kWait };
  using Timed = std::pair<Due, std::uint64_t>;

  Bid& insert(Lease lease, Bid::State state, base::MonotonicTime now);
  void erase(Bid& bid);
  void free_keys(const Bid& bid);
  void close_key(const base::FenceKey& key, base::Milliseconds delay, base::MonotonicTime now);
  void open_key(std::uint64_t delay_number);
  [[nodiscard]] bool has_turn(const Bid& bid) const;
  /// Something about the key has changed: its first in line may have its turn.
  void touch(const base::FenceKey& key) { touched_.push_back(key); }
  /// Forgets a key that nobody has, wants or waits for.
  void tidy(const base::FenceKey& key);
  [[nodiscard]] const KeyEntry* entry_of(const base::FenceKey& key) const;

  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Bid>> bids_;
  std::unordered_map<std::string, Bid*> attempts_;
  Keys keys_;
  std::unordered_map<std::uint64_t, base::FenceKey> delays_;
  ExpiryQueue<Timed> timed_;
  std::vector<base::FenceKey> touched_;
  OwedEnds owed_;
  Lessor::Counts counts_;
};

}  // namespace fenceline::fencing
