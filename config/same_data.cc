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

std::string_view what_is_fenced(const BackendConfig& backend) {
  if (std::holds_alternative<FilesBackend>(backend)) {
    return "file";
  }
  return std::holds_alternative<SqliteBackend>(backend) ? "document" : "resource";
}

}  // namespace

std::string store_of(const Route& route, const ResolvePath& resolve) {
  if (const auto* files = std::get_if<FilesBackend>(&route.backend)) {
    return resolve(files->root);
  }
  if (const auto* sqlite = std::get_if<SqliteBackend>(&route.backend)) {
    return resolve(sqlite->database);
  }
  return to_string(std::get<HttpBackend>(route.backend).upstream);
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
    return std::nullopt;
  }
  if (std::holds_alternative<FilesBackend>(first.backend)) {
    return files_conflict(first, first_store, second, second_store);
  }
  if (std::holds_alternative<SqliteBackend>(first.backend)) {
    return first_store == second_store ? sqlite_conflict(first, second, second_store)
                                       : std::nullopt;
  }
  return http_conflict(first, second);
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
  if (first.backend.index() != second.backend.index()) {
    return false;
  }
  if (const auto* one = std::get_if<SqliteBackend>(&first.backend)) {
    const auto& other = std::get<SqliteBackend>(second.backend);
    return first_store == second_store && (!one->statements.empty() || !other.statements.empty() ||
                                           same_table(one->table, other.table));
  }
  if (const auto* one = std::get_if<HttpBackend>(&first.backend)) {
    return share_resources(one->upstream, std::get<HttpBackend>(second.backend).upstream);
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
