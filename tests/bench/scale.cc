// What many keys cost: memory, look-up, start-up. One line of JSON each.
//
//   bench_scale --part gate --keys N
//   bench_scale --part ledger --keys N --path FILE

#include "tests/bench/scale.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

#include "tests/bench/arguments.h"

namespace fenceline::bench {

std::string scale_key(std::uint64_t index) { return fmt::format("exports/customer/{:022}", index); }

std::vector<base::FenceKey> some_keys(std::uint64_t keys, std::size_t count) {
  std::mt19937_64 random(42);
  std::vector<base::FenceKey> some;
  some.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    some.push_back(*base::FenceKey::parse(scale_key(random() % keys)));
  }
  return some;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all_pages = 0;
  std::uint64_t pages = 0;
  if (!(file >> all_pages >> pages)) {
    throw std::runtime_error("cannot read /proc/self/statm");
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    const std::string part = arguments.text("--part");
    const std::uint64_t keys = arguments.number("--keys");
    const std::string path = arguments.text("--path", "");
    arguments.refuse_others();
    if (part == "gate") {
      fenceline::bench::measure_gate(keys);
    } else if (part == "ledger") {
      fenceline::bench::measure_ledger(keys, path);
    } else {
      throw std::runtime_error("--part is gate or ledger");
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_scale: {}\n", error.what());
    return 1;
  }
}
