// Loads a server on the loopback with one kind of request over keep-alive connections, each with
// one request under way, and prints one line of JSON. Every answer must be a success and complete,
// else it ends with status 1: a fast refusal is no result.
//
//   bench_load --port P --connections K --path /f{} (--requests N | --milliseconds T)
//              [--method GET] [--names M] [--first F] [--body-bytes B] [--header 'Name: value']
//              [--pause-ms W]
//
// {} is the number of the request, from F on; in the path modulo M. When the time is over, what is
// under way is finished and counted. A pause follows every answer, so that the server has nothing
// left to do before the next request; it is for one connection only.

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "tests/bench/arguments.h"
#include "tests/bench/load_connection.h"

namespace fenceline::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSilenceMs = 120'000;

struct Plan {
  explicit Plan(Arguments& arguments)
      : connections(arguments.number("--connections")),
        requests(arguments.number("--requests", 0)),
        time(arguments.number("--milliseconds", 0)),
        method(arguments.text("--method", "GET")),
        path(arguments.text("--path")),
        header(arguments.text("--header", "")),
        names(arguments.number("--names", 1)),
        first(arguments.number("--first", 0)),
        pause_ms(static_cast<int>(arguments.number("--pause-ms", 0))),
        body(arguments.number("--body-bytes", 0), 'x') {
    if (connections == 0 || names == 0 || (requests == 0) == (time.count() == 0)) {
      throw std::runtime_error("give --connections and --names, and --requests or --milliseconds");
    }
    if (pause_ms != 0 && connections != 1) {
      throw std::runtime_error("--pause-ms needs --connections 1");
    }
  }

  [[nodiscard]] std::string head(std::uint64_t index) const {
    const std::uint64_t number = first + index;
    std::string text = method + " " + filled(path, number % names) + " HTTP/1.1\r\n";
    text += "Host: 127.0.0.1\r\n";
    if (!header.empty()) {
      text += filled(header, number) + "\r\n";
    }
    if (!body.empty()) {
      text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return text + "\r\n";
  }

  static std::string filled(std::string text, std::uint64_t number) {
    if (const std::size_t at = text.find("{}"); at != std::string::npos) {
      text.replace(at, 2, std::to_string(number));
    }
    return text;
  }

  std::uint64_t connections;
  std::uint64_t requests;
  std::chrono::milliseconds time;
  std::string method;
  std::string path;
  std::string header;
  std::uint64_t names;
  std::uint64_t first;
  int pause_ms;
  std::string body;
};

class Run {
 public:
  Run(const Plan& plan, std::uint16_t port) : plan_(plan), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::uint64_t i = 0; i < plan.connections; ++i) {
      LoadConnection& connection = connections_.emplace_back(port);
      watch(EPOLL_CTL_ADD, i, connection.fd(), EPOLLIN);
    }
    began_at_.resize(plan.connections);
  }

  void run() {
    const Clock::time_point began = Clock::now();
    end_ = plan_.requests > 0 ? Clock::time_point::max() : began + plan_.time;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      start_next(i);
    }
    while (running_ > 0) {
      wait();
    }
    report(std::chrono::duration<double>(Clock::now() - began).count());
  }

 private:
  void watch(int operation, std::uint64_t index, int fd, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = index;
    if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }

  void start_next(std::size_t index) {
    const bool over = plan_.requests > 0 ? started_ == plan_.requests : Clock::now() >= end_;
    if (over) {
      return;
    }
    ++running_;
    began_at_[index] = Clock::now();
    connections_[index].send(plan_.head(started_++), plan_.body);
    flush(index, false);
  }

  void flush(std::size_t index, bool watched) {
    const bool more = connections_[index].flush();
    if (more != watched) {
      watch(EPOLL_CTL_MOD, index, connections_[index].fd(), EPOLLIN | (more ? EPOLLOUT : 0U));
    }
  }

  void wait() {
    std::array<epoll_event, 256> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), kSilenceMs);
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "epoll_wait");
    }
    if (count == 0) {
      throw std::runtime_error(fmt::format("no answer for {} ms", kSilenceMs));
    }
    const auto ready = static_cast<std::size_t>(std::max(count, 0));
    for (const epoll_event& event : std::span(events).first(ready)) {
      const std::size_t index = event.data.u64;
      if ((event.events & EPOLLOUT) != 0) {
        flush(index, true);
      }
      if ((event.events & ~EPOLLOUT) != 0 && connections_[index].receive()) {
        finish(index);
      }
    }
  }

  void finish(std::size_t index) {
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_at_[index]);
    micros_.push_back(static_cast<std::uint32_t>(
        std::min<std::int64_t>(took.count(), std::numeric_limits<std::uint32_t>::max())));
    bytes_ += connections_[index].body_bytes();
    --running_;
    if (plan_.pause_ms > 0) {
      ::poll(nullptr, 0, plan_.pause_ms);
    }
    start_next(index);
  }

  void report(double seconds) {
    std::ranges::sort(micros_);
    const auto at = [this](std::size_t percent) {
      return micros_[std::min(micros_.size() - 1, micros_.size() * percent / 100)];
    };
    fmt::print(
        R"({{"requests": {}, "seconds": {:.6f}, "body_bytes": {}, "p50_us": {}, "p99_us": {}}})"
        "\n",
        micros_.size(), seconds, bytes_, at(50), at(99));
  }

  const Plan& plan_;
  base::UniqueFd epoll_;
  std::deque<LoadConnection> connections_;
  std::vector<Clock::time_point> began_at_;
  std::vector<std::uint32_t> micros_;
  Clock::time_point end_;
  std::uint64_t started_ = 0;
  std::uint64_t running_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace
}  // namespace fenceline::bench

int main(int argc, char** argv) {
  try {
    fenceline::bench::Arguments arguments(argc, argv);
    const auto port = static_cast<std::uint16_t>(arguments.number("--port"));
    const fenceline::bench::Plan plan(arguments);
    arguments.refuse_others();
    fenceline::bench::Run(plan, port).run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_load: {}\n", error.what());
    return 1;
  }
}
