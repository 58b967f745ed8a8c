#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/token.h"
#include "base/unique_fd.h"
#include "fencing/ledger_file.h"
#include "fencing/mark_table.h"
#include "fencing/sqlite_ledger.h"
#include "tests/bench/scale.h"

namespace fenceline::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

template <typename Outcome>
void check(const Outcome& outcome) {
  if (!outcome) {
    throw std::runtime_error(outcome.error().text);
  }
}

/// In the order of the keys: the fastest way to fill a B-tree, and one that leaves it dense.
void fill(std::uint64_t keys, const std::string& path) {
  constexpr std::uint64_t kPerCommit = 100'000;
  auto file = fencing::open_ledger_file(path);
  if (!file) {
    throw std::runtime_error(file.error().detail);
  }
  auto table = fencing::MarkTable::prepare(file->connection);
  check(table);
  for (std::uint64_t i = 0; i < keys;) {
    check(table->begin());
    for (const std::uint64_t end = std::min(keys, i + kPerCommit); i < end; ++i) {
      check(table->store(scale_key(i), {base::Token::of(kScaleToken), {}}));
    }
    check(table->commit());
    check(file->connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE));
  }
}

/// So that opening reads from the disk, as after a boot.
void drop_from_page_cache(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0 ||
      ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
    throw std::runtime_error("cannot drop " + path + " from the page cache");
  }
}

void find(fencing::Ledger& ledger, const base::FenceKey& key) {
  std::promise<base::Result<fencing::Mark>> answer;
  ledger.find(key, [&answer](base::Result<fencing::Mark> mark) { answer.set_value(mark); });
  const auto mark = answer.get_future().get();
  if (!mark || mark->token.value() != kScaleToken) {
    throw std::runtime_error("a key of the ledger was not found");
  }
}

/// Microseconds of one look-up, each after the answer to the one before.
double find_us(fencing::Ledger& ledger, const std::vector<base::FenceKey>& some) {
  const auto began = Clock::now();
  for (const base::FenceKey& key : some) {
    find(ledger, key);
  }
  return Micros(Clock::now() - began).count() / static_cast<double>(some.size());
}

}  // namespace

void measure_ledger(std::uint64_t keys, const std::string& path) {
  constexpr std::size_t kLookups = 20'000;
  if (std::filesystem::exists(path)) {
    throw std::runtime_error(path + " exists; name a file that does not");
  }
  const auto fill_began = Clock::now();
  fill(keys, path);
  const double fill_s = Micros(Clock::now() - fill_began).count() / 1e6;
  drop_from_page_cache(path);
  const std::vector<base::FenceKey> some = some_keys(keys, 2 * kLookups);
  const std::uint64_t before = resident_bytes();
  const auto open_began = Clock::now();
  fencing::SqliteLedgerOptions options;
  options.path = path;
  auto ledger = fencing::open_sqlite_ledger(std::move(options));
  if (!ledger) {
    throw std::runtime_error(ledger.error().detail);
  }
  find(**ledger, some.front());
  const double open_ms = Micros(Clock::now() - open_began).count() / 1000;
  // The first pass reads from the disk; then the file is in the page cache, if it fits there.
  const double cold_us = find_us(**ledger, {some.begin(), some.begin() + kLookups});
  std::ifstream whole(path, std::ios::binary);
  std::vector<char> block(1U << 20U);
  while (whole.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
  const double warm_us = find_us(**ledger, {some.begin() + kLookups, some.end()});
  const std::uint64_t grown = resident_bytes() - before;
  fmt::print(R"({{"keys": {}, "file_bytes_per_key": {:.1f}, "fill_s": {:.1f}, "open_ms": {:.1f}, )"
             R"("find_cold_us": {:.1f}, "find_us": {:.1f}, "resident_mib": {:.1f}}})"
             "\n",
             keys,
             static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(keys),
             fill_s, open_ms, cold_us, warm_us, static_cast<double>(grown) / (1U << 20U));
}

}  // namespace fenceline::bench
