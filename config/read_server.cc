#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "config/ranges.h"
#include "config/readers.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::int64_t kMaxCacheKeys = 1'000'000'000;
constexpr std::int64_t kMaxConnections = 1'000'000;
constexpr std::int64_t kMaxThreads = 256;
constexpr std::size_t kMaxTokenHeaders = 8;
constexpr std::uint64_t kMaxStagedBytes = std::uint64_t{1} << 60U;

void read_listen(Section& top, Listen& listen) {
  const YamlNode* node = top.value("listen", Need::kRequired);
  if (node == nullptr) {
    return;
  }
  listen.place = node->place;
  if (node->kind != YamlNode::Kind::kMap) {
    top.read_into("listen", listen.endpoint, parse_endpoint);
    return;
  }
  auto map = top.map("listen", Need::kRequired);
  if (!map) {
    return;
  }
  if (auto endpoint = map->read("address", Need::kRequired, parse_endpoint)) {
    listen.endpoint = std::move(*endpoint);
    listen.place = map->place_of("address");
  }
  if (auto tls = map->map("tls", Need::kOptional)) {
    auto certificate = tls->read("certificate", Need::kRequired, parse_path);
    auto key = tls->read("key", Need::kRequired, parse_path);
    if (certificate && key) {
      listen.tls = Tls{std::move(*certificate), std::move(*key)};
    }
  }
}

void read_admin(Section& top, std::optional<Admin>& out) {
  auto map = top.map("admin", Need::kOptional);
  if (!map) {
    return;
  }
  auto endpoint = map->read("listen", Need::kRequired, parse_endpoint);
  auto token = map->read("token", Need::kOptional, parse_bearer_token);
  // A token that is there but wrong is reported; "no token at all" would be a second, false report.
  if (endpoint && token.has_value() == map->has("token")) {
    out = Admin{std::move(*endpoint), std::move(token), map->place_of("listen")};
  }
}

void read_ledger(Section& top, LedgerConfig& ledger) {
  auto map = top.map("ledger", Need::kRequired);
  if (!map) {
    return;
  }
  if (auto path = map->read("sqlite", Need::kRequired, parse_path)) {
    ledger.sqlite = std::move(*path);
    ledger.place = map->place_of("sqlite");
  }
  map->read_into("cache_keys", ledger.cache_keys, integer_in(1, kMaxCacheKeys));
}

void read_token(Section& top, TokenConfig& token) {
  auto map = top.map("token", Need::kOptional);
  if (!map) {
    return;
  }
  const auto items = map->list("headers", Need::kOptional);
  if (!items) {
    return;
  }
  std::vector<std::string> headers;
  for (const YamlNode* item : *items) {
    auto header = map->parse_scalar("headers", *item, parse_token_header);
    if (!header) {
      continue;
    }
    const bool twice = std::ranges::any_of(headers, [&header](const std::string& known) {
      return ::strcasecmp(known.c_str(), header->c_str()) == 0;
    });
    if (twice) {
      map->problem("headers", *item, fmt::format("\"{}\" is in the list twice", *header));
    } else if (headers.size() == kMaxTokenHeaders) {
      map->problem("headers", *item, fmt::format("more than {} names", kMaxTokenHeaders));
      break;
    } else {
      headers.push_back(std::move(*header));
    }
  }
  token.headers = std::move(headers);
}

void read_limits(Section& top, Limits& limits) {
  if (auto map = top.map("limits", Need::kOptional)) {
    map->read_into("head", limits.head_bytes, size_in(kKiB, kMiB));
    map->read_into("connections", limits.connections, integer_in(1, kMaxConnections));
    map->read_into("staged", limits.staged_bytes, size_in(kMiB, kMaxStagedBytes));
  }
}

void read_timeouts(Section& top, Timeouts& timeouts) {
  if (auto map = top.map("timeouts", Need::kOptional)) {
    map->read_into("head", timeouts.head, timeout());
    map->read_into("body", timeouts.body, timeout());
    map->read_into("keep_alive", timeouts.keep_alive, timeout());
    map->read_into("write", timeouts.write, timeout());
    map->read_into("drain", timeouts.drain, drain_timeout());
    map->read_into("shutdown", timeouts.shutdown, timeout());
  }
}

void read_log(Section& top, LogConfig& log) {
  if (auto map = top.map("log", Need::kOptional)) {
    map->read_into("format", log.format, [](std::string_view text) {
      return parse_choice<LogFormat>(text,
                                     {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
    });
    map->read_into("level", log.level, [](std::string_view text) {
      return parse_choice<LogLevel>(text, {{"debug", LogLevel::kDebug},
                                           {"info", LogLevel::kInfo},
                                           {"warn", LogLevel::kWarn},
                                           {"error", LogLevel::kError}});
    });
  }
}

void read_threads(Section& top, Threads& threads) {
  if (auto map = top.map("threads", Need::kOptional)) {
    map->read_into("io", threads.io, integer_in(1, kMaxThreads));
    map->read_into("workers", threads.workers, integer_in(1, kMaxThreads));
  }
}

}  // namespace

void read_server(Section& top, Config& config) {
  read_listen(top, config.listen);
  read_admin(top, config.admin);
  read_ledger(top, config.ledger);
  read_token(top, config.token);
  read_limits(top, config.limits);
  read_timeouts(top, config.timeouts);
  read_log(top, config.log);
  read_threads(top, config.threads);
  read_leases(top, config.leases);
}

}  // namespace fenceline::config
