#include "config/backend_config.h"

#include <algorithm>

namespace fenceline::config {
namespace {

struct WritesWith {
  std::string_view method;

  bool operator()(const FilesBackend& /*files*/) const {
    return method != "GET" && method != "HEAD";
  }

  bool operator()(const SqliteBackend& sqlite) const {
    if (method == "POST") {
      return std::ranges::any_of(sqlite.statements, [](const SqliteStatement& statement) {
        return statement.mode == StatementMode::kWrite;
      });
    }
    return method != "GET" && method != "HEAD";
  }

  bool operator()(const HttpBackend& http) const {
    return std::ranges::find(http.reads, method) == http.reads.end();
  }

  bool operator()(const S3Backend& /*s3*/) const { return method != "GET" && method != "HEAD"; }
};

}  // namespace

std::string_view kind_of(const BackendConfig& backend) {
  if (std::holds_alternative<FilesBackend>(backend)) {
    return "files";
  }
  if (std::holds_alternative<SqliteBackend>(backend)) {
    return "sqlite";
  }
  return std::holds_alternative<HttpBackend>(backend) ? "http" : "s3";
}

bool is_write(const BackendConfig& backend, std::string_view method) {
  return std::visit(WritesWith{method}, backend);
}

std::string_view to_string(CommitMode mode) {
  switch (mode) {
    case CommitMode::kAuto:
      return "auto";
    case CommitMode::kMove:
      return "move";
    case CommitMode::kConditional:
      return "conditional";
    case CommitMode::kPlain:
      return "plain";
  }
  return "plain";
}

}  // namespace fenceline::config
