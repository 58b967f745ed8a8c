// The book against a naive reference: whatever happens in whatever order, the same bids have their
// turn, a key never has two holders, nobody passes, and everybody gets his turn in the end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fencing/lease/lease_book.h"
#include "tests/support/lease_calls.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using fencing::Bid;
using fencing::LeaseBook;
using std::chrono::seconds;
using Time = base::MonotonicTime;

/// The rule, word by word and without any cleverness: it looks at everything, each time.
struct NaiveBook {
  struct Entry {
    std::uint64_t number = 0;
    std::set<std::string> keys;
    bool has_keys = false;
    Time due;               ///< Expiry, or the end of the wait.
    bool granting = false;  ///< Has its keys and does not expire yet.
    base::Milliseconds delay{0};
  };
  std::vector<Entry> entries;  ///< In the order of arrival.
  /// Keys under a lock-delay: until when, and the how manieth of all delays it is.
  std::map<std::string, std::pair<Time, int>> closed;
  int delays = 0;

  [[nodiscard]] bool may_have_turn(std::size_t index) const {
    return std::ranges::all_of(entries[index].keys, [&](const std::string& key) {
      if (closed.contains(key)) {
        return false;
      }
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool before = entries[i].has_keys || i < index;
        if (i != index && before && entries[i].keys.contains(key)) {
          return false;
        }
      }
      return true;
    });
  }

  std::set<std::uint64_t> take_turns() {
    std::set<std::uint64_t> turns;
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries[i].has_keys && may_have_turn(i)) {
          entries[i].has_keys = entries[i].granting = true;
          turns.insert(entries[i].number);
          found = true;
        }
      }
    }
    return turns;
  }

  Entry& at(std::uint64_t number) { return *std::ranges::find(entries, number, &Entry::number); }
  void erase(std::uint64_t number) {
    std::erase_if(entries, [number](const Entry& entry) { return entry.number == number; });
  }
  void end(std::uint64_t number, bool delayed, Time now) {
    const Entry entry = at(number);
    erase(number);
    for (const std::string& key : entry.keys) {
      if (delayed && entry.delay.count() > 0) {
        closed[key] = {now + entry.delay, ++delays};
      }
    }
  }
};

class BookModelTest : public ::testing::TestWithParam<unsigned> {
 protected:
  void add() {
    std::vector<std::string> keys;
    for (const char* key : {"a", "b", "c", "d"}) {
      if (random_() % 3 == 0) {
        keys.emplace_back(key);
      }
    }
    if (keys.empty()) {
      keys.emplace_back("a");
    }
    fencing::Lease lease = lease_of(std::to_string(++ids_), keys);
    lease.ttl = seconds(1 + random_() % 8);
    lease.lock_delay = seconds(random_() % 3);
    const seconds wait(1 + random_() % 30);
    const Bid& bid = book_.add(lease, now_, wait);
    NaiveBook::Entry entry;
    entry.number = bid.number;
    entry.keys = {keys.begin(), keys.end()};
    entry.due = now_ + wait;
    entry.delay = lease.lock_delay;
    naive_.entries.push_back(entry);
    take_turns();
  }

  void take_turns() {
    std::set<std::uint64_t> turns;
    for (Bid* const bid : book_.take_turns()) {
      turns.insert(bid->number);
      EXPECT_EQ(bid->state, Bid::State::kGranting);
    }
    EXPECT_EQ(turns, naive_.take_turns());
    served_ += turns.size();
    check();
  }

  /// One of those in a state; null if there is none.
  Bid* any(Bid::State state) {
    std::vector<Bid*> found;
    for (const NaiveBook::Entry& entry : naive_.entries) {
      if (Bid* const bid = book_.find(entry.number); bid->state == state) {
        found.push_back(bid);
      }
    }
    return found.empty() ? nullptr : found[random_() % found.size()];
  }

  void hold(Bid& bid) {
    naive_.at(bid.number).granting = false;
    naive_.at(bid.number).due = now_ + bid.lease.ttl;
    book_.hold(bid, now_);
  }

  void end(Bid& bid, bool delayed) {
    naive_.end(bid.number, delayed, now_);
    book_.end(bid, delayed ? LeaseBook::LockDelayed::kYes : LeaseBook::LockDelayed::kNo, now_);
    take_turns();
  }

  void withdraw(Bid& bid) {
    naive_.erase(bid.number);
    book_.withdraw(bid);
    take_turns();
  }

  void settle_due() {
    while (const auto due = book_.take_due(now_)) {
      Bid* const bid = *due;
      if (bid == nullptr) {
        const auto over =
            std::ranges::min_element(naive_.closed, {}, [](const auto& row) { return row.second; });
        EXPECT_EQ(over->second.first, now_);
        naive_.closed.erase(over);
        take_turns();
        continue;
      }
      const NaiveBook::Entry& entry = naive_.at(bid->number);
      EXPECT_FALSE(entry.granting);
      EXPECT_EQ(entry.due, now_) << "at its time, as the clock goes by seconds";
      bid->state == Bid::State::kHeld ? end(*bid, true) : withdraw(*bid);
    }
    for (const NaiveBook::Entry& entry : naive_.entries) {
      EXPECT_TRUE(entry.granting || entry.due > now_) << "nothing that is due is left";
    }
  }

  void check() {
    std::map<std::string, std::uint64_t> holders;
    for (const NaiveBook::Entry& entry : naive_.entries) {
      if (entry.has_keys) {
        for (const std::string& key : entry.keys) {
          ASSERT_TRUE(holders.emplace(key, entry.number).second) << "two holders of " << key;
        }
      }
    }
    for (const char* key : {"a", "b", "c", "d"}) {
      const Bid* const holder = book_.holder_of(key_of(key));
      ASSERT_EQ(holder == nullptr ? 0 : holder->number, holders[key]);
    }
  }

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
        add();
        break;
      case 2:
      case 3:
        if (Bid* const bid = any(Bid::State::kGranting)) {
          hold(*bid);
        }
        break;
      case 4:
        if (Bid* const bid = any(Bid::State::kHeld)) {
          end(*bid, random_() % 2 == 0);
        }
        break;
      case 5:
        if (Bid* const bid = any(Bid::State::kWaiting)) {
          withdraw(*bid);
        }
        break;
      case 6:
        if (Bid* const bid = any(Bid::State::kHeld)) {
          const Time due = std::max(bid->due, now_ + bid->lease.ttl);
          naive_.at(bid->number).due = due;
          book_.extend(*bid, due);
        }
        break;
      default:
        now_ += seconds(1);
        settle_due();
    }
  }

  std::mt19937 random_{GetParam()};
  LeaseBook book_;
  NaiveBook naive_;
  Time now_ = Time(seconds(1000));
  int ids_ = 0;
  std::size_t served_ = 0;
};

TEST_P(BookModelTest, DoesAsTheReferenceDoes) {
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    step();
  }
  // Nobody starves: without newcomers, everybody has had his turn, or his wait is over.
  while (!naive_.entries.empty() && !HasFailure()) {
    while (Bid* const bid = any(Bid::State::kGranting)) {
      hold(*bid);
    }
    now_ += seconds(1);
    settle_due();
  }
  while (book_.next_due() && !HasFailure()) {
    now_ += seconds(1);
    settle_due();
  }
  EXPECT_EQ(book_.size(), 0U);
  EXPECT_EQ(book_.counts().held, 0U);
  EXPECT_EQ(book_.counts().waiting, 0U);
  EXPECT_GT(served_, 100U);
  // What is owed to the store says the same: nothing is held, no key is closed.
  auto order = book_.owed().take();
  EXPECT_TRUE(order.delays.empty());
  book_.owed().confirm(order);
  EXPECT_EQ(book_.owed().size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BookModelTest, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace fenceline::testing
