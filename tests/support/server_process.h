#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::testing {

/// The real binary (environment FENCELINE_BINARY) as a child process with a configuration of its
/// own, on ports that the system chooses. Killed by pid at the end if it still runs.
class ServerProcess {
 public:
  static constexpr std::chrono::seconds kTimeout{30};

  /// Variables beside those of this process, each as NAME=value.
  using Environment = std::vector<std::string>;

  /// `folder` gets `fenceline.yaml`, `stderr.log` and whatever the configuration names; it is the
  /// working directory of the server. `config` should listen on port 0. Throws `std::runtime_error`
  /// if the server does not say "serving" in time; the message has its log.
  ServerProcess(std::string folder, std::string_view config, const Environment& environment = {});

  /// As above, but only starts: for servers that are expected to refuse.
  struct NoWait {};
  ServerProcess(NoWait, std::string folder, std::string_view config,
                const Environment& environment = {});

  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint16_t admin_port() const { return admin_port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  void signal(int number) const;

  /// Waits for the end and returns the exit code, or 128 + the signal that ended it.
  int wait();

  /// SIGKILL, and waits.
  void kill_hard();

  /// SIGTERM, and waits: the exit code.
  int stop();

  /// What it has written to standard error.
  [[nodiscard]] std::string log() const;

  /// Waits until the log contains `text`; throws with the log if it does not in time.
  void wait_for_log(std::string_view text) const;

 private:
  void start(std::string_view config, const Environment& environment);
  void read_ports();

  std::string folder_;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
};

/// Waits until `condition` is true, looking again and again; throws `std::runtime_error` naming
/// `what` after `timeout`.
template <typename Condition>
void wait_until(std::string_view what, Condition condition,
                std::chrono::milliseconds timeout = ServerProcess::kTimeout);

/// Gives the processor away for about a millisecond, for loops that wait for another process.
void breathe();

template <typename Condition>
void wait_until(std::string_view what, Condition condition, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("timed out waiting for " + std::string(what));
    }
    breathe();
  }
}

}  // namespace fenceline::testing
