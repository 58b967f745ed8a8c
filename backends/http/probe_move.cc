#include "backends/http/probe_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "backends/http/current_context.h"
#include "backends/http/gather.h"
#include "base/asio_await.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;

using std::chrono::microseconds;

constexpr int kLanes = 4;
constexpr int kRacesPerLane = 20;
constexpr std::size_t kContentBytes = 16UL * 1024;
// To delete so much takes a server long enough to be caught at it.
constexpr std::size_t kLargeBytes = 2UL * 1024 * 1024;
constexpr int kWatchedMoves = 16;
constexpr int kOvertakings = 8;
constexpr int kWatchers = 6;

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

Awaitable<Answered> after(microseconds delay, Awaitable<Answered> call) {
  auto* context = co_await current_context();
  boost::asio::steady_timer timer(*context);
  boost::system::error_code ignored;
  auto token = base::await_into(ignored);
  timer.expires_after(delay);
  co_await timer.async_wait(token);
  auto answered = co_await std::move(call);
  co_return answered;
}

Awaitable<Answered> timed(Awaitable<Answered> call, microseconds& took) {
  const auto begun = std::chrono::steady_clock::now();
  auto answered = co_await std::move(call);
  took = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begun);
  co_return answered;
}

enum Racer : std::size_t { kMover, kDeleter, kEarlyReader, kLateReader };

// MOVE against DELETE of its source, with two readers of the target. Which moment of the MOVE the
// others hit cannot be known, so they sweep over the time that the last one took, race by race.
std::vector<Awaitable<Answered>> racers(ProbeCalls& calls, const std::string& source,
                                        const std::string& target, int race, microseconds& took) {
  const microseconds step = took / kRacesPerLane;
  std::vector<Awaitable<Answered>> all;
  all.push_back(timed(calls.move(source, target), took));
  all.push_back(after(step * race, calls.remove(source)));
  all.push_back(after(step * race / 2, calls.get(target)));
  all.push_back(after(step * (race + kRacesPerLane) / 2, calls.get(target)));
  return all;
}

Finding judge(const std::vector<std::optional<Answered>>& answers, const Answered& after,
              const std::string& old, const std::string& fresh) {
  const auto& moved = answers[kMover];
  const auto& removed = answers[kDeleter];
  if (succeeded(moved) && succeeded(removed)) {
    return "MOVE and DELETE of its source both succeeded";
  }
  for (const Racer reader : {kEarlyReader, kLateReader}) {
    const auto& seen = answers[reader];
    if (!succeeded(seen) || (seen->body != old && seen->body != fresh)) {
      return fmt::format("while a MOVE ran, a reader of its target got {}", status_of(seen));
    }
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
  microseconds took{0};
  auto made = co_await calls.put(target, old);
  for (int race = 0; race < kRacesPerLane && made.succeeded(); ++race) {
    const std::string source = calls.fresh();
    std::string fresh = fmt::format("lane {} race {}", lane, race);
    fresh.resize(kContentBytes, 'x');
    auto staged = co_await calls.put(source, fresh);
    auto all = racers(calls, source, target, race, took);
    auto answers = co_await gather(std::move(all));
    auto now = co_await calls.get(target);
    auto wrong = judge(answers, now, old, fresh);
    if (wrong) {
      co_return wrong;
    }
    old = now.body;
  }
  co_return made.succeeded() ? Finding() : Finding("a PUT of a new resource failed");
}

// The race that a paused MOVE loses, without luck.
Awaitable<Finding> overtake(ProbeCalls& calls) {
  const std::string target = calls.fresh();
  auto made = co_await calls.put(target, "old");
  for (int round = 0; round < kOvertakings && made.succeeded(); ++round) {
    const std::string source = calls.fresh();
    made = co_await calls.put(source, "new");
    auto outcome = co_await calls.move_overtaken(source, target);
    auto now = co_await calls.get(target);
    const bool both = outcome.removed.succeeded() && outcome.moved.succeeded();
    if (both || (outcome.removed.succeeded() && now.body != "old")) {
      co_return fmt::format(
          "a MOVE whose source was deleted meanwhile was answered {} and left its "
          "target as {}",
          outcome.moved.status, now.status);
    }
    if (now.body != "old") {
      made = co_await calls.put(target, "old");
    }
  }
  co_return made.succeeded() ? Finding() : Finding("a PUT of a new resource failed");
}

// Looks at the target again and again until the MOVE has ended. True if it was always there.
Awaitable<bool> watch_target(ProbeCalls& calls, const std::string& target, const bool& ended) {
  bool always = true;
  while (!ended && always && !calls.error()) {
    auto seen = co_await calls.head(target);
    always = seen.succeeded() || calls.error();
  }
  co_return always;
}

Awaitable<bool> move_watched(ProbeCalls& calls, const std::string& source,
                             const std::string& target, bool& ended) {
  auto moved = co_await calls.move(source, target);
  ended = true;
  co_return moved.succeeded();
}

// A MOVE that deletes its target first shows a gap, whether it races with a DELETE or not.
Awaitable<Finding> look_for_gaps(ProbeCalls& calls) {
  const std::string target = calls.fresh();
  const std::string content(kLargeBytes, 'x');
  auto made = co_await calls.put(target, content);
  for (int round = 0; round < kWatchedMoves && made.succeeded(); ++round) {
    const std::string source = calls.fresh();
    made = co_await calls.put(source, content);
    bool ended = false;
    std::vector<Awaitable<bool>> all;
    for (int watcher = 0; watcher < kWatchers; ++watcher) {
      all.push_back(watch_target(calls, target, ended));
    }
    all.push_back(move_watched(calls, source, target, ended));
    auto outcomes = co_await gather(std::move(all));
    if (!outcomes.back().value_or(false)) {
      co_return "MOVE of a large resource failed";
    }
    if (std::ranges::count(outcomes, std::optional(true)) != kWatchers + 1) {
      co_return "while a MOVE ran, its target was gone";
    }
  }
  co_return made.succeeded() ? Finding() : Finding("a PUT of a new large resource failed");
}

}  // namespace

Awaitable<Finding> check_move(ProbeCalls& calls) {
  auto wrong = co_await check_without_races(calls);
  if (!wrong) {
    wrong = co_await overtake(calls);
  }
  if (!wrong) {
    wrong = co_await look_for_gaps(calls);
  }
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
