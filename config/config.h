#pragma once

// The validated configuration (design, 6): plain data. Every default stands here and nowhere else;
// `docs/config.md` has one row for each key. Relative paths are relative to the working directory
// of the process.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/backend_config.h"
#include "config/endpoint.h"
#include "config/fence_template.h"
#include "config/lease_config.h"
#include "config/pattern.h"
#include "config/problem.h"

namespace fenceline::config {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

/// A body that becomes a value of a database is held in memory.
inline constexpr std::uint64_t kSqliteBodyBytes = 16 * kMiB;

/// A certificate and its key, both PEM files. The certificate file may hold a chain, leaf first.
struct Tls {
  std::string certificate;
  std::string key;
};

/// The public listener: where clients send their reads and writes. `listen` in the file is either
/// the endpoint alone or a map of `address` (the endpoint) and `tls`.
struct Listen {
  Endpoint endpoint;
  std::optional<Tls> tls;
  Place place;
};

/// The admin listener: health, metrics, fences. Left out, there is none. Whoever reaches it sees
/// every key and every route, so an address that other machines reach needs `token`: requests must
/// then carry it as `Authorization: Bearer` (RFC 6750). Keep the token out of the file: `${NAME}`.
struct Admin {
  Endpoint endpoint;
  std::optional<std::string> token;
  Place place;
};

/// The durable table of marks. `sqlite` is the file of the embedded ledger; it must not be inside a
/// files root, or a client could overwrite the fence. `cache_keys` bounds how many keys are kept in
/// memory; a key that is not costs one point lookup.
struct LedgerConfig {
  std::string sqlite;
  std::size_t cache_keys = 1'000'000;
  Place place;
};

/// How a request carries its token: the header field names that are looked at, in the case they
/// were written in (names are compared without case). A request must carry exactly one token, so
/// two of these at once are refused. The holder's field is always `Fencing-Holder`.
struct TokenConfig {
  std::vector<std::string> headers{"Fencing-Token", "X-Fencing-Token"};
};

/// Bounds for the whole process.
struct Limits {
  /// Request line and header fields of one request; above: 431.
  std::uint64_t head_bytes = 32 * kKiB;
  /// Open client connections; one more is answered 503 and closed.
  std::size_t connections = 10'000;
  /// All bodies together that are staged and not yet committed; above: 503.
  std::uint64_t staged_bytes = 16 * kGiB;
};

/// How long the server waits for what others do. All count on the monotonic clock.
struct Timeouts {
  /// From the first byte of a request head to its end; the client's slowness does not restart it.
  base::Milliseconds head{10'000};
  /// Between two pieces of a request body.
  base::Milliseconds body{30'000};
  /// An idle connection between two requests.
  base::Milliseconds keep_alive{75'000};
  /// Between two pieces of an answer that the client takes.
  base::Milliseconds write{30'000};
  /// How long a request may wait at ENTER: for the durable raise of its mark and for commits with
  /// older tokens to leave; then 503 `draining`.
  base::Milliseconds drain{5'000};
  /// From SIGTERM to the end: requests that are still running then are cut off.
  base::Milliseconds shutdown{30'000};
};

enum class LogFormat : std::uint8_t { kText, kJson };
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };

/// What is written to standard error.
struct LogConfig {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};

/// Threads: `io` serve the network, one `io_context` each; `workers` do what blocks (fsync, rename,
/// directory scans). 0: one per core.
struct Threads {
  unsigned io = 0;
  unsigned workers = 0;
};

/// What a write without a token means on a route.
enum class Writes : std::uint8_t {
  kRequired,  ///< It is refused with 428.
  kOptional,  ///< It passes unfenced; a write with a token is fenced.
  kOff,       ///< Tokens are not looked at: the route does not fence.
};

/// How far the fence of a route holds (design, 4), weakest first.
enum class Guarantee : std::uint8_t { kNone, kDetect, kBounded, kStrict };

/// Writes of a route that carry an `Idempotency-Key` take effect once.
struct Idempotency {
  /// How long an answer is kept, at least.
  base::Milliseconds ttl{24LL * 60 * 60 * 1000};
  /// A write without a key is refused with 400.
  bool required = false;

  friend bool operator==(const Idempotency&, const Idempotency&) = default;
};

/// Where the parts of a route stand in the file, for problems that are found later.
struct RoutePlaces {
  Place route;
  Place name;
  Place match;
  Place hosts;
  Place backend;  ///< The files root, the database, the upstream or the endpoint.
  Place require;
  Place body_limit;
  Place idempotency;
};

/// One route: a pattern of paths, the fence over them, and what stands behind.
struct Route {
  /// Unique; lower-case letters, digits and `-`. In logs, metrics and the default fence.
  std::string name;
  /// The paths that it takes; of several routes the most specific one wins.
  Pattern match;
  /// Only on S3 routes: names, in lower case, in front of which a client may write the bucket as
  /// `Host` (virtual-host style). On no other route, and none is below one of another route.
  std::vector<std::string> hosts;
  /// How the fence key is made. Default: one fence per resource, `<name>/<resource name>`.
  FenceTemplate fence;
  /// Methods that are let through. Default: all that the backend has. `GET` brings `HEAD` along.
  std::vector<std::string> methods;
  Writes writes = Writes::kRequired;
  /// False: observe only. Everything is decided, logged and counted, and let pass.
  bool enforce = true;
  /// How far above the mark a token may be; 0: any distance. Stops a broken token source from
  /// locking everybody out.
  std::int64_t max_jump = 0;
  /// The server refuses to start if the route cannot give at least this.
  std::optional<Guarantee> require;
  /// One request body; above: 413. Default on sqlite routes: `kSqliteBodyBytes`.
  std::uint64_t body_limit_bytes = 1 * kGiB;
  /// As in `Timeouts`, whose values are the defaults.
  base::Milliseconds body_timeout{0};
  base::Milliseconds drain_timeout{0};
  /// Left out, `Idempotency-Key` is not looked at.
  std::optional<Idempotency> idempotency = {};
  BackendConfig backend;
  RoutePlaces places;

  /// True if a method that writes is let through. Pure.
  [[nodiscard]] bool takes_writes() const;
};

/// The whole configuration.
struct Config {
  Listen listen;
  std::optional<Admin> admin;
  LedgerConfig ledger;
  TokenConfig token;
  Limits limits;
  Timeouts timeouts;
  LogConfig log;
  Threads threads;
  std::optional<Leases> leases;
  std::vector<Route> routes;  ///< At least one, in the order of the file.
};

/// `none`, `detect`, `bounded` or `strict`.
std::string_view to_string(Guarantee guarantee);

/// `required`, `optional` or `off`.
std::string_view to_string(Writes writes);

}  // namespace fenceline::config
