#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "backends/sqlite/statement.h"
#include "base/base64.h"
#include "base/digits.h"
#include "base/json_text.h"

namespace fenceline::backends::sqlite {
namespace {

using base::Reply;
using base::Result;

void append_real(std::string& json, double number) {
  if (std::isinf(number)) {
    // JSON has no infinity; whoever reads this as a double gets one.
    json += number < 0 ? "-1e999" : "1e999";
    return;
  }
  const std::string text = fmt::format("{}", number);
  json += text;
  // A reader that tells integers apart must see that it is none.
  if (text.find_first_of(".e") == std::string::npos) {
    json += ".0";
  }
}

void append_value(std::string& json, const base::SqliteStatement& row, int column) {
  switch (sqlite3_column_type(row.get(), column)) {
    case SQLITE_INTEGER:
      base::append_decimal(json, row.number(column));
      break;
    case SQLITE_FLOAT:
      append_real(json, sqlite3_column_double(row.get(), column));
      break;
    case SQLITE_TEXT:
      base::append_json_string(json, row.text(column));
      break;
    case SQLITE_BLOB:
      json += "{\"base64\":\"";
      base::append_base64(json, row.text(column));
      json += "\"}";
      break;
    default:
      json += "null";
      break;
  }
}

void append_row(std::string& json, const base::SqliteStatement& row) {
  json += json.empty() ? "{" : ",{";
  const int columns = sqlite3_column_count(row.get());
  for (int i = 0; i < columns; ++i) {
    if (i > 0) {
      json += ',';
    }
    base::append_json_string(json, sqlite3_column_name(row.get(), i));
    json += ':';
    append_value(json, row, i);
  }
  json += '}';
}

void bind(base::SqliteStatement& statement, int index, const Value& value) {
  struct Binder {
    base::SqliteStatement& statement;
    int index;
    void operator()(std::monostate /*null*/) const { statement.bind_null(index); }
    void operator()(std::int64_t number) const { statement.bind_number(index, number); }
    void operator()(double number) const { statement.bind_real(index, number); }
    void operator()(const std::string& text) const { statement.bind_text(index, text); }
    void operator()(const Blob& blob) const { statement.bind_blob(index, blob.bytes); }
  };
  std::visit(Binder{statement, index}, value);
}

void bind_all(base::SqliteStatement& statement, const Parameters& parameters) {
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement.get()); ++i) {
    const std::string_view name = sqlite3_bind_parameter_name(statement.get(), i);
    const auto found = parameters.find(name.substr(1));
    if (found != parameters.end()) {
      bind(statement, i, found->second);
    }
  }
}

/// What the parts came to so far.
struct Outcome {
  std::string rows;
  std::int64_t changes = 0;
  bool too_large = false;
};

SqliteResult<void> run_part(Connection& connection, const std::string& sql,
                            const Parameters& parameters, std::size_t max_bytes, Outcome& outcome) {
  auto run = connection.prepared(sql);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  base::SqliteStatement& statement = **run;
  bind_all(statement, parameters);
  if (sqlite3_column_count(statement.get()) > 0) {
    outcome.rows.clear();
  }
  for (;;) {
    const auto row = statement.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      break;
    }
    append_row(outcome.rows, statement);
    if (outcome.rows.size() > max_bytes) {
      outcome.too_large = true;
      return {};
    }
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0) {
    outcome.changes += sqlite3_changes64(connection.get());
  }
  return {};
}

}  // namespace

SqliteResult<Result<Reply>> run_statement(Connection& connection, const NamedStatement& statement,
                                          const Parameters& parameters, const RunLimits& limits) {
  const Connection::Guard guard(connection, limits.time);
  Outcome outcome;
  for (const std::string& part : statement.parts) {
    auto ran = run_part(connection, part, parameters, limits.result_bytes, outcome);
    if (!ran) {
      return tl::unexpected(std::move(ran.error()));
    }
    if (outcome.too_large) {
      return Result<Reply>(base::fail(
          base::ErrorKind::kMalformedRequest,
          fmt::format("The result of the statement \"{}\" has more than {} bytes, the limit of "
                      "this route; ask for less at a time",
                      statement.name, limits.result_bytes)));
    }
  }
  std::string json = "{\"rows\":[";
  json += outcome.rows;
  json += "],\"changes\":";
  base::append_decimal(json, outcome.changes);
  json += '}';
  Reply reply;
  reply.add("Content-Type", "application/json");
  reply.body = std::move(json);
  return Result<Reply>(std::move(reply));
}

}  // namespace fenceline::backends::sqlite
