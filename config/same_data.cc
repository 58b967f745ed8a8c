#include "config/same_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "config/upstream.h"

namespace fenceline::config {
namespace {

using Kind = DataConflict::Kind;

/// SQLite compares the names of tables without case.
bool same_table(const std::optional<std::string>& first, const std::optional<std::string>& second) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return first && second && std::ranges::equal(*first, *second, {}, lower, lower);
}

bool have_same_keys(const Route& first, const Route& second) {
  return FenceTemplate::same_keys(first.fence, first.match, second.fence, second.match);
}

std::optional<DataConflict> files_conflict(const Route& first, const std::string& first_root,
                                           const Route& second, const std::string& second_root) {
  const std::string store = fmt::format("the files root \"{}\"", second_root);
  if (first_root != second_root) {
    if (is_inside(first_root, second_root) || is_inside(second_root, first_root)) {
      return DataConflict{Kind::kNested, {}, store};
    }
    return std::nullopt;
  }
  if (!have_same_keys(first, second)) {
    return DataConflict{Kind::kFence, {}, store};
  }
  if (std::get<FilesBackend>(first.backend).sync != std::get<FilesBackend>(second.backend).sync) {
    return DataConflict{Kind::kSetting, "files.sync", store};
  }
  return std::nullopt;
}

std::optional<DataConflict> sqlite_conflict(const Route& first, const Route& second,
                                            const std::string& database) {
  const auto& one = std::get<SqliteBackend>(first.backend);
  const auto& other = std::get<SqliteBackend>(second.backend);
  if (!same_table(one.marks, other.marks)) {
    return DataConflict{Kind::kSetting, "sqlite.marks",
                        fmt::format("the database \"{}\"", database)};
  }
  if (!same_table(one.table, other.table)) {
    return std::nullopt;
  }
  const std::string store =
      fmt::format("the table `{}` of the database \"{}\"", *other.table, database);
  if (!have_same_keys(first, second)) {
    return DataConflict{Kind::kFence, {}, store};
  }
  if (one.mapped != other.mapped || one.columns != other.columns) {
    return DataConflict{Kind::kSetting, "sqlite.columns", store};
  }
  return std::nullopt;
}

std::optional<DataConflict> http_conflict(const Route& first, const Route& second) {
  const Upstream& one = std::get<HttpBackend>(first.backend).upstream;
  const Upstream& other = std::get<HttpBackend>(second.backend).upstream;
  if (!share_resources(one, other)) {
    return std::nullopt;
  }
  const std::string store = fmt::format("the upstream {}", to_string(other));
  if (!same_resources(one, other)) {
    return DataConflict{Kind::kNested, {}, store};
  }
  if (!have_same_keys(first, second)) {
    return DataConflict{Kind::kFence, {}, store};
  }
  return std::nullopt;
}

/// What is behind an S3 route, as a URL: the bucket in its path, or all of the server.
Upstream objects_of(const S3Backend& s3) {
  Upstream objects = s3.upstream;
  objects.base_path = s3.bucket ? "/" + *s3.bucket : "";
  return objects;
}

/// The resources behind an `http` or `s3` route; nothing behind another one.
std::optional<Upstream> resources_of(const BackendConfig& backend) {
  if (const auto* http = std::get_if<HttpBackend>(&backend)) {
    return http->upstream;
  }
  const auto* s3 = std::get_if<S3Backend>(&backend);
  return s3 != nullptr ? std::optional(objects_of(*s3)) : std::nullopt;
}

bool captures_nothing(const FenceTemplate& fence) {
  return fence.text().find_first_of("{<") == std::string::npos;
}

/// True if the two routes, of which only `any` has `{bucket}`, provably give the objects of the
/// bucket of `one` the same keys. The captures have the same names on both.
bool have_same_keys_in_bucket(const Route& one, const Route& any) {
  static constexpr std::string_view kBucket = "{bucket}";
  std::string text = any.fence.text();
  if (text.find('<') != std::string::npos) {
    return false;
  }
  if (const std::size_t found = text.find(kBucket); found != std::string::npos) {
    text.replace(found, kBucket.size(), *std::get<S3Backend>(one.backend).bucket);
  }
  return text == one.fence.text();
}

std::optional<DataConflict> s3_conflict(const Route& first, const Route& second) {
  const auto& one = std::get<S3Backend>(first.backend);
  const auto& other = std::get<S3Backend>(second.backend);
  if (!share_resources(objects_of(one), objects_of(other))) {
    return std::nullopt;
  }
  const std::string store =
      other.bucket
          ? fmt::format("the bucket \"{}\" of {}", *other.bucket, to_string(other.upstream))
          : fmt::format("every bucket of {}", to_string(other.upstream));
  const bool same = one.bucket.has_value() == other.bucket.has_value()
                        ? have_same_keys(first, second)
                    : one.bucket ? have_same_keys_in_bucket(first, second)
                                 : have_same_keys_in_bucket(second, first);
  if (!same) {
    return DataConflict{Kind::kFence, {}, store};
  }
  if (one.deletes != other.deletes) {
    return DataConflict{Kind::kSetting, "s3.deletes", store};
  }
  return std::nullopt;
}

/// Of routes with backends of two kinds: only an upstream can be reached through both.
std::optional<DataConflict> mixed_conflict(const Route& first, const Route& second) {
  const auto one = resources_of(first.backend);
  const auto other = resources_of(second.backend);
  const bool one_key = captures_nothing(first.fence) && first.fence.text() == second.fence.text();
  if (!one || !other || !share_resources(*one, *other) || one_key) {
    return std::nullopt;
  }
  return DataConflict{Kind::kFence, {}, fmt::format("what is behind {}", to_string(*other))};
}

std::string_view what_is_fenced(const BackendConfig& backend) {
  if (std::holds_alternative<FilesBackend>(backend)) {
    return "file";
  }
  if (std::holds_alternative<SqliteBackend>(backend)) {
    return "document";
  }
  return std::holds_alternative<HttpBackend>(backend) ? "resource" : "object";
}

}  // namespace

std::string store_of(const Route& route, const ResolvePath& resolve) {
  if (const auto* files = std::get_if<FilesBackend>(&route.backend)) {
    return resolve(files->root);
  }
  if (const auto* sqlite = std::get_if<SqliteBackend>(&route.backend)) {
    return resolve(sqlite->database);
  }
  return to_string(*resources_of(route.backend));
}

std::vector<std::string> stores_of(const std::vector<Route>& routes, const ResolvePath& resolve) {
  std::vector<std::string> stores;
  stores.reserve(routes.size());
  for (const Route& route : routes) {
    stores.push_back(store_of(route, resolve));
  }
  return stores;
}

bool is_inside(const std::string& path, const std::string& directory) {
  if (!path.starts_with(directory)) {
    return false;
  }
  return path.size() == directory.size() || directory.ends_with('/') ||
         path[directory.size()] == '/';
}

std::optional<DataConflict> data_conflict(const Route& first, const std::string& first_store,
                                          const Route& second, const std::string& second_store) {
  if (first.backend.index() != second.backend.index()) {
    return mixed_conflict(first, second);
  }
  if (std::holds_alternative<FilesBackend>(first.backend)) {
    return files_conflict(first, first_store, second, second_store);
  }
  if (std::holds_alternative<SqliteBackend>(first.backend)) {
    return first_store == second_store ? sqlite_conflict(first, second, second_store)
                                       : std::nullopt;
  }
  return std::holds_alternative<HttpBackend>(first.backend) ? http_conflict(first, second)
                                                            : s3_conflict(first, second);
}

std::optional<std::string> same_data_problem(const Route& first, const std::string& first_store,
                                             const Route& second, const std::string& second_store) {
  const auto conflict = data_conflict(first, first_store, second, second_store);
  if (!conflict) {
    return std::nullopt;
  }
  const std::string other =
      fmt::format("route `{}` (line {})", first.name, first.places.backend.line);
  const bool files = std::holds_alternative<FilesBackend>(first.backend);
  switch (conflict->kind) {
    case Kind::kNested:
      return files ? fmt::format(
                         "{} and that of {}, \"{}\", are inside one another; files must have one "
                         "fence: use separate directories",
                         conflict->store, other, first_store)
                   : fmt::format(
                         "{} and that of {}, {}, are inside one another; a resource must have one "
                         "fence: give both routes the same base path and the same `fence`",
                         conflict->store, other, first_store);
    case Kind::kFence:
      return fmt::format(
          "{} is also that of {}, but the fences \"{}\" and \"{}\" do not provably give the same "
          "{} the same key; give both routes the same `fence`, with matches that capture alike",
          conflict->store, other, second.fence.text(), first.fence.text(),
          what_is_fenced(first.backend));
    case Kind::kSetting:
      break;
  }
  return fmt::format("{} is also that of {}, which has another `{}`", conflict->store, other,
                     conflict->setting.substr(conflict->setting.find('.') + 1));
}

bool may_share_data(const Route& first, const std::string& first_store, const Route& second,
                    const std::string& second_store) {
  if (const auto one = resources_of(first.backend)) {
    const auto other = resources_of(second.backend);
    return other && share_resources(*one, *other);
  }
  if (first.backend.index() != second.backend.index()) {
    return false;
  }
  if (const auto* one = std::get_if<SqliteBackend>(&first.backend)) {
    const auto& other = std::get<SqliteBackend>(second.backend);
    return first_store == second_store && (!one->statements.empty() || !other.statements.empty() ||
                                           same_table(one->table, other.table));
  }
  return first_store == second_store;
}

bool same_backend(const Route& first, const std::string& first_store, const Route& second,
                  const std::string& second_store) {
  if (first_store != second_store || first.backend.index() != second.backend.index()) {
    return false;
  }
  BackendConfig compared = second.backend;
  if (auto* files = std::get_if<FilesBackend>(&compared)) {
    files->root = std::get<FilesBackend>(first.backend).root;
  } else if (auto* sqlite = std::get_if<SqliteBackend>(&compared)) {
    sqlite->database = std::get<SqliteBackend>(first.backend).database;
  }
  return compared == first.backend;
}

}  // namespace fenceline::config
