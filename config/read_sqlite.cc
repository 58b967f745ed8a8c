#include "config/read_backend.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

Parsed<StatementMode> parse_mode(std::string_view text) {
  return parse_choice<StatementMode>(
      text, {{"read", StatementMode::kRead}, {"write", StatementMode::kWrite}});
}

Parsed<std::string> parse_sql(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return tl::unexpected(std::string("the SQL is empty"));
  }
  return std::string(text);
}

/// SQLite compares the names of tables and columns without case.
bool same_name(std::string_view first, std::string_view second) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(first, second, {}, lower, lower);
}

/// One statement, in the short form `name: SQL` or the long one. `section` is the map of all.
std::optional<SqliteStatement> read_statement(Section& sqlite, const YamlEntry& entry,
                                              Report& report) {
  const std::string path = fmt::format("{}[{}]", sqlite.full("statements"), entry.key);
  SqliteStatement statement{
      .name = entry.key, .mode = StatementMode::kWrite, .sql = {}, .place = entry.value.place};
  if (entry.value.kind == YamlNode::Kind::kNull) {
    report.add(entry.place, fmt::format("`{}` has no value; give it SQL, or remove it", path));
    return std::nullopt;
  }
  std::optional<std::string> sql;
  if (entry.value.kind == YamlNode::Kind::kMap) {
    auto map = Section::open(entry.value, path, report);
    if (!map) {
      return std::nullopt;
    }
    map->read_into("mode", statement.mode, parse_mode);
    const YamlNode* node = map->value("sql", Need::kRequired);
    if (node != nullptr) {
      statement.place = node->place;
      sql = map->parse_lines("sql", *node, parse_sql);
    }
  } else {
    sql = sqlite.parse_lines("statements", entry.value, parse_sql);
  }
  if (!sql) {
    return std::nullopt;
  }
  statement.sql = std::move(*sql);
  return statement;
}

std::vector<SqliteStatement> read_statements(Section& sqlite, Report& report) {
  std::vector<SqliteStatement> statements;
  const YamlNode* node = sqlite.value("statements", Need::kOptional);
  if (node == nullptr) {
    return statements;
  }
  if (node->kind != YamlNode::Kind::kMap || node->entries.empty()) {
    sqlite.problem(
        "statements", *node,
        fmt::format("must be a map of names and SQL with at least one entry, but is {}",
                    node->kind == YamlNode::Kind::kMap ? "empty" : describe(node->kind)));
    return statements;
  }
  for (const YamlEntry& entry : node->entries) {
    if (const auto name = parse_statement_name(entry.key); !name) {
      report.add(entry.place, fmt::format("`{}`: {}", sqlite.full("statements"), name.error()));
      continue;
    }
    if (entry.value.unusable) {
      continue;
    }
    if (auto statement = read_statement(sqlite, entry, report)) {
      statements.push_back(std::move(*statement));
    }
  }
  return statements;
}

void check_columns(Section& map, const SqliteColumns& columns, Report& report) {
  std::vector<std::pair<std::string_view, std::string_view>> named{{"key", columns.key},
                                                                   {"value", columns.value}};
  for (const auto& [role, name] : {std::pair<std::string_view, const std::optional<std::string>*>{
                                       "content_type", &columns.content_type},
                                   {"etag", &columns.etag},
                                   {"modified", &columns.modified}}) {
    if (*name) {
      named.emplace_back(role, **name);
    }
  }
  for (std::size_t later = 0; later < named.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!named[later].second.empty() && same_name(named[earlier].second, named[later].second)) {
        report.add(
            map.place_of(named[later].first),
            fmt::format("`{}`: \"{}\" is also the column of `{}`; each needs its own",
                        map.full(named[later].first), named[later].second, named[earlier].first));
      }
    }
  }
}

void read_columns(Section& sqlite, SqliteBackend& backend, Report& report) {
  auto map = sqlite.map("columns", Need::kOptional);
  if (!map) {
    return;
  }
  backend.mapped = true;
  backend.columns.key = map->read("key", Need::kRequired, parse_column).value_or("");
  backend.columns.value = map->read("value", Need::kRequired, parse_column).value_or("");
  backend.columns.content_type = map->read("content_type", Need::kOptional, parse_column);
  backend.columns.etag = map->read("etag", Need::kOptional, parse_column);
  backend.columns.modified = map->read("modified", Need::kOptional, parse_column);
  check_columns(*map, backend.columns, report);
}

void check_tables(Section& sqlite, const SqliteBackend& backend, Report& report) {
  if (!backend.table) {
    if (!sqlite.has("statements")) {
      report.add(sqlite.place_of("table"),
                 fmt::format("`{}`: without a table and without `statements` the route does "
                             "nothing; give it one of them",
                             sqlite.full("table")));
    }
    if (sqlite.has("columns")) {
      report.add(sqlite.place_of("columns"),
                 fmt::format("`{}` are those of a table, and `table` is none; remove one of them",
                             sqlite.full("columns")));
    }
  } else if (same_name(*backend.table, backend.marks)) {
    report.add(sqlite.place_of(sqlite.has("marks") ? "marks" : "table"),
               fmt::format("`{}` and `table` are both \"{}\"; the marks need a table of their own",
                           sqlite.full("marks"), backend.marks));
  }
}

}  // namespace

std::optional<SqliteBackend> read_sqlite(Section& route, Place& place, Report& report) {
  auto map = route.map("sqlite", Need::kRequired);
  if (!map) {
    return std::nullopt;
  }
  SqliteBackend backend;
  auto database = map->read("database", Need::kRequired, parse_database);
  if (const auto table = map->read("table", Need::kOptional, parse_table)) {
    backend.table = *table == "none" ? std::nullopt : std::optional(*table);
  }
  map->read_into("marks", backend.marks, parse_table);
  read_columns(*map, backend, report);
  backend.statements = read_statements(*map, report);
  check_tables(*map, backend, report);
  if (!database) {
    return std::nullopt;
  }
  backend.database = std::move(*database);
  place = map->place_of("database");
  return backend;
}

}  // namespace fenceline::config
