#include "proxy/backend_options.h"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "base/base64.h"
#include "proxy/token_header.h"

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

base::net::HttpClientOptions client_options(const config::UpstreamSettings& from) {
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

/// What every upstream has.
backends::http::HttpOptions upstream_options(const config::UpstreamSettings& from,
                                             const std::vector<std::string>& token_fields) {
  backends::http::HttpOptions options;
  options.client = client_options(from);
  options.base_path = from.upstream.base_path;
  options.commit = commit_mode_of(from.commit);
  options.settle_after = from.settle;
  options.probe = from.probe;
  options.private_fields = token_fields;
  return options;
}

std::string authorization_of(const config::UpstreamCredentials& credentials) {
  if (const auto* bearer = std::get_if<config::BearerCredentials>(&credentials)) {
    return "Bearer " + bearer->token;
  }
  const auto& basic = std::get<config::BasicCredentials>(credentials);
  std::string value = "Basic ";
  base::append_base64(value, basic.user + ":" + basic.password);
  return value;
}

backends::SqliteColumns columns_of(const config::SqliteBackend& from) {
  backends::SqliteColumns columns;
  columns.key = from.columns.key;
  columns.value = from.columns.value;
  columns.content_type = from.columns.content_type.value_or("");
  columns.etag = from.columns.etag.value_or("");
  columns.modified = from.columns.modified.value_or("");
  if (from.mapped) {
    // A table of somebody else: what has these names there is not ours.
    columns.token.clear();
    columns.request_id.clear();
  }
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
  options.mapped = from.mapped;
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
  backends::http::HttpOptions options = upstream_options(from, token_fields);
  options.methods = methods;
  options.reads = from.reads;
  options.host = from.host == config::HostPolicy::kClient ? backends::http::HostPolicy::kClient
                                                          : backends::http::HostPolicy::kUpstream;
  options.retry_body_bytes = from.retry_body_bytes;
  if (from.credentials) {
    options.own_fields.emplace_back("Authorization", authorization_of(*from.credentials));
  }
  return options;
}

backends::s3::S3Options s3_options(const config::S3Backend& from,
                                   const std::optional<config::S3StaticKeys>& keys,
                                   const std::vector<std::string>& token_fields) {
  backends::s3::S3Options options;
  options.http = upstream_options(from, token_fields);
  options.http.probe = from.is_probed();
  options.bucket = from.bucket.value_or("");
  options.probe_bucket = from.probe_bucket.value_or("");
  options.region = from.region;
  options.addressing = from.addressing == config::S3Addressing::kVirtual
                           ? backends::s3::Addressing::kVirtualHost
                           : backends::s3::Addressing::kPath;
  if (keys) {
    options.credentials = {keys->access_key, keys->secret_key, keys->session_token};
  }
  options.deletes = from.deletes == config::S3Deletes::kTombstone
                        ? backends::s3::Deletes::kTombstone
                        : backends::s3::Deletes::kAuto;
  options.hold_bytes = from.hold_bytes;
  return options;
}

S3FrontOptions s3_front_options(const config::S3Backend& from, config::Writes writes,
                                const std::vector<std::string>& token_fields) {
  S3FrontOptions options;
  for (const config::S3Client& client : from.clients) {
    options.clients.push_back({.access_key = client.access_key,
                               .secret_key = client.secret_key,
                               .may_write = client.access == config::S3Access::kWrite});
  }
  options.anonymous = from.anonymous;
  options.must_sign = token_fields;
  options.must_sign.emplace_back(kHolderField);
  options.fenced = writes != config::Writes::kOff;
  options.now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  return options;
}

}  // namespace fenceline::proxy
