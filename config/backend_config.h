#pragma once

// What stands behind a route, as it is configured: plain data, with the defaults. One of these per
// route. Nothing here is opened or looked at.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/problem.h"
#include "config/s3_config.h"
#include "config/upstream_settings.h"

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

/// Which `Host` an upstream sees.
enum class HostPolicy : std::uint8_t { kUpstream, kClient };

/// Who we are to an upstream (RFC 7617). A secret: in no message, log or answer.
struct BasicCredentials {
  std::string user;  ///< Without a colon.
  std::string password;

  friend bool operator==(const BasicCredentials&, const BasicCredentials&) = default;
};

/// The same by a token (RFC 6750). A secret too.
struct BearerCredentials {
  std::string token;

  friend bool operator==(const BearerCredentials&, const BearerCredentials&) = default;
};

using UpstreamCredentials = std::variant<BasicCredentials, BearerCredentials>;

/// Somebody else's HTTP server.
struct HttpBackend : UpstreamSettings {
  /// The methods that read, as they were written; all others write. `GET` brings `HEAD` along.
  std::vector<std::string> reads{"GET", "HEAD", "OPTIONS"};
  HostPolicy host = HostPolicy::kUpstream;
  /// Sent on every request in place of the client's; nothing: the client's own go there.
  std::optional<UpstreamCredentials> credentials;
  /// Bodies up to this are kept to repeat a conditional write that lost a race.
  std::uint64_t retry_body_bytes = 1024 * std::uint64_t{1024};

  friend bool operator==(const HttpBackend&, const HttpBackend&) = default;
};

using BackendConfig = std::variant<FilesBackend, SqliteBackend, HttpBackend, S3Backend>;

/// The key of the backend in the file: `files`, `sqlite`, `http` or `s3`.
std::string_view kind_of(const BackendConfig& backend);

/// True if a request with this method may change something on a route with this backend. On an S3
/// route that depends on the operation too: false is sure, true is not. Pure.
bool is_write(const BackendConfig& backend, std::string_view method);

}  // namespace fenceline::config
