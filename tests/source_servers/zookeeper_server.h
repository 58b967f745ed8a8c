#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/source_server.h"
#include "tests/source_servers/engine_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// ZooKeeper from Debian's package: one server, or an ensemble. Sessions of 1 to 60 seconds.
class ZooKeeperServer final : public SourceServer {
 public:
  /// Throws if it does not start.
  explicit ZooKeeperServer(int servers = 1);
  ~ZooKeeperServer() override;

  [[nodiscard]] std::string url() const override;
  void kill() override;
  void restart() override;
  [[nodiscard]] int shortest_ttl_ms() const override { return 4'000; }  // Disks can be slow.
  [[nodiscard]] bool is_fair() const override { return true; }

  /// `host:port,…` of all servers.
  [[nodiscard]] std::string addresses() const;

  void kill_server(std::size_t index) { servers_[index].process->kill(); }
  void pause_server(std::size_t index) const { servers_[index].process->pause(); }
  void resume_server(std::size_t index) const { servers_[index].process->resume(); }

 private:
  struct Server {
    std::uint16_t port;
    std::string peer_ports;
    std::unique_ptr<EngineProcess> process;
  };

  void write_config(std::size_t index) const;

  TempFolder folder_;
  std::vector<Server> servers_;
};

}  // namespace fenceline::testing
