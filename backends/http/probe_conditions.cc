#include "backends/http/probe_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/http/gather.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;

constexpr int kRounds = 20;
constexpr int kWriters = 8;
constexpr std::string_view kNobodysTag = "\"fenceline-nobody-has-this\"";

bool is_strong(std::string_view tag) { return tag.size() > 2 && tag.starts_with('"'); }

// Long enough that a server that checks first and writes later is caught between the two.
std::string content_of(std::string_view who, int round, int writer) {
  std::string content = fmt::format("{} {} {} ", who, round, writer);
  content.resize(8192, 'x');
  return content;
}

// Conditions that do not hold.
Awaitable<Finding> check_refusals(ProbeCalls& calls) {
  const std::string target = calls.fresh();
  const std::string absent = calls.fresh();
  auto made = co_await calls.put(target, "one");
  if (!made.succeeded()) {
    co_return fmt::format("a PUT of a new resource was answered {}", made.status);
  }
  auto created = co_await calls.put(target, "two", "If-None-Match", "*");
  if (created.status != 412) {
    co_return fmt::format("PUT with If-None-Match: * on what exists was answered {}",
                          created.status);
  }
  auto replaced = co_await calls.put(target, "three", "If-Match", std::string(kNobodysTag));
  if (replaced.status != 412) {
    co_return fmt::format("PUT with an If-Match that does not hold was answered {}",
                          replaced.status);
  }
  auto revived = co_await calls.put(absent, "four", "If-Match", std::string(kNobodysTag));
  auto still = co_await calls.get(absent);
  auto kept = co_await calls.get(target);
  if (revived.succeeded() || !is_absent(still.status)) {
    co_return fmt::format("PUT with If-Match on what is absent was answered {}", revived.status);
  }
  if (kept.body != "one") {
    co_return "a PUT whose condition did not hold changed the resource";
  }
  co_return std::nullopt;
}

// Tags are strong and hold at once. Sets `tags_return` if one comes back with the same bytes.
Awaitable<Finding> check_tags(ProbeCalls& calls, bool& tags_return) {
  const std::string target = calls.fresh();
  auto made = co_await calls.put(target, "same");
  std::vector<std::string> tags;
  for (int round = 0; round < 4; ++round) {
    auto seen = co_await calls.get(target);
    if (!is_strong(seen.etag)) {
      co_return fmt::format("right after a write its ETag is no strong one: {}",
                            seen.etag.empty() ? std::string("absent") : seen.etag);
    }
    tags_return = tags_return || std::ranges::find(tags, seen.etag) != tags.end();
    tags.push_back(seen.etag);
    auto again = co_await calls.put(target, "same", "If-Match", seen.etag);
    if (!again.succeeded()) {
      co_return fmt::format("PUT with the current ETag in If-Match was answered {}", again.status);
    }
  }
  co_return std::nullopt;
}

// The only one that succeeded; nothing if there were none or more.
std::optional<std::size_t> only_winner(const std::vector<std::optional<Answered>>& answers) {
  std::optional<std::size_t> winner;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] && answers[i]->succeeded()) {
      if (winner) {
        return std::nullopt;
      }
      winner = i;
    }
  }
  return winner;
}

std::vector<Awaitable<Answered>> writers(ProbeCalls& calls, const std::string& target, int round,
                                         const std::string& condition, const std::string& value) {
  std::vector<Awaitable<Answered>> all;
  for (int writer = 0; writer < kWriters; ++writer) {
    all.push_back(calls.put(target, content_of("w", round, writer), condition, value));
  }
  return all;
}

Awaitable<Finding> race(ProbeCalls& calls, const std::string& target, int round,
                        const std::string& condition, const std::string& value) {
  auto all = writers(calls, target, round, condition, value);
  auto answers = co_await gather(std::move(all));
  const auto winner = only_winner(answers);
  if (!winner) {
    co_return fmt::format("of {} PUTs that raced with the same {}, not exactly one succeeded",
                          kWriters, condition);
  }
  auto after = co_await calls.get(target);
  if (after.body != content_of("w", round, static_cast<int>(*winner))) {
    co_return fmt::format(
        "after a race with the same {} the content was not that of the one that "
        "succeeded",
        condition);
  }
  co_return std::nullopt;
}

Awaitable<Finding> check_put_races(ProbeCalls& calls) {
  std::string target = calls.fresh();
  for (int round = 0; round < kRounds; ++round) {
    const bool creates = round % 4 == 0;
    if (creates) {
      target = calls.fresh();
    }
    auto before = co_await calls.get(target);
    const std::string condition = creates ? "If-None-Match" : "If-Match";
    const std::string value = creates ? "*" : before.etag;
    auto wrong = co_await race(calls, target, round, condition, value);
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

// One round: half of them write, half delete, all in the same state.
Awaitable<Finding> race_with_delete(ProbeCalls& calls, int round) {
  const std::string target = calls.fresh();
  auto made = co_await calls.put(target, "to be deleted");
  auto before = co_await calls.get(target);
  std::vector<Awaitable<Answered>> all;
  for (int writer = 0; writer < kWriters; ++writer) {
    all.push_back(writer % 2 == 0
                      ? calls.remove(target, "If-Match", before.etag)
                      : calls.put(target, content_of("d", round, writer), "If-Match", before.etag));
  }
  auto answers = co_await gather(std::move(all));
  const auto winner = only_winner(answers);
  if (!winner) {
    co_return "of PUTs and DELETEs that raced with the same If-Match, not exactly one succeeded";
  }
  auto after = co_await calls.get(target);
  const bool was_deleted = *winner % 2 == 0;
  const bool fits = was_deleted ? is_absent(after.status)
                                : after.body == content_of("d", round, static_cast<int>(*winner));
  co_return fits ? Finding()
                 : Finding(
                       "after PUTs and DELETEs raced the resource was not as the one that "
                       "succeeded left it");
}

}  // namespace

Awaitable<Finding> check_conditional_put(ProbeCalls& calls, bool& tags_return) {
  auto wrong = co_await check_refusals(calls);
  if (!wrong) {
    wrong = co_await check_tags(calls, tags_return);
  }
  if (!wrong) {
    wrong = co_await check_put_races(calls);
  }
  co_return wrong;
}

Awaitable<Finding> check_conditional_delete(ProbeCalls& calls) {
  const std::string target = calls.fresh();
  auto made = co_await calls.put(target, "kept");
  auto removed = co_await calls.remove(target, "If-Match", std::string(kNobodysTag));
  auto kept = co_await calls.get(target);
  if (removed.status != 412 || kept.body != "kept") {
    co_return fmt::format("DELETE with an If-Match that does not hold was answered {}",
                          removed.status);
  }
  const std::string absent = calls.fresh();
  auto nothing = co_await calls.remove(absent, "If-Match", std::string(kNobodysTag));
  if (nothing.succeeded()) {
    co_return fmt::format("DELETE with If-Match on what is absent was answered {}", nothing.status);
  }
  for (int round = 0; round < kRounds / 2; ++round) {
    auto wrong = co_await race_with_delete(calls, round);
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

}  // namespace fenceline::backends::http
