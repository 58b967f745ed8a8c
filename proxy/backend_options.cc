#include "proxy/backend_options.h"

#include <utility>

namespace fenceline::proxy {
namespace {

using config::CommitMode;

backends::http::CommitMode commit_mode_of(CommitMode from) {
  switch (from) {
    case CommitMode::kMove:
      return backends::http::CommitMode::kMove;
    case CommitMode::kConditional:
      return backends::http::CommitMode::kConditional;
    case CommitMode::kPlain:
      return backends::http::CommitMode::kPlain;
    case CommitMode::kAuto:
      break;
  }
  return backends::http::CommitMode::kAuto;
}

base::net::HttpClientOptions client_options(const config::HttpBackend& from) {
  base::net::HttpClientOptions options;
  options.host = from.upstream.host;
  options.port = from.upstream.port;
  options.tls = from.upstream.tls;
  options.tls_verify = from.tls.verify;
  options.tls_ca_file = from.tls.ca.value_or("");
  options.tls_name = from.tls.name.value_or("");
  options.connect = from.connect_timeout;
  options.first_byte = from.timeout;
  options.idle = from.timeout;
  options.keep_alive = from.keep_alive;
  options.max_connections = from.connections;
  options.max_idle = from.idle_connections;
  return options;
}

backends::SqliteColumns columns_of(const config::SqliteBackend& from) {
  backends::SqliteColumns columns;
  columns.key = from.columns.key;
  columns.value = from.columns.value;
  columns.content_type = from.columns.content_type.value_or("");
  columns.etag = from.columns.etag.value_or("");
  columns.modified = from.columns.modified.value_or("");
  return columns;
}

}  // namespace

backends::SyncMode sync_mode_of(const config::FilesBackend& from) {
  return from.sync == config::Sync::kFull ? backends::SyncMode::kFull : backends::SyncMode::kNone;
}

backends::SqliteOptions sqlite_options(const config::SqliteBackend& from,
                                       std::uint64_t max_body_bytes, base::WorkerPool& pool) {
  backends::SqliteOptions options{.database = from.database, .pool = pool};
  options.table = from.table.value_or("");
  options.columns = columns_of(from);
  options.marks = from.marks;
  options.max_body_bytes = max_body_bytes;
  for (const config::SqliteStatement& statement : from.statements) {
    options.statements.push_back({.name = statement.name,
                                  .mode = statement.mode == config::StatementMode::kRead
                                              ? backends::StatementMode::kRead
                                              : backends::StatementMode::kWrite,
                                  .sql = statement.sql});
  }
  return options;
}

backends::http::HttpOptions http_options(const config::HttpBackend& from,
                                         const std::vector<std::string>& methods,
                                         const std::vector<std::string>& token_fields) {
  backends::http::HttpOptions options;
  options.client = client_options(from);
  options.base_path = from.upstream.base_path;
  options.commit = commit_mode_of(from.commit);
  options.settle_after = from.settle;
  options.methods = methods;
  options.reads = from.reads;
  options.host = from.host == config::HostPolicy::kClient ? backends::http::HostPolicy::kClient
                                                          : backends::http::HostPolicy::kUpstream;
  options.probe = from.probe;
  options.retry_body_bytes = from.retry_body_bytes;
  options.private_fields = token_fields;
  return options;
}

}  // namespace fenceline::proxy
