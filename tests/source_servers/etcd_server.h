#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/source_server.h"
#include "tests/source_servers/engine_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// etcd from Debian's package: a cluster of its own.
class EtcdServer final : public SourceServer {
 public:
  struct Settings {
    int members = 1;
    std::string certificate;  ///< With a key: clients come by TLS.
    std::string key;
  };

  /// Throws if it does not start.
  explicit EtcdServer(const Settings& settings);
  ~EtcdServer() override;

  [[nodiscard]] std::string url() const override;
  void kill() override;
  void restart() override;
  [[nodiscard]] int shortest_ttl_ms() const override { return 3'000; }  // Disks can be slow.
  [[nodiscard]] bool is_fair() const override { return true; }

  /// `host:port,…` of all members.
  [[nodiscard]] std::string addresses() const;

  /// The member that leads, by its place in the URL.
  [[nodiscard]] std::size_t leader() const;

  void kill_member(std::size_t index) { members_[index].process->kill(); }
  void restart_member(std::size_t index);
  void pause_member(std::size_t index) const { members_[index].process->pause(); }
  void resume_member(std::size_t index) const { members_[index].process->resume(); }

  /// Posts JSON to a member past the source; the body of the answer. `token`: of a session.
  [[nodiscard]] std::string post(const std::string& path, const std::string& json,
                                 const std::string& token = {}, std::size_t index = 0) const;

 private:
  struct Member {
    std::uint16_t port;
    std::uint16_t peer_port;
    std::unique_ptr<EngineProcess> process;
  };

  [[nodiscard]] bool answers(const Member& member) const;

  bool tls_;
  TempFolder folder_;
  std::vector<Member> members_;
};

}  // namespace fenceline::testing
