#include "tests/campaign/campaign.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>

namespace fenceline::testing {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::uint64_t> number_in(const char* name) {
  const std::string text = environment(name);
  if (text.empty()) {
    return std::nullopt;
  }
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0' || text.front() == '-') {
    throw std::runtime_error(fmt::format("{} must be a number, not '{}'", name, text));
  }
  return number;
}

bool is_long() {
  const std::string form = environment("FENCELINE_CAMPAIGN");
  if (!form.empty() && form != "long" && form != "short") {
    throw std::runtime_error("FENCELINE_CAMPAIGN must be long or short, not '" + form + "'");
  }
  return form == "long";
}

}  // namespace

std::size_t campaign_count(std::size_t short_form, std::size_t long_form) {
  const std::uint64_t count =
      number_in("FENCELINE_CAMPAIGN_COUNT").value_or(is_long() ? long_form : short_form);
  if (count == 0) {
    throw std::runtime_error("FENCELINE_CAMPAIGN_COUNT must be 1 or more");
  }
  return count;
}

std::uint64_t campaign_seed() {
  const std::optional<std::uint64_t> wanted = number_in("FENCELINE_CAMPAIGN_SEED");
  return wanted ? *wanted : std::random_device()();
}

std::string replay(std::string_view name, std::uint64_t seed) {
  return fmt::format("seed {0}; again: scripts/campaign {1}--seed {0} {2}", seed,
                     is_long() ? "" : "--short ", name);
}

void Broken::add(const std::vector<std::string>& violations) {
  for (const std::string& violation : violations) {
    if (violation.find("torn") != std::string::npos) {
      ++torn_reads;
    } else if (violation.find("was lost") != std::string::npos ||
               violation.find("no delete explains") != std::string::npos) {
      ++lost_acknowledgements;
    } else {
      ++stale_effects;
    }
  }
}

void Broken::add(const Broken& other) {
  stale_effects += other.stale_effects;
  lost_acknowledgements += other.lost_acknowledgements;
  torn_reads += other.torn_reads;
  lost_marks += other.lost_marks;
}

void print_summary(std::string_view name, std::string_view done, const Broken& broken,
                   std::uint64_t seed) {
  fmt::print(
      "campaign {}: {}, {} stale effects, {} lost acknowledgements, {} torn reads, {} lost marks "
      "(seed {})\n",
      name, done, broken.stale_effects, broken.lost_acknowledgements, broken.torn_reads,
      broken.lost_marks, seed);
  std::fflush(stdout);
}

bool wait_for_answers(const RecordedClients& clients, std::size_t requests) {
  const std::size_t target = clients.answered() + requests;
  wait_until(
      "the clients to get answers",
      [&] { return clients.answered() >= target || !clients.problems().empty(); },
      4 * ServerProcess::kTimeout);
  EXPECT_THAT(clients.problems(), ::testing::IsEmpty());
  return clients.problems().empty();
}

bool expect_allowed(const RecordedClients& clients, const std::vector<std::string>& violations) {
  std::string operations;
  for (const Operation& each : clients.history()) {
    if (!violations.empty() && violations.front().find(each.resource + " ") != std::string::npos) {
      operations += text_of(each) + "\n";
    }
  }
  EXPECT_THAT(violations, ::testing::IsEmpty()) << "All operations there:\n" << operations;
  return violations.empty();
}

void expect_marks_kept(FilesServer& server, const RecordedClients& clients, Broken& broken) {
  for (std::size_t tenant = 0; tenant < clients.tenants(); ++tenant) {
    const std::string key = RecordedClients::key_of(tenant);
    const std::int64_t mark = server.mark(key);
    const std::int64_t accepted = clients.highest_accepted(key);
    EXPECT_GE(mark, accepted) << key;
    broken.lost_marks += mark < accepted ? 1 : 0;
  }
}

}  // namespace fenceline::testing
