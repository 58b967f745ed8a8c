#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fence_key.h"
#include "fencing/ledger.h"
#include "fencing/mark.h"

namespace fenceline::testing {

/// How long a test waits for something that must happen.
inline constexpr std::chrono::seconds kPatience{60};

/// Values that arrive on any thread, and who waits for them.
template <typename T>
class Arrivals {
 public:
  void add(T value) {
    // Notified under the lock: whoever waits may destroy this as soon as it has the value.
    const std::scoped_lock lock(mutex_);
    values_.push_back(std::move(value));
    arrived_.notify_all();
  }

  /// Waits until there are `count` values and gives all there are. Throws after `kPatience`.
  std::vector<T> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, kPatience, [&] { return values_.size() >= count; })) {
      throw std::runtime_error("only " + std::to_string(values_.size()) + " of " +
                               std::to_string(count) + " values arrived");
    }
    return values_;
  }

  std::vector<T> all() { return wait_for(0); }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<T> values_;
};

/// A fence key of the test's own; throws if it is not valid.
base::FenceKey key_of(std::string text);

fencing::Mark mark_of(std::int64_t token, std::string holder = {});

/// The calls of a ledger, waited for.
base::Result<fencing::Mark> raise_now(fencing::Ledger& ledger, const std::string& key,
                                      const fencing::Mark& offered);
base::Result<fencing::Mark> find_now(fencing::Ledger& ledger, const std::string& key);
/// An order to set a mark to `to`, with a reason; `from` 0: whatever the mark is.
fencing::ResetOrder order_to(std::int64_t to, std::int64_t from = 0);

base::Result<fencing::ResetOutcome> reset_now(fencing::Ledger& ledger, const std::string& key,
                                              const fencing::ResetOrder& order);
base::Result<std::vector<fencing::ResetRecord>> resets_now(fencing::Ledger& ledger,
                                                           const std::string& key,
                                                           std::size_t limit);
fencing::Intent intent_of(const std::string& key, std::int64_t token, std::string data = {});
base::Result<void> put_now(fencing::Ledger& ledger, const fencing::Intent& put,
                           const std::vector<fencing::Intent>& drop = {});
base::Result<void> drop_now(fencing::Ledger& ledger, const std::vector<fencing::Intent>& drop);
base::Result<std::vector<fencing::Intent>> intents_now(fencing::Ledger& ledger);
base::Result<std::vector<fencing::KeyedMark>> scan_now(fencing::Ledger& ledger, std::string prefix,
                                                       std::string after, std::size_t limit);

}  // namespace fenceline::testing
