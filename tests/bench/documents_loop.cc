// What SQLite reaches with the settings and the table of the documents when one thread does nothing
// but commit groups of them. What SQLite routes are compared with; one line of JSON.
//
//   bench_documents_loop --path DATABASE --group G --names N --body-bytes B --milliseconds M

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/bench/arguments.h"

namespace fenceline::bench {
namespace {

// As backends/sqlite/writer.cc: 16 MiB of log between two checkpoints.
constexpr int kCheckpointPages = 4096;

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
    throw std::runtime_error(sqlite3_errmsg(database));
  }
}

Database open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(path.c_str(), &raw);
  Database database(raw, sqlite3_close);
  check(raw, code);
  for (const char* sql :
       {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA wal_autocheckpoint=0",
        "CREATE TABLE IF NOT EXISTS documents(name TEXT NOT NULL PRIMARY KEY, body BLOB, "
        "content_type TEXT, etag TEXT, modified INTEGER, token INTEGER, request_id TEXT)"}) {
    check(raw, sqlite3_exec(raw, sql, nullptr, nullptr, nullptr));
  }
  return database;
}

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  check(database, sqlite3_prepare_v2(database, sql, -1, &raw, nullptr));
  return {raw, sqlite3_finalize};
}

int note_pages(void* pages, sqlite3* /*database*/, const char* /*schema*/, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

/// Runs a statement that gives no rows.
void step(sqlite3* database, sqlite3_stmt* statement) {
  check(database, sqlite3_step(statement));
  check(database, sqlite3_reset(statement));
}

void run(Arguments& arguments) {
  const std::string path = arguments.text("--path");
  const std::uint64_t group = arguments.number("--group");
  const std::uint64_t names = arguments.number("--names");
  const std::string body(arguments.number("--body-bytes"), 'b');
  const std::chrono::milliseconds time(arguments.number("--milliseconds"));
  arguments.refuse_others();
  const Database database = open(path);
  sqlite3* const raw = database.get();
  const Statement begin = prepare(raw, "BEGIN IMMEDIATE");
  const Statement commit = prepare(raw, "COMMIT");
  const Statement put =
      prepare(raw,
              "INSERT INTO documents VALUES(?1, ?2, 'application/octet-stream', ?3, ?4, 1, 'r') ON "
              "CONFLICT(name) DO UPDATE SET body=excluded.body, etag=excluded.etag, "
              "modified=excluded.modified");
  int pages = 0;
  sqlite3_wal_hook(raw, note_pages, &pages);
  std::uint64_t written = 0;
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < began + time) {
    step(raw, begin.get());
    for (std::uint64_t i = 0; i < group; ++i, ++written) {
      const std::string name = fmt::format("f{}", written % names);
      const std::string etag = fmt::format("{:016x}", written);
      sqlite3_bind_text(put.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
      sqlite3_bind_blob(put.get(), 2, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      sqlite3_bind_text(put.get(), 3, etag.data(), static_cast<int>(etag.size()), SQLITE_STATIC);
      sqlite3_bind_int64(put.get(), 4, static_cast<sqlite3_int64>(written));
      step(raw, put.get());
    }
    step(raw, commit.get());
    if (pages >= kCheckpointPages) {
      check(raw,
            sqlite3_wal_checkpoint_v2(raw, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
      pages = 0;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print(R"({{"requests": {}, "seconds": {:.6f}}})"
             "\n",
             written, took.count());
}

}  // namespace
}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    fenceline::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_documents_loop: {}\n", error.what());
    return 1;
  }
}
