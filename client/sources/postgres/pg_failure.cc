#include "client/sources/postgres/pg_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fenceline::client {
namespace {

using base::ErrorKind;

// Appendix A of PostgreSQL's manual.
constexpr std::array<std::string_view, 3> kRepeat{"40001", "40P01", "55P03"};
constexpr std::string_view kNoTable = "42P01";
constexpr std::string_view kNotAllowed = "42501";
constexpr std::string_view kReadOnly = "25006";
constexpr std::string_view kNoSchema = "3F000";
constexpr std::string_view kTooLarge = "22003";
// Other columns, no unique key, other types.
constexpr std::array<std::string_view, 5> kOtherTable{"42703", "42P10", "42804", "42883", "42809"};
constexpr std::array<std::string_view, 2> kEncoding{"22P05", "22021"};

bool is_in(const auto& list, std::string_view state) {
  return std::ranges::find(list, state) != list.end();
}

}  // namespace

PgNext next_after(const PgAnswer& answer) {
  if (answer.sqlstate.empty()) {
    return PgNext::kUse;
  }
  if (is_in(kRepeat, answer.sqlstate)) {
    return PgNext::kRepeat;
  }
  return answer.sqlstate == kNoTable ? PgNext::kMakeTable : PgNext::kGiveUp;
}

base::Error error_of(const PgAnswer& answer, std::string_view table, std::string_view create) {
  const std::string& state = answer.sqlstate;
  const std::string said = fmt::format("PostgreSQL said: {} ({})", answer.message, state);
  if (state == kNotAllowed || state == kNoTable) {
    return {
        .kind = ErrorKind::kUnauthorized,
        .detail = fmt::format("The table {0} of leases is missing, or this role may not use it. "
                              "Let an administrator run: {1}; GRANT SELECT, INSERT, UPDATE ON "
                              "{0} TO this role. {2}.",
                              table, create, said)};
  }
  if (state == kReadOnly) {
    return {.kind = ErrorKind::kUpstreamFailed,
            .detail = fmt::format("This PostgreSQL server is a standby or read-only; name the "
                                  "primary, or all servers and target_session_attrs=read-write. "
                                  "{}.",
                                  said)};
  }
  if (state == kNoSchema) {
    return {.kind = ErrorKind::kMalformedRequest,
            .detail = fmt::format("The schema of the table {} does not exist; create it, or choose "
                                  "another with ?table=schema.name. {}.",
                                  table, said)};
  }
  if (is_in(kOtherTable, state)) {
    return {.kind = ErrorKind::kMalformedRequest,
            .detail = fmt::format("The table {} is none of leases; choose another name with "
                                  "?table=name. Leases need: {}. {}.",
                                  table, create, said)};
  }
  if (is_in(kEncoding, state)) {
    return {.kind = ErrorKind::kMalformedRequest,
            .detail = fmt::format("The database cannot hold this key in its encoding; use one with "
                                  "the encoding UTF8. {}.",
                                  said)};
  }
  if (state == kTooLarge) {
    return {.kind = ErrorKind::kMalformedRequest,
            .detail = fmt::format("The ttl is too long, or the token of this key in {} has come to "
                                  "the end of bigint. {}.",
                                  table, said)};
  }
  return {.kind = ErrorKind::kUpstreamFailed, .detail = said + "."};
}

base::Result<std::vector<std::string>> judge_setup(const PgRow& row, std::string_view table) {
  const auto text = [&row](std::size_t column) {
    return column < row.size() && row[column] ? *row[column] : std::string();
  };
  if (text(5) == "t") {
    return base::fail(ErrorKind::kUpstreamFailed,
                      "This PostgreSQL server is in recovery (a standby): it cannot give tokens. "
                      "Name the primary in the source's URL.");
  }
  std::vector<std::string> found;
  if (text(0) == "off") {
    found.emplace_back("fsync is off: after a power failure tokens can fall. Set fsync = on.");
  }
  if (text(1) == "off") {
    found.emplace_back(
        "full_page_writes is off: after a power failure the table can be damaged. Set "
        "full_page_writes = on, unless the file system never tears pages.");
  }
  if (text(2) == "off") {
    found.emplace_back(
        "synchronous_commit is off: after a crash of the server the last tokens can be given "
        "again. Run ALTER ROLE … SET synchronous_commit = on for this role.");
  }
  const bool has_standbys = !text(4).empty() && text(4) != "0";
  if (text(2) == "local" && has_standbys) {
    found.emplace_back(
        "synchronous_commit is local: a failover loses the last tokens. Run ALTER ROLE … SET "
        "synchronous_commit = on for this role.");
  }
  if (text(3).empty() && has_standbys) {
    found.emplace_back(
        "Standbys are attached, but synchronous_standby_names is empty: a failover loses the last "
        "tokens, and the new primary gives them again. Set synchronous_standby_names = 'ANY 1 "
        "(*)'.");
  }
  if (text(6) == "u") {
    found.push_back(fmt::format(
        "The table {0} is UNLOGGED: a crash empties it and tokens begin at 1 again. Run ALTER "
        "TABLE {0} SET LOGGED.",
        table));
  }
  return found;
}

}  // namespace fenceline::client
