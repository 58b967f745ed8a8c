#include "client/sources/redlock_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/redis/command.h"
#include "client/redis/failures.h"
#include "client/redis/round.h"
#include "client/sources/redlock_nodes.h"
#include "client/sources/redlock_scripts.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using redis::Reply;

constexpr Milliseconds kLongestAnswer{5'000};

/// What one node has of this Redlock.
struct Survey {
  std::optional<std::int64_t> floor;  ///< Of its marker; nothing: it is no member.
  std::int64_t highest = 0;
  Milliseconds longest{0};
  std::size_t found = 0;
};

tl::unexpected<base::Error> conflict(std::string detail) {
  return base::fail(ErrorKind::kMarkConflict, std::move(detail));
}

std::optional<std::int64_t> read_floor(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end && value >= 0 ? std::optional(value) : std::nullopt;
}

/// A pattern of SCAN that matches `text` and whatever follows.
std::string glob_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]^-\\").find(c) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern + "{*";
}

class Admin {
 public:
  Admin(redlock::Nodes nodes, std::stop_token stop)
      : nodes_(std::move(nodes)), stop_(std::move(stop)) {}

  [[nodiscard]] redlock::Nodes& nodes() { return nodes_; }

  Result<Reply> ask(std::size_t node, const std::string& command) {
    std::vector<bool> whom(nodes_.size());
    whom[node] = true;
    auto replies = nodes_.ask(command, kLongestAnswer, {}, stop_, whom);
    return std::move(replies[node]);
  }

  /// Looks through all that the node has.
  Result<Survey> survey(std::size_t node) {
    constexpr std::string_view kStep = "500";
    const std::string pattern = glob_of(nodes_.prefix());
    Survey survey;
    std::string cursor = "0";
    do {
      auto reply = ask(
          node, redis::eval(redlock::kSurvey, {nodes_.member_name()}, {cursor, pattern, kStep}));
      if (!reply) {
        return base::pass_on(reply.error());
      }
      if (reply->elements.size() != 5) {
        return tl::unexpected<base::Error>(redis::strange_answer(nodes_.name(node)));
      }
      const auto& parts = reply->elements;
      cursor = parts[0].text;
      survey.highest = std::max(survey.highest, parts[1].integer);
      survey.longest = std::max(survey.longest, Milliseconds(parts[2].integer));
      survey.found += static_cast<std::size_t>(parts[3].integer);
      survey.floor = read_floor(parts[4].text);
    } while (cursor != "0");
    survey.highest = std::max(survey.highest, survey.floor.value_or(0));
    return survey;
  }

  Result<void> set_marker(std::size_t node, std::int64_t floor) {
    auto reply = ask(node, redis::command({"SET", nodes_.member_name(), std::to_string(floor)}));
    return reply ? Result<void>() : base::pass_on(reply.error());
  }

  Result<void> remove_marker(std::size_t node) {
    auto reply = ask(node, redis::command({"DEL", nodes_.member_name()}));
    return reply ? Result<void>() : base::pass_on(reply.error());
  }

  /// What the other members have, all together; those that do not answer or are none left out.
  struct Others {
    std::size_t members = 0;
    Survey together{};
    std::string missing{};  ///< Sentences about those that are left out.
  };
  Others survey_others(std::size_t node) {
    Others others;
    for (std::size_t other = 0; other < nodes_.size(); ++other) {
      if (other == node) {
        continue;
      }
      const auto seen = survey(other);
      if (!seen) {
        others.missing += " " + seen.error().detail;
      } else if (!seen->floor) {
        others.missing += fmt::format(" {} is no member either.", nodes_.name(other));
      } else {
        ++others.members;
        others.together.highest = std::max(others.together.highest, seen->highest);
        others.together.longest = std::max(others.together.longest, seen->longest);
        others.together.found = std::max(others.together.found, seen->found);
      }
    }
    return others;
  }

  /// Waits for what is still held; says how long.
  Result<Milliseconds> wait(Milliseconds time, const RedlockResync& resync,
                            const base::Clock& clock) {
    const base::MonotonicTime end = clock.now() + time;
    if (time > Milliseconds(0) && resync.on_wait) {
      resync.on_wait(time);
    }
    while (clock.now() < end) {
      if (redis::wait_or_stop(std::chrono::ceil<Milliseconds>(end - clock.now()), stop_)) {
        return base::fail(ErrorKind::kClientGone, "Stopped while waiting for locks to end.");
      }
    }
    return time;
  }

 private:
  redlock::Nodes nodes_;
  std::stop_token stop_;
};

Result<void> check_floor(std::int64_t floor) {
  if (floor < 0 || floor > kMaxRedlockFloor) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The floor {} is not between 0 and 2^52.", floor));
  }
  return {};
}

/// The floor of a node that comes back, or why it cannot.
Result<std::int64_t> decide_floor(const redlock::Nodes& nodes, const Admin::Others& others,
                                  std::optional<std::int64_t> given) {
  const bool enough = others.members >= nodes.quorum();
  if (!enough && !given) {
    return conflict(fmt::format(
        "Only {} of the other members answer, and {} are needed to know the highest token:{} Bring "
        "them back first; if their data is lost, give a floor that no token so far is above "
        "(--floor N), such as the highest mark of the fence.",
        others.members, nodes.quorum(), others.missing));
  }
  if (!enough && *given < others.together.highest) {
    return conflict(fmt::format("The floor {} is below {}, which a member has: give that or more.",
                                *given, others.together.highest));
  }
  const std::int64_t floor =
      std::max(given.value_or(0), enough ? others.together.highest + kResyncJump : 0);
  if (floor > kMaxRedlockFloor + kResyncJump) {
    return conflict(
        "The counters are at the end of what Redis counts exactly: use another prefix, and reset "
        "the fence (fenceline fences reset).");
  }
  return floor;
}

}  // namespace

Result<bool> init_redlock(SourceUrl url, const RedlockInit& init, std::stop_token stop) {
  if (auto right = check_floor(init.floor); !right) {
    return base::pass_on(right.error());
  }
  auto nodes = redlock::make_nodes(std::move(url));
  if (!nodes) {
    return base::pass_on(nodes.error());
  }
  Admin admin(std::move(*nodes), std::move(stop));
  std::vector<std::size_t> outside;
  std::optional<std::size_t> in_use;
  for (std::size_t node = 0; node < admin.nodes().size(); ++node) {
    const auto survey = admin.survey(node);
    if (!survey) {
      return tl::unexpected<base::Error>(survey.error());
    }
    if (!survey->floor) {
      outside.push_back(node);
    }
    if (survey->found > 0 || survey->floor.value_or(init.floor) != init.floor) {
      in_use = node;
    }
  }
  if (outside.empty()) {
    return false;
  }
  if (in_use) {
    return conflict(
        fmt::format("{} is in use already, and {} is no member: it has lost its data, or is new. "
                    "Run `fenceline "
                    "lease redlock-resync` for it.",
                    admin.nodes().name(*in_use), admin.nodes().name(outside.front())));
  }
  for (const std::size_t node : outside) {
    if (auto set = admin.set_marker(node, init.floor); !set) {
      return base::pass_on(set.error());
    }
  }
  return true;
}

Result<RedlockResynced> resync_redlock(SourceUrl url, const RedlockResync& resync,
                                       const base::Clock& clock, std::stop_token stop) {
  if (auto right = check_floor(resync.floor.value_or(0)); !right) {
    return base::pass_on(right.error());
  }
  const auto found = std::ranges::find(url.hosts, resync.node);
  if (found == url.hosts.end()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("{}:{} is none of the nodes in the source's URL.",
                                  resync.node.host, resync.node.port));
  }
  const auto node = static_cast<std::size_t>(found - url.hosts.begin());
  auto nodes = redlock::make_nodes(std::move(url));
  if (!nodes) {
    return base::pass_on(nodes.error());
  }
  Admin admin(std::move(*nodes), std::move(stop));
  if (auto removed = admin.remove_marker(node); !removed) {
    return base::pass_on(removed.error());
  }
  const Admin::Others before = admin.survey_others(node);
  if (auto possible = decide_floor(admin.nodes(), before, resync.floor); !possible) {
    return base::pass_on(possible.error());
  }
  // Where a majority has forgotten, nobody knows what is still held.
  const bool known = before.members >= admin.nodes().quorum();
  const auto waited = admin.wait(
      known ? before.together.longest : std::max(before.together.longest, resync.longest_ttl),
      resync, clock);
  if (!waited) {
    return tl::unexpected<base::Error>(waited.error());
  }
  const Admin::Others after = admin.survey_others(node);
  auto floor = decide_floor(admin.nodes(), after, resync.floor);
  if (!floor) {
    return base::pass_on(floor.error());
  }
  if (auto set = admin.set_marker(node, *floor); !set) {
    return base::pass_on(set.error());
  }
  return RedlockResynced{
      .floor = *floor, .asked = after.members, .counters = after.together.found, .waited = *waited};
}

}  // namespace fenceline::client
