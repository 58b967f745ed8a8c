// The plain pattern of a durable replacement in a loop: write a temporary file, fsync it, rename
// it, fsync the directory. What durable PUTs are compared with; one line of JSON.
//
//   bench_durable_loop --folder F --threads T --milliseconds M --names N --body-bytes B

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "tests/bench/arguments.h"

namespace fenceline::bench {
namespace {

void check(std::int64_t result, const char* what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
}

void replace(int directory, const std::string& temporary, const std::string& name,
             const std::string& body) {
  constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
  const base::UniqueFd fd(::openat(directory, temporary.c_str(), kFlags, 0644));
  check(fd.get(), "open");
  check(::write(fd.get(), body.data(), body.size()), "write");
  check(::fsync(fd.get()), "fsync");
  check(::renameat(directory, temporary.c_str(), directory, name.c_str()), "rename");
  check(::fsync(directory), "fsync of the directory");
}

struct Loop {
  std::string folder;
  std::uint64_t names = 0;
  std::string body;
  std::chrono::steady_clock::time_point end;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> done = 0;

  void run() {
    const base::UniqueFd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    check(directory.get(), folder.c_str());
    while (std::chrono::steady_clock::now() < end) {
      const std::uint64_t index = next++;
      replace(directory.get(), fmt::format("temporary{}", index), fmt::format("f{}", index % names),
              body);
      ++done;
    }
  }
};

void run(Arguments& arguments) {
  Loop loop;
  loop.folder = arguments.text("--folder");
  loop.names = arguments.number("--names");
  loop.body.assign(arguments.number("--body-bytes"), 'x');
  const std::uint64_t threads = arguments.number("--threads");
  const std::chrono::milliseconds time(arguments.number("--milliseconds"));
  arguments.refuse_others();
  if (::mkdir(loop.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    check(-1, loop.folder.c_str());
  }
  const auto began = std::chrono::steady_clock::now();
  loop.end = began + time;
  {
    std::vector<std::jthread> all;
    for (std::uint64_t i = 0; i < threads; ++i) {
      all.emplace_back([&loop] { loop.run(); });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print(R"({{"requests": {}, "seconds": {:.6f}}})"
             "\n",
             loop.done.load(), took.count());
}

}  // namespace
}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    fenceline::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_durable_loop: {}\n", error.what());
    return 1;
  }
}
