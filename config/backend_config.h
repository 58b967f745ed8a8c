#pragma once

// What stands behind a route, as it is configured: plain data, with the defaults. One of these per
// route. Nothing here is opened or looked at.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "config/problem.h"
#include "config/upstream.h"

namespace fenceline::config {

/// Whether the files backend makes an effect durable before it is answered. `kNone` is fast and
/// loses the newest files in a power cut; the fence itself stays durable.
enum class Sync : std::uint8_t { kFull, kNone };

/// A directory of files. `root` is made if it does not exist.
struct FilesBackend {
  std::string root;
  Sync sync = Sync::kFull;

  friend bool operator==(const FilesBackend&, const FilesBackend&) = default;
};

/// The columns of the table of documents. Names are `[A-Za-z_][A-Za-z0-9_]*`, at most 64 bytes, all
/// different (without case). A column that is nothing is not there.
struct SqliteColumns {
  std::string key = "name";
  std::string value = "body";
  std::optional<std::string> content_type = "content_type";
  std::optional<std::string> etag = "etag";
  std::optional<std::string> modified = "modified";

  friend bool operator==(const SqliteColumns&, const SqliteColumns&) = default;
};

enum class StatementMode : std::uint8_t { kRead, kWrite };

/// SQL with named parameters that clients call as `POST …/{name}`. The SQL is the operator's.
struct SqliteStatement {
  std::string name;  ///< 1 to 64 of `a`–`z`, `0`–`9`, `-`, `_`; unique on its route.
  StatementMode mode = StatementMode::kWrite;
  std::string sql;  ///< Not empty; may be several statements. Not looked at before the start.
  Place place;      ///< Of the SQL.

  /// Without the place.
  friend bool operator==(const SqliteStatement& a, const SqliteStatement& b) {
    return a.name == b.name && a.mode == b.mode && a.sql == b.sql;
  }
};

/// A table of documents and statements in one SQLite database, which also holds the marks. At least
/// one of `table` and `statements` is there.
struct SqliteBackend {
  std::string database;  ///< The file.
  /// Made if it does not exist, unless `mapped`. Nothing (`table: none`): no documents.
  std::optional<std::string> table = "documents";
  SqliteColumns columns;
  /// `columns` is in the file: the table belongs to somebody else, and is neither made nor changed.
  bool mapped = false;
  std::string marks = "fenceline_marks";  ///< The table of the marks; another than `table`.
  std::vector<SqliteStatement> statements;

  friend bool operator==(const SqliteBackend&, const SqliteBackend&) = default;
};

/// By which means a write to an upstream is fenced (design, 4).
enum class CommitMode : std::uint8_t {
  kAuto,         ///< The strongest that the probe finds.
  kMove,         ///< PUT under a temporary name, then MOVE.
  kConditional,  ///< `If-Match` with an ETag that was read before the fence was checked.
  kPlain,        ///< The last bytes are held back until the fence is checked.
};

/// Which `Host` an upstream sees.
enum class HostPolicy : std::uint8_t { kUpstream, kClient };

/// How an `https` upstream is known. All of it is empty for `http`.
struct UpstreamTls {
  std::optional<std::string> ca;    ///< PEM file of the authorities; nothing: those of the system.
  std::optional<std::string> name;  ///< Expected in the certificate; nothing: the host of the URL.
  bool verify = true;               ///< False: anybody may answer.

  friend bool operator==(const UpstreamTls&, const UpstreamTls&) = default;
};

/// Somebody else's HTTP server.
struct HttpBackend {
  Upstream upstream;
  CommitMode commit = CommitMode::kAuto;  ///< Never `kAuto` without `probe`.
  /// How long after its connection was closed a write of unknown outcome may still take effect.
  /// Nothing (`settle: manual`): until an operator says so.
  std::optional<base::Milliseconds> settle{60'000};
  /// The methods that read, as they were written; all others write. `GET` brings `HEAD` along.
  std::vector<std::string> reads{"GET", "HEAD", "OPTIONS"};
  HostPolicy host = HostPolicy::kUpstream;
  UpstreamTls tls;
  /// For the first byte of the answer, and between two pieces of it.
  base::Milliseconds timeout{60'000};
  base::Milliseconds connect_timeout{5'000};
  /// How long an idle connection is kept.
  base::Milliseconds keep_alive{30'000};
  std::size_t connections = 1024;     ///< Per core.
  std::size_t idle_connections = 64;  ///< Per core; at most `connections`.
  /// False: no probe objects are ever written to the upstream; `commit` is then named.
  bool probe = true;
  /// Bodies up to this are kept to repeat a conditional write that lost a race.
  std::uint64_t retry_body_bytes = 1024 * std::uint64_t{1024};

  friend bool operator==(const HttpBackend&, const HttpBackend&) = default;
};

using BackendConfig = std::variant<FilesBackend, SqliteBackend, HttpBackend>;

/// The key of the backend in the file: `files`, `sqlite` or `http`.
std::string_view kind_of(const BackendConfig& backend);

/// True if a request with this method may change something on a route with this backend. Pure.
bool is_write(const BackendConfig& backend, std::string_view method);

/// `auto`, `move`, `conditional` or `plain`.
std::string_view to_string(CommitMode mode);

}  // namespace fenceline::config
