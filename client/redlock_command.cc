#include "client/redlock_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <optional>
#include <utility>

#include "base/boottime_clock.h"
#include "client/source_url.h"
#include "client/sources/redlock_admin.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;

constexpr std::uint16_t kRedisPort = 6379;
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitRefused = 3;
constexpr int kExitStopped = 130;

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kMalformedRequest:
      return kExitUsage;
    case ErrorKind::kMarkConflict:
      return kExitRefused;
    case ErrorKind::kClientGone:
      return kExitStopped;
    default:
      return kExitFailure;
  }
}

tl::unexpected<base::Error> wrong(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

Result<SourceUrl> read_source(const std::string& text) {
  auto url = parse_source_url(text, kRedisPort);
  if (url && url->scheme != "redlock" && url->scheme != "redlocks") {
    return wrong("The source must be a Redlock: redlock://a,b,c or redlocks://a,b,c.");
  }
  return url;
}

Result<std::optional<std::int64_t>> read_floor(const std::string& text) {
  std::int64_t value = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end || value < 0) {
    return wrong(fmt::format("The floor '{}' is no number.", text));
  }
  return value;
}

Result<SourceHost> read_node(const std::string& text) {
  auto url = parse_source_url("redlock://" + text, kRedisPort);
  if (!url || url->hosts.size() != 1 || url->user || !url->path.empty() || !url->options.empty()) {
    return wrong(fmt::format("The node '{}' is not written as host:port.", text));
  }
  return url->hosts.front();
}

void print(const RedlockOptions& options, const boost::json::object& object,
           const std::string& sentence) {
  fmt::print("{}\n", options.json ? boost::json::serialize(object) : sentence);
}

Result<void> init(const RedlockOptions& options, SourceUrl url, std::optional<std::int64_t> floor,
                  std::stop_token stop) {
  const std::size_t nodes = url.hosts.size();
  auto done = init_redlock(std::move(url), {.floor = floor.value_or(0)}, std::move(stop));
  if (!done) {
    return base::pass_on(done.error());
  }
  print(options, {{"nodes", nodes}, {"changed", *done}},
        *done ? fmt::format("All {} nodes are members now.", nodes)
              : fmt::format("All {} nodes were members already.", nodes));
  return {};
}

Result<void> resync(const RedlockOptions& options, SourceUrl url, std::optional<std::int64_t> floor,
                    std::stop_token stop) {
  auto node = read_node(options.node);
  if (!node) {
    return base::pass_on(node.error());
  }
  RedlockResync order;
  order.node = std::move(*node);
  order.floor = floor;
  order.longest_ttl = std::chrono::seconds(std::int64_t{options.longest_ttl_s});
  order.on_wait = [](base::Milliseconds time) {
    fmt::print(stderr, "waiting {} ms until what is held has ended\n", time.count());
  };
  auto done = resync_redlock(std::move(url), order, base::BoottimeClock(), std::move(stop));
  if (!done) {
    return base::pass_on(done.error());
  }
  print(options,
        {{"node", options.node},
         {"floor", std::to_string(done->floor)},
         {"asked", done->asked},
         {"waited_ms", done->waited.count()}},
        fmt::format("{} is a member again: tokens go on above {}, from what {} others have.",
                    options.node, done->floor, done->asked));
  return {};
}

Result<void> run(const RedlockOptions& options, std::stop_token stop) {
  auto url = read_source(options.source);
  if (!url) {
    return base::pass_on(url.error());
  }
  auto floor = read_floor(options.floor);
  if (!floor) {
    return base::pass_on(floor.error());
  }
  return options.command == RedlockOptions::Command::kInit
             ? init(options, std::move(*url), *floor, std::move(stop))
             : resync(options, std::move(*url), *floor, std::move(stop));
}

}  // namespace

RedlockCommands add_redlock_commands(CLI::App& lease, RedlockOptions& options) {
  CLI::App* const init = lease.add_subcommand(
      "redlock-init", "Make the Redis servers of a new Redlock its members, once");
  CLI::App* const resync = lease.add_subcommand(
      "redlock-resync", "Bring back a Redis server of a Redlock that has lost its data");
  for (CLI::App* const each : {init, resync}) {
    each->add_option("--source", options.source, "All nodes, as redlock://a:port,b:port,c:port")
        ->type_name("URL")
        ->envname("FENCELINE_SOURCE")
        ->required();
    each->add_option("--floor", options.floor,
                     each == init ? "A number that no token so far is above, by default 0"
                                  : "The same, where a majority has lost its data")
        ->type_name("NUMBER");
    each->add_flag("--json", options.json, "Print an object, for scripts");
  }
  init->callback([&options] { options.command = RedlockOptions::Command::kInit; });
  resync->add_option("node", options.node, "The server, as in the source")
      ->type_name("HOST:PORT")
      ->required();
  resync
      ->add_option("--longest-ttl", options.longest_ttl_s,
                   "With --floor: the longest ttl in use, in seconds, by default 60")
      ->type_name("SECONDS");
  resync->callback([&options] { options.command = RedlockOptions::Command::kResync; });
  return {init, resync};
}

int run_redlock(const RedlockOptions& options, std::stop_token stop) {
  auto done = run(options, std::move(stop));
  if (done) {
    return 0;
  }
  fmt::print(stderr, "fenceline: {}\n", done.error().detail);
  return exit_code_of(done.error().kind);
}

}  // namespace fenceline::client
