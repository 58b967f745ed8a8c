#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/history.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {

/// How often a campaign does what it does: `short_form` (ctest), `long_form` with
/// FENCELINE_CAMPAIGN=long, or FENCELINE_CAMPAIGN_COUNT. `scripts/campaign` sets them.
std::size_t campaign_count(std::size_t short_form, std::size_t long_form);

/// FENCELINE_CAMPAIGN_SEED, or a new one each time.
std::uint64_t campaign_seed();

/// For SCOPED_TRACE: how to repeat the campaign `name` of `scripts/campaign` with its random
/// choices. The interleaving of processes and threads is not repeated.
std::string replay(std::string_view name, std::uint64_t seed);

/// Which promises violations break, as a campaign sums them up.
struct Broken {
  std::size_t stale_effects = 0;
  std::size_t lost_acknowledgements = 0;
  std::size_t torn_reads = 0;
  std::size_t lost_marks = 0;  ///< Keys whose mark is below a token that was accepted.

  void add(const std::vector<std::string>& violations);
  void add(const Broken& other);
};

/// Prints the summary line of the campaign `name`: what was done, and what was found.
void print_summary(std::string_view name, std::string_view done, const Broken& broken,
                   std::uint64_t seed);

/// Waits until `requests` more of the clients' requests have their answer; false if a client met
/// what it must not, which is then a test failure.
bool wait_for_answers(const RecordedClients& clients, std::size_t requests);

/// Expects that the clients' history has no violations; otherwise the test fails with the
/// operations on the resource of the first. False if there are any.
bool expect_allowed(const RecordedClients& clients, const std::vector<std::string>& violations);

/// Expects of the marks of `server` that none is below a token that was accepted; counts those that
/// are. To be asked before anybody raises them again.
void expect_marks_kept(FilesServer& server, const RecordedClients& clients, Broken& broken);

}  // namespace fenceline::testing
