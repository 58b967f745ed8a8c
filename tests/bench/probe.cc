// What this machine costs right now, as one line of JSON: looked at before and after a measurement,
// it says whether the machine was the same all the time.
//
//   bench_probe --folder F     the folder says whose fsync is timed

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "tests/bench/arguments.h"

namespace fenceline::bench {
namespace {

/// The median over `batches` of the nanoseconds that one of the `calls` of `work` takes.
template <typename Work>
double median_ns(int batches, int calls, Work work) {
  std::vector<double> all;
  for (int batch = 0; batch < batches; ++batch) {
    const auto began = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) {
      work();
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    all.push_back(took.count() / calls);
  }
  std::ranges::nth_element(all, all.begin() + all.size() / 2);
  return all[all.size() / 2];
}

double fsync_ns(const std::string& folder) {
  const std::string path = folder + "/probe";
  const base::UniqueFd fd(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  const std::string block(4096, 'x');
  const double took = median_ns(301, 1, [&] {
    if (::write(fd.get(), block.data(), block.size()) < 0 || ::fdatasync(fd.get()) != 0) {
      throw std::system_error(errno, std::generic_category(), path);
    }
  });
  ::unlink(path.c_str());
  return took;
}

void probe(const std::string& folder) {
  const double call = median_ns(51, 2000, [] { ::syscall(SYS_getppid); });
  constexpr std::size_t kBytes = 16U << 20U;
  std::vector<char> from(kBytes, 'x');
  std::vector<char> into(kBytes, 'y');
  const double copy = median_ns(9, 1, [&] { std::memcpy(into.data(), from.data(), kBytes); });
  if (into.back() != 'x') {
    throw std::runtime_error("memcpy did nothing");
  }
  fmt::print(R"({{"system call ns": {:.1f}, "memcpy MiB/s": {:.0f}, "fdatasync us": {:.1f}}})"
             "\n",
             call, 16e9 / copy, fsync_ns(folder) / 1000);
}

}  // namespace
}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    const std::string folder = arguments.text("--folder");
    arguments.refuse_others();
    fenceline::bench::probe(folder);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_probe: {}\n", error.what());
    return 1;
  }
}
