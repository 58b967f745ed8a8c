#include "tests/campaign/takeover_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fenceline::testing {
namespace {

/// Something that was over at `at_ns` with this token.
struct Over {
  std::int64_t at_ns = 0;
  std::int64_t token = 0;
};

/// The largest token of what was over before a moment. Moments must be asked for in their order.
class LargestBefore {
 public:
  explicit LargestBefore(std::vector<Over> over) : over_(std::move(over)) {
    std::ranges::sort(over_, {}, &Over::at_ns);
  }

  std::int64_t operator()(std::int64_t moment_ns) {
    for (; next_ < over_.size() && over_[next_].at_ns < moment_ns; ++next_) {
      largest_ = std::max(largest_, over_[next_].token);
    }
    return largest_;
  }

 private:
  std::vector<Over> over_;
  std::size_t next_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace

std::vector<std::string> judge_grants(const std::vector<TakeoverRun>& runs,
                                      const std::vector<TakeoverEvent>& events) {
  std::vector<std::string> violations;
  std::vector<TakeoverEvent> grants;
  std::vector<Over> over;
  std::set<std::int64_t> seen;
  for (const TakeoverEvent& event : events) {
    if (event.kind != TakeoverEvent::Kind::kStart) {
      continue;
    }
    grants.push_back(event);
    over.push_back({event.begin_ns, event.token});
    if (!seen.insert(event.token).second) {
      violations.push_back(fmt::format("the token {} was given twice", event.token));
    }
  }
  const auto ordered = [&](const TakeoverEvent& event) { return runs.at(event.run).started_ns; };
  std::ranges::sort(grants, {}, ordered);
  LargestBefore largest(std::move(over));
  for (const TakeoverEvent& grant : grants) {
    if (const std::int64_t before = largest(ordered(grant)); before >= grant.token) {
      violations.push_back(fmt::format(
          "the token {} was given to a run that started when {} was at work", grant.token, before));
    }
  }
  return violations;
}

std::vector<std::string> judge_writes(const std::vector<TakeoverEvent>& events) {
  std::vector<std::string> violations;
  std::vector<TakeoverEvent> writes;
  std::vector<Over> over;
  for (const TakeoverEvent& event : events) {
    if (event.kind != TakeoverEvent::Kind::kStart && event.accepted()) {
      writes.push_back(event);
      over.push_back({event.end_ns, event.token});
    }
  }
  std::ranges::sort(writes, {}, &TakeoverEvent::begin_ns);
  LargestBefore largest(std::move(over));
  for (const TakeoverEvent& write : writes) {
    if (const std::int64_t before = largest(write.begin_ns); before > write.token) {
      violations.push_back(fmt::format(
          "a write with {} was accepted, although one with {} had been", write.token, before));
    }
  }
  return violations;
}

std::vector<std::string> judge_order(const std::string& what,
                                     const std::vector<std::int64_t>& tokens) {
  std::vector<std::string> violations;
  std::int64_t largest = 0;
  for (const std::int64_t token : tokens) {
    if (token < largest) {
      violations.push_back(fmt::format("{}: {} came after {}", what, token, largest));
    }
    largest = std::max(largest, token);
  }
  return violations;
}

}  // namespace fenceline::testing
