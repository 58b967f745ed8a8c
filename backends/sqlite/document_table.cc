#include "backends/sqlite/document_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "backends/sqlite/trouble.h"

namespace fenceline::backends::sqlite {
namespace {

using base::Result;

struct Role {
  std::string SqliteColumns::*name;
  const char* declared;  ///< In a table that we make.
  bool required;
};

// The value last: what stands before a large value is read without it.
constexpr std::array kRoles = {
    Role{&SqliteColumns::key, "TEXT NOT NULL PRIMARY KEY", true},
    Role{&SqliteColumns::content_type, "TEXT", false},
    Role{&SqliteColumns::etag, "TEXT", false},
    Role{&SqliteColumns::modified, "INTEGER", false},
    Role{&SqliteColumns::token, "INTEGER", false},
    Role{&SqliteColumns::request_id, "TEXT", false},
    Role{&SqliteColumns::value, "BLOB NOT NULL", true},
};

/// SQLite's rules for the affinity of a declared type.
enum class Affinity : std::uint8_t { kText, kBlob, kNumber };

Affinity affinity_of(std::string declared) {
  std::ranges::transform(declared, declared.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto has = [&](const char* part) { return declared.find(part) != std::string::npos; };
  if (has("INT")) {
    return Affinity::kNumber;
  }
  if (has("CHAR") || has("CLOB") || has("TEXT")) {
    return Affinity::kText;
  }
  return declared.empty() || has("BLOB") ? Affinity::kBlob : Affinity::kNumber;
}

struct Found {
  Affinity affinity = Affinity::kBlob;
  bool binary = true;
};

/// Opens one table: names in, SQL out.
class Opening {
 public:
  Opening(Connection& writer, const SqliteOptions& options, const std::string& path)
      : writer_(writer), options_(options), columns_(options.columns), path_(path) {}

  Result<DocumentTable> run() {
    return check_names()
        .and_then([this] { return exists(); })
        .and_then([this](bool there) { return there ? check_table() : make_table(); })
        .and_then([this] { return table(); });
  }

 private:
  tl::unexpected<base::Error> refuse(std::string_view what) const {
    return base::fail(base::ErrorKind::kStorageFailed,
                      fmt::format("The table \"{}\" of the database {} cannot hold documents: {}.",
                                  options_.table, path_, what));
  }

  tl::unexpected<base::Error> refuse(const SqliteFailure& failure) const {
    return tl::unexpected(cannot_open(failure, path_));
  }

  static bool is_name(const std::string& name) {
    return !name.empty() && name.find('\0') == std::string::npos &&
           sqlite3_strnicmp(name.c_str(), "sqlite_", 7) != 0;
  }

  [[nodiscard]] Result<void> check_names() const {
    if (!is_name(options_.table)) {
      return refuse("its name is empty or begins with sqlite_; give it another");
    }
    if (sqlite3_stricmp(options_.table.c_str(), options_.marks.c_str()) == 0) {
      return refuse("it is the table of the marks; give the documents another");
    }
    for (auto role = kRoles.begin(); role != kRoles.end(); ++role) {
      const std::string& name = columns_.*(role->name);
      if (name.empty() && !role->required) {
        continue;
      }
      if (!is_name(name)) {
        return refuse("the name of a column is empty or begins with sqlite_");
      }
      for (auto other = kRoles.begin(); other != role; ++other) {
        if (sqlite3_stricmp(name.c_str(), (columns_.*(other->name)).c_str()) == 0) {
          return refuse(fmt::format("the column \"{}\" is named for two things", name));
        }
      }
    }
    return {};
  }

  Result<bool> exists() {
    auto run = writer_.prepared(
        "SELECT type, (SELECT count(*) FROM pragma_table_list WHERE schema='main' AND name=?1 "
        "COLLATE NOCASE AND type='table') FROM main.sqlite_schema WHERE name=?1 COLLATE NOCASE AND "
        "type IN ('table', 'view')");
    if (!run) {
      return refuse(run.error());
    }
    (*run)->bind_text(1, options_.table);
    const auto row = (*run)->step();
    if (!row) {
      return refuse(row.error());
    }
    if (*row && ((*run)->text(0) != "table" || (*run)->number(1) == 0)) {
      return refuse("it is a view or a virtual table; name a plain one");
    }
    return *row;
  }

  Result<void> make_table() {
    if (options_.mapped) {
      return refuse(
          "it is not there, and a table with columns of its own is not made; make it first");
    }
    std::string sql = fmt::format("CREATE TABLE main.{}(", quoted_name(options_.table));
    for (const Role& role : kRoles) {
      sql += fmt::format("{}{} {}", sql.ends_with('(') ? "" : ", ",
                         quoted_name(columns_.*(role.name)), role.declared);
    }
    if (auto made = writer_.run(sql + ")"); !made) {
      return refuse(made.error());
    }
    return {};
  }

  std::optional<Found> find(const std::string& column) const {
    const char* declared = nullptr;
    const char* collation = nullptr;
    if (sqlite3_table_column_metadata(writer_.get(), "main", options_.table.c_str(), column.c_str(),
                                      &declared, &collation, nullptr, nullptr,
                                      nullptr) != SQLITE_OK) {
      return std::nullopt;
    }
    return Found{affinity_of(declared == nullptr ? "" : declared),
                 collation == nullptr || sqlite3_stricmp(collation, "BINARY") == 0};
  }

  Result<void> check_table() {
    static const SqliteColumns kDefault;
    for (const Role& role : kRoles) {
      const std::string& name = columns_.*(role.name);
      // A name that somebody chose is not a wish: it must be there.
      const bool is_named = role.required || (!name.empty() && name != kDefault.*(role.name));
      if (is_named && !find(name)) {
        return refuse(
            fmt::format("it has no column \"{}\"; map the one it has with columns", name));
      }
    }
    shape_.content_type = find(columns_.content_type).has_value();
    shape_.etag = find(columns_.etag).has_value();
    const auto modified = find(columns_.modified);
    shape_.modified = modified.has_value();
    if (modified && modified->affinity == Affinity::kText) {
      return refuse(
          fmt::format("the column \"{}\" is text, but holds seconds since 1970 as an "
                      "integer; map another one for modified",
                      columns_.modified));
    }
    shape_.stamp = find(columns_.token).has_value() && find(columns_.request_id).has_value();
    shape_.text_values = find(columns_.value)->affinity == Affinity::kText;
    return check_key(*find(columns_.key));
  }

  /// Two names that are one row would be two fence keys for it, or one key for two rows.
  Result<void> check_key(const Found& key) {
    if (key.affinity == Affinity::kNumber) {
      return refuse(
          fmt::format("its key column \"{}\" is a number, so that \"7\" and \"07\" would "
                      "be one document; use a column of the type TEXT",
                      columns_.key));
    }
    if (!key.binary) {
      return refuse(
          fmt::format("its key column \"{}\" is not compared by its bytes (COLLATE "
                      "BINARY)",
                      columns_.key));
    }
    auto run = writer_.prepared(
        "SELECT count(*) FROM pragma_index_list(?1) AS i WHERE i.\"unique\" AND NOT i.partial AND "
        "(SELECT group_concat(coalesce(c.name, '?') || char(10) || c.coll, char(11)) FROM "
        "pragma_index_xinfo(i.name) AS c WHERE c.\"key\") = (?2 || char(10) || 'BINARY') COLLATE "
        "NOCASE");
    if (!run) {
      return refuse(run.error());
    }
    (*run)->bind_text(1, options_.table);
    (*run)->bind_text(2, columns_.key);
    const auto row = (*run)->step();
    if (!row) {
      return refuse(row.error());
    }
    if ((*run)->number(0) == 0) {
      return refuse(
          fmt::format("its key column \"{}\" is not unique on its own; make it the "
                      "PRIMARY KEY, or give it a UNIQUE index",
                      columns_.key));
    }
    return {};
  }

  Result<DocumentTable> table() {
    DocumentTable made = write_sql();
    for (const std::string* sql :
         {&made.find, &made.value, &made.insert, &made.update, &made.remove, &made.list}) {
      if (auto run = writer_.prepared(*sql); !run) {
        return refuse(run.error());
      }
    }
    return made;
  }

  [[nodiscard]] DocumentTable write_sql() const {
    const std::string table = "main." + quoted_name(options_.table);
    const std::string key = quoted_name(columns_.key);
    const std::string value = quoted_name(columns_.value);
    const auto or_null = [](bool there, const std::string& name) {
      return there ? quoted_name(name) : std::string("NULL");
    };
    // length() of a blob does not read it; that of a text counts characters.
    const std::string size = fmt::format(
        "CASE typeof({0}) WHEN 'blob' THEN length({0}) ELSE coalesce(length(CAST({0} AS BLOB)), 0) "
        "END",
        value);
    const std::string modified = or_null(shape_.modified, columns_.modified);
    DocumentTable made;
    made.shape = shape_;
    made.find = fmt::format(
        "SELECT {0}, {1}, {2}, {3}, {4}, {5}, CASE WHEN {3} <= ?2 THEN CAST({6} AS BLOB) END FROM "
        "{7} WHERE {8}=?1",
        or_null(shape_.etag, columns_.etag), modified,
        or_null(shape_.content_type, columns_.content_type), size,
        or_null(shape_.stamp, columns_.token), or_null(shape_.stamp, columns_.request_id), value,
        table, key);
    made.value = fmt::format("SELECT CAST({} AS BLOB) FROM {} WHERE {}=?1", value, table, key);
    std::string names = fmt::format("{}, {}", key, value);
    std::string numbers = "?1, ?2";
    std::string changes = fmt::format("{}=?2", value);
    const auto add = [&](bool there, const std::string& name, int number) {
      if (there) {
        names += fmt::format(", {}", quoted_name(name));
        numbers += fmt::format(", ?{}", number);
        changes += fmt::format(", {}=?{}", quoted_name(name), number);
      }
    };
    add(shape_.content_type, columns_.content_type, 3);
    add(shape_.etag, columns_.etag, 4);
    add(shape_.modified, columns_.modified, 5);
    add(shape_.stamp, columns_.token, 6);
    add(shape_.stamp, columns_.request_id, 7);
    made.insert = fmt::format("INSERT INTO {}({}) VALUES({})", table, names, numbers);
    made.update = fmt::format("UPDATE {} SET {} WHERE {}=?1", table, changes, key);
    made.remove = fmt::format("DELETE FROM {} WHERE {}=?1", table, key);
    made.list = fmt::format(
        "SELECT {0}, {1}, {2} FROM {3} WHERE {0}>?1 AND {0}>=?2 AND {0}<?3 AND typeof({0})='text' "
        "ORDER BY {0}",
        key, size, modified, table);
    return made;
  }

  Connection& writer_;
  const SqliteOptions& options_;
  const SqliteColumns& columns_;
  const std::string& path_;
  TableShape shape_;
};

}  // namespace

Result<DocumentTable> open_document_table(Connection& writer, const SqliteOptions& options,
                                          const std::string& path) {
  return Opening(writer, options, path).run();
}

}  // namespace fenceline::backends::sqlite
