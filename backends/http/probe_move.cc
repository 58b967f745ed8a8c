#include "backends/http/probe_move.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/http/gather.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;

constexpr int kLanes = 6;
constexpr int kRacesPerLane = 12;

int status_of(const std::optional<Answered>& answer) { return answer ? answer->status : 0; }

bool succeeded(const std::optional<Answered>& answer) { return answer && answer->succeeded(); }

Awaitable<Finding> check_without_races(ProbeCalls& calls) {
  const std::string target = calls.fresh();
  const std::string source = calls.fresh();
  auto old = co_await calls.put(target, "old");
  auto made = co_await calls.put(source, "new");
  if (!old.succeeded() || !made.succeeded()) {
    co_return fmt::format("a PUT of a new resource was answered {}",
                          old.succeeded() ? made.status : old.status);
  }
  auto moved = co_await calls.move(source, target);
  if (moved.status != 201 && moved.status != 204) {
    co_return fmt::format("MOVE over a resource was answered {}", moved.status);
  }
  auto content = co_await calls.get(target);
  auto left = co_await calls.get(source);
  if (content.body != "new" || !is_absent(left.status)) {
    co_return "a MOVE that succeeded did not move";
  }
  auto again = co_await calls.move(source, target);
  auto kept = co_await calls.get(target);
  if (again.status / 100 != 4 || kept.body != "new") {
    co_return fmt::format("MOVE of a missing source was answered {} and left {}", again.status,
                          kept.status);
  }
  co_return std::nullopt;
}

// MOVE against DELETE of its source, with a reader of the target; in turns either goes first.
std::vector<Awaitable<Answered>> racers(ProbeCalls& calls, const std::string& source,
                                        const std::string& target, bool delete_first) {
  std::vector<Awaitable<Answered>> all;
  all.push_back(calls.get(target));
  all.push_back(delete_first ? calls.remove(source) : calls.move(source, target));
  all.push_back(delete_first ? calls.move(source, target) : calls.remove(source));
  return all;
}

Finding judge(const std::optional<Answered>& moved, const std::optional<Answered>& removed,
              const std::optional<Answered>& seen, const Answered& after, const std::string& old,
              const std::string& fresh) {
  if (succeeded(moved) && succeeded(removed)) {
    return "MOVE and DELETE of its source both succeeded";
  }
  if (!succeeded(seen) || (seen->body != old && seen->body != fresh)) {
    return fmt::format("while a MOVE ran, a reader of its target got {}", status_of(seen));
  }
  if (is_absent(after.status)) {
    return fmt::format("a MOVE that was answered {} destroyed its target", status_of(moved));
  }
  const bool is_old = after.body == old;
  const bool is_new = after.body == fresh;
  if ((succeeded(moved) && !is_new) || (succeeded(removed) && !is_old) || (!is_old && !is_new)) {
    return fmt::format(
        "after MOVE was answered {} and DELETE {}, the target held neither what it "
        "had nor what it should have got",
        status_of(moved), status_of(removed));
  }
  return std::nullopt;
}

Awaitable<Finding> race_in_a_lane(ProbeCalls& calls, int lane) {
  const std::string target = calls.fresh();
  std::string old = "at first";
  auto made = co_await calls.put(target, old);
  for (int race = 0; race < kRacesPerLane && made.succeeded(); ++race) {
    const std::string source = calls.fresh();
    const std::string fresh = fmt::format("lane {} race {}", lane, race);
    auto staged = co_await calls.put(source, fresh);
    const bool delete_first = race % 2 == 0;
    auto all = racers(calls, source, target, delete_first);
    auto answers = co_await gather(std::move(all));
    auto after = co_await calls.get(target);
    auto wrong = judge(answers[delete_first ? 2 : 1], answers[delete_first ? 1 : 2], answers[0],
                       after, old, fresh);
    if (wrong) {
      co_return wrong;
    }
    old = after.body;
  }
  co_return made.succeeded() ? Finding() : Finding("a PUT of a new resource failed");
}

}  // namespace

Awaitable<Finding> check_move(ProbeCalls& calls) {
  auto wrong = co_await check_without_races(calls);
  if (wrong) {
    co_return wrong;
  }
  std::vector<Awaitable<Finding>> lanes;
  lanes.reserve(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes.push_back(race_in_a_lane(calls, lane));
  }
  auto findings = co_await gather(std::move(lanes));
  for (const auto& finding : findings) {
    if (!finding || *finding) {
      co_return finding ? *finding : Finding("a race could not be run");
    }
  }
  co_return std::nullopt;
}

}  // namespace fenceline::backends::http
