// What SQLite reaches with the settings and the table of the ledger when one thread does nothing
// but commit groups of raises. What durable raises are compared with; one line of JSON.
//
//   bench_ledger_loop --path LEDGER --group G --names N --first F --milliseconds M

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/token.h"
#include "fencing/ledger_file.h"
#include "fencing/mark.h"
#include "fencing/mark_table.h"
#include "tests/bench/arguments.h"

namespace fenceline::bench {
namespace {

// As fencing/ledger_writer.cc: 16 MiB of log between two checkpoints.
constexpr int kCheckpointPages = 4096;

int note_pages(void* pages, sqlite3* /*database*/, const char* /*schema*/, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

template <typename Outcome>
void check(const Outcome& outcome) {
  if (!outcome) {
    throw std::runtime_error(outcome.error().text);
  }
}

void run(Arguments& arguments) {
  const std::string path = arguments.text("--path");
  const std::uint64_t group = arguments.number("--group");
  const std::uint64_t names = arguments.number("--names");
  std::uint64_t token = arguments.number("--first");
  const std::chrono::milliseconds time(arguments.number("--milliseconds"));
  arguments.refuse_others();
  auto file = fencing::open_ledger_file(path);
  if (!file) {
    throw std::runtime_error(file.error().detail);
  }
  auto table = fencing::MarkTable::prepare(file->connection);
  check(table);
  std::uint64_t raises = 0;
  int pages = 0;
  sqlite3_wal_hook(file->connection.get(), note_pages, &pages);
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < began + time) {
    check(table->begin());
    for (std::uint64_t i = 0; i < group; ++i, ++token) {
      const auto value = base::Token::of(static_cast<std::int64_t>(token));
      check(table->store(fmt::format("fenced/f{}", token % names), {value, {}}));
    }
    check(table->commit());
    raises += group;
    if (pages >= kCheckpointPages) {
      check(file->connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE));
      pages = 0;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print(R"({{"requests": {}, "seconds": {:.6f}}})"
             "\n",
             raises, took.count());
}

}  // namespace
}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    fenceline::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_ledger_loop: {}\n", error.what());
    return 1;
  }
}
