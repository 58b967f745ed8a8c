#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace fenceline::testing {

/// The identity of the ledger that `make_format1_ledger` makes.
inline constexpr const char* kFormat1Identity = "0123456789abcdef0123456789abcdef";

/// Runs statements on the file at `path`, which is made if it is not there.
inline void run_statements(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  int code = sqlite3_open(path.c_str(), &database);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(database);
  if (code != SQLITE_OK) {
    throw std::runtime_error("cannot make " + path + ": " + sqlite3_errstr(code));
  }
}

/// Writes a ledger as the first format has it, with the marks a=7 (holder worker-1) and b=9. The
/// statements are those of that version, byte for byte: they are part of the format.
inline void make_format1_ledger(const std::string& path) {
  const std::string sql =
      "PRAGMA page_size=4096; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE;"
      "PRAGMA application_id=1178947139; PRAGMA user_version=1;"
      "CREATE TABLE marks (\n"
      "  key TEXT NOT NULL PRIMARY KEY,\n"
      "  token INTEGER NOT NULL CHECK (token > 0),\n"
      "  holder TEXT NOT NULL\n"
      ") STRICT, WITHOUT ROWID;"
      "CREATE TABLE ledger (\n"
      "  identity TEXT NOT NULL\n"
      ") STRICT;"
      "INSERT INTO ledger (identity) VALUES ('" +
      std::string(kFormat1Identity) +
      "');"
      "INSERT INTO marks VALUES ('a', 7, 'worker-1'), ('b', 9, '');"
      "COMMIT;";
  run_statements(path, sql);
}

/// Brings that ledger to the second format, byte for byte as that version did, with a reset of a.
inline void make_format2_ledger(const std::string& path) {
  make_format1_ledger(path);
  const char* const sql =
      "BEGIN IMMEDIATE; CREATE TABLE resets (\n"
      "  key TEXT NOT NULL,\n"
      "  number INTEGER NOT NULL CHECK (number > 0),\n"
      "  at_ms INTEGER NOT NULL,\n"
      "  old_token INTEGER NOT NULL CHECK (old_token > 0),\n"
      "  old_holder TEXT NOT NULL,\n"
      "  new_token INTEGER NOT NULL CHECK (new_token > 0),\n"
      "  reason TEXT NOT NULL,\n"
      "  by TEXT NOT NULL,\n"
      "  peer TEXT NOT NULL,\n"
      "  PRIMARY KEY (key, number)\n"
      ") STRICT, WITHOUT ROWID; PRAGMA user_version=2;"
      "INSERT INTO resets VALUES ('a', 1, 5, 100, '', 7, 'restored', 'root', 'peer'); COMMIT;";
  run_statements(path, sql);
}

/// Brings that ledger to the third format, byte for byte as that version did, with an intent.
inline void make_format3_ledger(const std::string& path) {
  make_format2_ledger(path);
  const char* const sql =
      "BEGIN IMMEDIATE; CREATE TABLE intents (\n"
      "  key TEXT NOT NULL,\n"
      "  token INTEGER NOT NULL CHECK (token > 0),\n"
      "  route TEXT NOT NULL,\n"
      "  data TEXT NOT NULL,\n"
      "  PRIMARY KEY (key, token, route, data)\n"
      ") STRICT, WITHOUT ROWID; PRAGMA user_version=3;"
      "INSERT INTO intents VALUES ('a', 7, 'orders', 'PUT /x'); COMMIT;";
  run_statements(path, sql);
}

}  // namespace fenceline::testing
