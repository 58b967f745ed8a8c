#pragma once

// The one suite that every token source must pass, in front of its real server. A source takes part
// with INSTANTIATE_TEST_SUITE_P(Redis, SourceContract, Values(SourceCase{"One", make_server})).

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "base/boottime_clock.h"
#include "client/token_source.h"
#include "tests/client/source_server.h"

namespace fenceline::testing {

struct SourceCase {
  std::string name;
  std::function<std::unique_ptr<SourceServer>()> make;

  friend std::ostream& operator<<(std::ostream& out, const SourceCase& source_case) {
    return out << source_case.name;
  }
};

/// The tests of one case share the server, and have keys of their own.
class SourceContract : public ::testing::TestWithParam<SourceCase> {
 public:
  static void TearDownTestSuite();

 protected:
  using Milliseconds = base::Milliseconds;
  using Source = std::unique_ptr<client::TokenSource>;

  /// Longer than any test; where it passes, something hangs.
  static constexpr Milliseconds kLong{30'000};
  /// What the network and a slow machine may add to a call.
  static constexpr Milliseconds kSlack{5'000};

  SourceContract();

  SourceServer& server();

  /// A client of its own, with its own connections. Throws if it cannot be made.
  Source open() const;

  /// `name` and something that no other test has; with slashes.
  static base::FenceKey key(const std::string& name);

  /// An order that does not wait, with an attempt of its own and a ttl that outlives the test.
  client::LeaseOrder order(const base::FenceKey& key, const std::string& holder = "holder-a") const;

  /// The same, with the shortest ttl of the server.
  client::LeaseOrder short_order(const base::FenceKey& key,
                                 const std::string& holder = "holder-a") const;

  /// Waits as long as a test may.
  static client::LeaseOrder waiting(client::LeaseOrder order);

  [[nodiscard]] Milliseconds shortest_ttl();

  [[nodiscard]] base::MonotonicTime now() const { return clock_.now(); }

  /// Acquires; throws with the error if that fails.
  static client::Grant must_acquire(client::TokenSource& source, const client::LeaseOrder& order);

  /// Waits until the source says that nobody holds the key.
  static void wait_until_free(client::TokenSource& source, const base::FenceKey& key,
                              Milliseconds timeout);

  /// Lets time pass where nothing can be observed: another client takes its place in a queue.
  void let_pass(Milliseconds time) const;

  /// True if the key can be had by somebody else; gives it back.
  bool is_free_for_others(const base::FenceKey& key, Milliseconds timeout) const;

  /// Renews as a holder does: what is no answer is tried again.
  static base::Result<client::Grant> renew_through(client::TokenSource& source,
                                                   const client::Grant& grant);

 private:
  base::BoottimeClock clock_;
};

}  // namespace fenceline::testing
