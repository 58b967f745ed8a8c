// The ledger file: damaged in every way, it is refused with a clear error, or it opens and no mark
// is lower than what the file holds.
//
// The input is a list of edits (`damage`) of a real ledger, so that they get behind its header; an
// input that begins with `=` is the file itself. What a file holds is what SQLite alone reads of a
// copy of it.

#include <fmt/format.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fencing/ledger_format.h"
#include "fencing/sqlite_ledger.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/ledger_damage.h"

namespace fenceline::fuzz {
namespace {

namespace fs = std::filesystem;
using fencing::Ledger;
using fencing::Mark;
using Marks = std::map<std::string, std::int64_t>;

constexpr std::size_t kMostRows = 10'000;

/// A folder of its own, removed at the end of the program; scripts/fuzz keeps it in memory.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "fenceline-fuzz-XXXXXX";
    check(::mkdtemp(name.data()) != nullptr, "a folder can be made", name);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

using Answer = std::future<base::Result<Mark>>;

/// Asks without waiting, so that the ledger's thread is woken once for many questions.
Answer find(Ledger& ledger, const base::FenceKey& key) {
  auto promise = std::make_shared<std::promise<base::Result<Mark>>>();
  ledger.find(key, [promise](base::Result<Mark> mark) { promise->set_value(std::move(mark)); });
  return promise->get_future();
}

Answer raise(Ledger& ledger, const base::FenceKey& key, const Mark& offered) {
  auto promise = std::make_shared<std::promise<base::Result<Mark>>>();
  ledger.raise(key, offered,
               [promise](base::Result<Mark> mark) { promise->set_value(std::move(mark)); });
  return promise->get_future();
}

/// What SQLite alone reads of the file: for each key the highest token. Nothing if it cannot be
/// read to its end.
std::optional<Marks> marks_in(const std::string& path) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::optional<Marks> marks;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "SELECT key, token FROM marks", -1, &statement, nullptr) ==
          SQLITE_OK) {
    marks.emplace();
    int code = SQLITE_ROW;
    while (marks->size() < kMostRows && (code = sqlite3_step(statement)) == SQLITE_ROW) {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, 0));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, 0));
      std::int64_t& token = (*marks)[text == nullptr ? std::string() : std::string(text, size)];
      token = std::max<std::int64_t>(token, sqlite3_column_int64(statement, 1));
    }
    if (code != SQLITE_DONE) {
      marks.reset();
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return marks;
}

base::Result<std::unique_ptr<Ledger>> open(const std::string& path) {
  fencing::SqliteLedgerOptions options;
  options.path = path;
  return fencing::open_sqlite_ledger(std::move(options));
}

/// Keys that need several pages, one of them with an overflow page, half of the commits in the log.
LedgerBytes make_ledger(const Folder& folder, int keys) {
  const std::string path = folder.file(fmt::format("made-{}", keys));
  {
    auto ledger = open(path);
    check(ledger.has_value(), "a new ledger opens", path);
  }
  // The same bytes on every run, or a finding could not be found again.
  sqlite3* database = nullptr;
  sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  const auto run = [database](const std::string& sql) {
    check(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, "SQL", sql);
  };
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  run("PRAGMA wal_autocheckpoint=0; UPDATE ledger SET identity = '" + std::string(32, 'a') + "'");
  for (int i = 0; i < keys; ++i) {
    run(fmt::format("INSERT INTO marks VALUES ('exports/{:04}{}', {}, 'worker-{}')", i,
                    std::string(i == 1 ? 1000 : 100, 'k'), (i + 1) * 1000, i));
    if (i == keys / 2) {
      run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
  }
  run("UPDATE marks SET token = token + 1 WHERE key < 'exports/0003'");
  run("INSERT INTO resets SELECT key, 1, 0, token + 9, holder, token, 'test', 'me', 'here' "
      "FROM marks WHERE key < 'exports/0002'");
  run("INSERT INTO leases SELECT substr(holder, 8), token, holder, 'again', 30000, 0 FROM marks "
      "WHERE key < 'exports/0002'");
  run("INSERT INTO lease_keys SELECT substr(holder, 8), key FROM marks WHERE key < 'exports/0002'");
  run("INSERT INTO lock_delays VALUES ('exports/0001', 15000)");
  run("INSERT INTO lease_tokens VALUES (1, 90000)");
  LedgerBytes made{bytes_of(path), bytes_of(path + "-wal")};
  sqlite3_close(database);
  return made;
}

/// No answer is below the mark that the file has, or has been given, for its key.
void check_answers(const std::vector<std::pair<std::string, std::int64_t>>& expected,
                   std::vector<Answer>& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto mark = answers[i].get();
    check(!mark || mark->token.value() >= expected[i].second, "no mark is lower than in the file",
          expected[i].first);
  }
}

/// Every mark of `marks` is there; raising works or is refused, and nothing goes down by it.
void check_marks(Ledger& ledger, const Marks& marks) {
  std::vector<std::pair<std::string, std::int64_t>> expected;
  std::vector<Answer> found;
  std::vector<Answer> raised;
  expected.reserve(marks.size());
  found.reserve(marks.size());
  raised.reserve(marks.size());
  for (const auto& [key, token] : marks) {
    // Other keys than these no request can have.
    if (const auto name = base::FenceKey::parse(key)) {
      expected.emplace_back(key, token);
      found.push_back(find(ledger, *name));
    }
  }
  check_answers(expected, found);
  for (const auto& [key, token] : expected) {
    raised.push_back(raise(ledger, *base::FenceKey::parse(key), Mark{base::Token::of(1), "late"}));
  }
  check_answers(expected, raised);
  // What is read of earlier resets may be refused, and is never more than was asked for.
  for (const auto& [key, token] : marks) {
    if (const auto name = base::FenceKey::parse(key)) {
      constexpr std::size_t kMost = 3;
      using Records = base::Result<std::vector<fencing::ResetRecord>>;
      auto promise = std::make_shared<std::promise<Records>>();
      ledger.resets(*name, kMost,
                    [promise](Records records) { promise->set_value(std::move(records)); });
      const auto records = promise->get_future().get();
      check(!records || records->size() <= kMost, "as many resets as asked for", key);
      break;
    }
  }
  // Leases are read, or refused; a grant is above the mark of its key, or refused.
  auto leases = std::make_shared<std::promise<bool>>();
  ledger.list_leases([leases](const auto& records) { leases->set_value(records.has_value()); });
  leases->get_future().get();
  if (!expected.empty()) {
    fencing::GrantOrder order;
    order.lease.id = "mine";
    order.lease.keys.push_back(*base::FenceKey::parse(expected.front().first));
    order.lease.ttl = base::Milliseconds(1);
    auto granted = std::make_shared<std::promise<base::Result<base::Token>>>();
    ledger.grant(order, [granted](auto token) { granted->set_value(std::move(token)); });
    const auto token = granted->get_future().get();
    check(!token || token->value() > expected.front().second, "a lease's token is above the mark",
          expected.front().first);
  }
  const auto fresh = base::FenceKey::parse("fresh");
  if (raise(ledger, *fresh, Mark{base::Token::of(7), "new"}).get()) {
    const auto again = find(ledger, *fresh).get();
    check(!again || again->token.value() >= 7, "a raise stays", "fresh");
  }
}

void check_file(const LedgerBytes& bytes, const Folder& folder) {
  const std::string path = folder.file("ledger");
  const std::string copy = folder.file("copy");
  for (const std::string& each : {path, copy}) {
    put(each, bytes.file);
    fs::remove(each + "-wal");
    if (!bytes.log.empty()) {
      put(each + "-wal", bytes.log);
    }
    fs::remove(each + "-shm");
  }
  {
    auto ledger = open(path);
    if (!ledger) {
      check(ledger.error().kind == base::ErrorKind::kLedgerUnavailable, "a bad file is refused");
      check(ledger.error().detail.find(path) != std::string::npos, "the error names the file",
            ledger.error().detail);
      check(ledger.error().detail.find("SQLite code 0") == std::string::npos,
            "the error has a reason", ledger.error().detail);
      return;
    }
    check(bytes.file.size() >= fencing::kLedgerPageBytes, "a short file is no ledger");
    const auto marks = marks_in(copy);
    if (marks) {
      check_marks(**ledger, *marks);
    }
  }
  // What was open can be opened again, unless a damaged page showed only now.
  const auto again = open(path);
  check(again || !again.error().detail.empty(), "a refusal has a reason");
}

void check_input(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  static const std::vector<LedgerBytes> made = {make_ledger(folder, 3), make_ledger(folder, 120)};
  const std::string_view text = as_text(data, size);
  if (text.starts_with('=')) {
    check_file({std::string(text.substr(1)), {}}, folder);
    return;
  }
  FuzzedDataProvider input(data, size);
  LedgerBytes bytes = made.at(input.ConsumeIntegralInRange<std::size_t>(0, made.size() - 1));
  damage(bytes, input);
  check_file(bytes, folder);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_input(data, size);
  return 0;
}
