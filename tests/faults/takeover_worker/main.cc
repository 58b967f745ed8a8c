// The command that the takeover campaign runs under a lease: writes to both fenced routes, again
// and again, and goes on when it is refused, as a holder does that has not noticed the takeover.
//
//   FENCING_TOKEN=… takeover_worker PORT TENANT LOG RUN WRITES
//
// Appends to LOG, each line in one write: RUN PID PARENT TOKEN, what (start, files, lines), the
// status (0: no answer, or none expected), and when it began and ended on the steady clock in ns.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "tests/support/raw_client.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

constexpr std::chrono::milliseconds kBetweenWrites{10};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Worker {
 public:
  Worker(char** arguments, std::string token)
      : port_(static_cast<std::uint16_t>(std::stoi(arguments[1]))),
        tenant_(arguments[2]),
        log_(::open(arguments[3], O_WRONLY | O_APPEND | O_CLOEXEC)),
        run_(arguments[4]),
        writes_(std::stoi(arguments[5])),
        token_(std::move(token)) {}

  void work() {
    const std::int64_t start = now_ns();
    record("start", 0, start, start);
    for (int i = 0; i < writes_; ++i) {
      send("files", fmt::format("PUT /exports/{}/out", tenant_), token_);
      send("lines", fmt::format("POST /work/{}/append", tenant_),
           fmt::format(R"({{"token":{},"run":{},"line":{}}})", token_, run_, i));
      const auto next = std::chrono::steady_clock::now() + kBetweenWrites;
      while (std::chrono::steady_clock::now() < next) {
        breathe();
      }
    }
  }

 private:
  void send(std::string_view what, std::string_view target, std::string_view body) {
    const std::int64_t begin = now_ns();
    int status = 0;
    try {
      if (client_ == nullptr) {
        client_ = std::make_unique<RawClient>(port_);
      }
      status = client_
                   ->exchange(fmt::format("{} HTTP/1.1\r\nHost: campaign\r\nFencing-Token: {}\r\n"
                                          "Content-Type: application/json\r\nContent-Length: "
                                          "{}\r\n\r\n{}",
                                          target, token_, body.size(), body))
                   .status;
    } catch (const std::exception&) {
      // Also the end of a connection that the server closed while this process was stopped.
      client_.reset();
    }
    record(what, status, begin, now_ns());
  }

  void record(std::string_view what, int status, std::int64_t begin_ns, std::int64_t end_ns) const {
    const std::string line = fmt::format("{} {} {} {} {} {} {} {}\n", run_, ::getpid(), ::getppid(),
                                         token_, what, status, begin_ns, end_ns);
    if (::write(log_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw std::runtime_error("the log cannot be written");
    }
  }

  std::uint16_t port_;
  std::string tenant_;
  base::UniqueFd log_;
  std::string run_;
  int writes_;
  std::string token_;
  std::unique_ptr<RawClient> client_;
};

}  // namespace
}  // namespace fenceline::testing

int main(int count, char** arguments) {
  const char* token = std::getenv("FENCING_TOKEN");
  if (count != 6 || token == nullptr) {
    std::fputs("FENCING_TOKEN=... takeover_worker PORT TENANT LOG RUN WRITES\n", stderr);
    return 2;
  }
  try {
    fenceline::testing::Worker(arguments, token).work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "takeover_worker: %s\n", error.what());
    return 1;
  }
}
