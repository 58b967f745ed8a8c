#include "client/sources/redis_health.h"

#include <fmt/format.h>

#include <utility>

#include "client/redis/command.h"
#include "client/redis/failures.h"
#include "client/redis/round.h"

namespace fenceline::client {
namespace {

using base::Result;
using redis::Reply;

constexpr base::Milliseconds kDeadline{2'000};

Result<Reply> ask(redis::Peer& peer, std::string command) {
  redis::RoundRules rules;
  rules.deadline = kDeadline;
  auto answers = redis::ask_round({{&peer, std::move(command)}}, rules, {});
  return std::move(answers.front());
}

/// The value of `name`; nothing and `refusal` if it is not told.
Result<std::optional<std::string>> config(redis::Peer& peer, std::string_view name,
                                          std::string& refusal) {
  auto reply = ask(peer, redis::command({"CONFIG", "GET", name}));
  if (!reply) {
    return base::pass_on(reply.error());
  }
  if (reply->is_error()) {
    refusal = reply->text.substr(0, reply->text.find(' '));
    return std::nullopt;
  }
  // A server without this setting gives no pair.
  return reply->elements.size() == 2 ? std::optional(std::move(reply->elements[1].text))
                                     : std::nullopt;
}

bool has_line(std::string_view info, std::string_view line) {
  const std::size_t at = info.find(line);
  return at != std::string_view::npos && (at == 0 || info[at - 1] == '\n');
}

void add_persistence(const RedisSetup& setup, std::string_view name,
                     std::vector<std::string>& warnings) {
  if (setup.appendonly == "no") {
    warnings.push_back(fmt::format(
        "Redis at {} {}: a restart makes its tokens start again. Set appendonly yes and "
        "appendfsync always.",
        name,
        setup.save.value_or("").empty()
            ? "persists nothing"
            : "only takes snapshots, and loses all since the last one"));
  } else if (setup.appendfsync && setup.appendfsync != "always") {
    warnings.push_back(
        fmt::format("Redis at {} has appendfsync {}: when the machine fails, up to 2 seconds of "
                    "tokens are lost "
                    "and given out again. Set appendfsync always.",
                    name, *setup.appendfsync));
  }
}

void add_topology(std::string_view info, std::string_view name,
                  std::vector<std::string>& warnings) {
  if (has_line(info, "role:slave")) {
    warnings.push_back(fmt::format("Redis at {} is a replica: name the master.", name));
  }
  if (has_line(info, "cluster_enabled:1")) {
    warnings.push_back(fmt::format(
        "Redis at {} is part of a cluster: keys may live on other nodes, and a failover loses the "
        "latest tokens. Use a server of its own.",
        name));
  } else if (info.find("connected_slaves:") != std::string_view::npos &&
             !has_line(info, "connected_slaves:0")) {
    warnings.push_back(fmt::format(
        "Redis at {} has replicas: one that is promoted may not have the latest tokens, and gives "
        "them out again. Do not fail over to a replica, or use redlock://.",
        name));
  }
}

}  // namespace

std::vector<std::string> warnings_of(const RedisSetup& setup, std::string_view name) {
  std::vector<std::string> warnings;
  const std::string policy = setup.maxmemory_policy.value_or("noeviction");
  if (policy != "noeviction") {
    warnings.push_back(fmt::format(
        "Redis at {} has maxmemory-policy {}: when memory is short it throws away {}. Set "
        "maxmemory-policy noeviction.",
        name, policy,
        policy.starts_with("volatile") ? "locks that are held"
                                       : "locks and counters, and tokens start again"));
  }
  add_persistence(setup, name, warnings);
  add_topology(setup.info, name, warnings);
  if (!setup.config_refusal.empty()) {
    warnings.push_back(fmt::format(
        "Redis at {} does not tell its settings ({}): whether it may evict or lose tokens could "
        "not "
        "be checked. Permit CONFIG GET, or see to appendonly yes, appendfsync always and "
        "maxmemory-policy noeviction.",
        name, setup.config_refusal));
  }
  return warnings;
}

Result<RedisSetup> ask_for_setup(redis::Peer& peer) {
  RedisSetup setup;
  const std::pair<std::string_view, std::optional<std::string> RedisSetup::*> settings[] = {
      {"maxmemory-policy", &RedisSetup::maxmemory_policy},
      {"appendonly", &RedisSetup::appendonly},
      {"appendfsync", &RedisSetup::appendfsync},
      {"save", &RedisSetup::save},
  };
  for (const auto& [name, into] : settings) {
    auto value = config(peer, name, setup.config_refusal);
    if (!value) {
      return base::pass_on(value.error());
    }
    setup.*into = std::move(*value);
  }
  for (const std::string_view section : {"replication", "cluster"}) {
    auto info = ask(peer, redis::command({"INFO", section}));
    if (!info) {
      return base::pass_on(info.error());
    }
    if (!info->is_error()) {
      setup.info += info->text;
    }
  }
  return setup;
}

}  // namespace fenceline::client
