#include "backends/sqlite/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

namespace fenceline::backends::sqlite {
namespace {

using base::Result;

// Preparing reads the schema and nothing else.
constexpr base::Milliseconds kPrepareTime{60'000};

constexpr std::string_view kOnlyData =
    "statements read and write data: no transactions, no PRAGMA, ATTACH or VACUUM, no change of "
    "the schema, and not the table of the marks";

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

/// `sql` without blanks and comments in front.
std::string_view skip_comments(std::string_view sql) {
  while (!sql.empty()) {
    std::size_t skipped = 0;
    if (std::isspace(static_cast<unsigned char>(sql.front())) != 0 || sql.front() == ';') {
      skipped = 1;
    } else if (sql.starts_with("--")) {
      skipped = sql.find('\n');
    } else if (sql.starts_with("/*")) {
      const std::size_t end = sql.find("*/", 2);
      skipped = end == std::string_view::npos ? end : end + 2;
    } else {
      return sql;
    }
    sql.remove_prefix(std::min(skipped, sql.size()));
  }
  return sql;
}

bool begins_with_data_keyword(std::string_view sql) {
  constexpr std::array<const char*, 7> kKeywords = {"SELECT",  "VALUES", "WITH",  "INSERT",
                                                    "REPLACE", "UPDATE", "DELETE"};
  std::string word;
  for (const char c : skip_comments(sql)) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
      break;
    }
    word.push_back(c);
  }
  return std::ranges::any_of(
      kKeywords, [&](const char* keyword) { return sqlite3_stricmp(word.c_str(), keyword) == 0; });
}

std::string excerpt(std::string_view sql) {
  constexpr std::size_t kShown = 60;
  const std::string_view text = skip_comments(sql);
  std::string shown(text.substr(0, kShown));
  shown += text.size() > kShown ? "…" : "";
  return shown;
}

/// Checks one named statement, part by part.
class Opening {
 public:
  Opening(Connection& writer, const SqliteStatementOptions& options, const std::string& path)
      : writer_(writer), options_(options), path_(path) {}

  Result<NamedStatement> run() {
    if (!is_name(options_.name)) {
      return refuse("its name is not made of letters, digits, \"-\", \"_\" and \".\"");
    }
    if (options_.sql.find('\0') != std::string::npos) {
      return refuse("its SQL holds a NUL byte");
    }
    const Connection::Guard guard(writer_, kPrepareTime);
    statement_.name = options_.name;
    statement_.mode = options_.mode;
    for (std::string_view rest = options_.sql; !skip_comments(rest).empty();) {
      auto length = open_part(rest);
      if (!length) {
        return tl::unexpected(std::move(length.error()));
      }
      rest.remove_prefix(*length);
    }
    if (statement_.parts.empty()) {
      return refuse("it has no SQL");
    }
    statement_.parameters.assign(parameters_.begin(), parameters_.end());
    return std::move(statement_);
  }

 private:
  tl::unexpected<base::Error> refuse(std::string_view why) const {
    return base::fail(base::ErrorKind::kStorageFailed,
                      fmt::format("The statement \"{}\" of the database {} cannot be used: {}.",
                                  options_.name, path_, why));
  }

  /// Success: the length of the first part of `sql`.
  Result<std::size_t> open_part(std::string_view sql) {
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v3(writer_.get(), sql.data(), static_cast<int>(sql.size()), 0,
                                        &prepared, &tail);
    const base::SqliteStatement owner(prepared);
    if (code == SQLITE_AUTH) {
      return refuse(fmt::format("\"{}\" is not allowed ({}): {}", excerpt(sql),
                                sqlite3_errmsg(writer_.get()), kOnlyData));
    }
    if (code != SQLITE_OK) {
      return refuse(fmt::format("{} in \"{}\"", sqlite3_errmsg(writer_.get()), excerpt(sql)));
    }
    const auto length = static_cast<std::size_t>(tail - sql.data());
    if (prepared == nullptr) {
      return length;
    }
    const std::string_view part = sql.substr(0, length);
    if (!begins_with_data_keyword(part)) {
      return refuse(fmt::format("\"{}\" is not allowed: {}", excerpt(part), kOnlyData));
    }
    if (statement_.mode == StatementMode::kRead && sqlite3_stmt_readonly(prepared) == 0) {
      return refuse(fmt::format("its mode is read, but \"{}\" writes; give it the mode write",
                                excerpt(part)));
    }
    if (const auto problem = check_parameters(prepared)) {
      return refuse(*problem);
    }
    if (const auto problem = check_columns(prepared)) {
      return refuse(*problem);
    }
    statement_.parts.emplace_back(part);
    return length;
  }

  std::optional<std::string> check_parameters(sqlite3_stmt* prepared) {
    for (int i = 1; i <= sqlite3_bind_parameter_count(prepared); ++i) {
      const char* const found = sqlite3_bind_parameter_name(prepared, i);
      const std::string_view name = found == nullptr ? "?" : found;
      const bool plain =
          name.size() > 1 && name.front() != '?' && std::ranges::all_of(name.substr(1), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
          });
      if (!plain) {
        return fmt::format("its parameter {} has no plain name; write it as :name", name);
      }
      parameters_.emplace(name.substr(1));
    }
    return std::nullopt;
  }

  static std::optional<std::string> check_columns(sqlite3_stmt* prepared) {
    std::set<std::string> names;
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
      const char* const name = sqlite3_column_name(prepared, i);
      if (name == nullptr || !names.emplace(name).second) {
        return fmt::format("two columns of its result are named \"{}\"; name them apart with AS",
                           name == nullptr ? "" : name);
      }
    }
    return std::nullopt;
  }

  Connection& writer_;
  const SqliteStatementOptions& options_;
  const std::string& path_;
  NamedStatement statement_;
  std::set<std::string> parameters_;
};

}  // namespace

Result<NamedStatement> open_statement(Connection& writer, const SqliteStatementOptions& options,
                                      const std::string& path) {
  return Opening(writer, options, path).run();
}

}  // namespace fenceline::backends::sqlite
