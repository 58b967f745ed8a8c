#pragma once

// Real WebDAV servers from Debian's packages, each as a child process on a free port with a root in
// a temporary folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

enum class UpstreamKind : std::uint8_t { kNginx, kApache };

/// More of nginx's configuration.
struct NginxSettings {
  std::string listen;  ///< Behind the address, such as `ssl`.
  std::string server;  ///< In the `server` block.
};

/// A WebDAV server. Ended by its pid.
class RealUpstream {
 public:
  /// Starts it and waits until it answers; throws `std::runtime_error` if it does not, with what it
  /// said. `port`: 0 takes a free one.
  explicit RealUpstream(UpstreamKind kind, std::uint16_t port = 0);
  explicit RealUpstream(NginxSettings settings);
  ~RealUpstream();
  RealUpstream(const RealUpstream&) = delete;
  RealUpstream& operator=(const RealUpstream&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// The folder that it serves.
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  /// The content of a file below the root; nothing if there is none.
  [[nodiscard]] std::optional<std::string> content(const std::string& name) const;

  /// The number of files in the root whose names begin with `.fenceline-`, at any depth.
  [[nodiscard]] std::size_t leftovers() const;

  /// SIGSTOP and SIGCONT to all of its processes.
  void pause() const;
  void resume() const;

  /// Ends it, all of its processes.
  void stop();

  /// Starts it again on the same port, with the same files.
  void start();

 private:
  void write_config();
  [[nodiscard]] bool answers() const;

  RealUpstream(UpstreamKind kind, std::uint16_t port, NginxSettings settings);

  UpstreamKind kind_;
  NginxSettings settings_;
  std::uint16_t port_;
  TempFolder folder_;
  std::filesystem::path root_;
  std::unique_ptr<ChildProcess> process_;
};

/// A port of 127.0.0.1 that was free a moment ago; never the same twice. Thread-safe.
std::uint16_t free_port();

}  // namespace fenceline::testing
