#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/client/source_server.h"
#include "tests/source_servers/engine_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// PostgreSQL from Debian's package, with one role `postgres` and the password `geheim`.
class PostgresServer final : public SourceServer {
 public:
  /// `settings`: as for `postgres -c`. Throws if it does not start.
  explicit PostgresServer(std::vector<std::string> settings = {});
  ~PostgresServer() override;

  [[nodiscard]] std::string url() const override;
  void kill() override;
  void restart() override;
  [[nodiscard]] int shortest_ttl_ms() const override { return 2'000; }  // Disks can be slow.
  [[nodiscard]] bool is_fair() const override { return false; }

  /// The same with another role, password or options.
  [[nodiscard]] std::string url_for(const std::string& user_and_password,
                                    const std::string& options = {}) const;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// SIGSTOP and SIGCONT to its first process: it takes no new sessions.
  void pause() const { process_.pause(); }
  void resume() const { process_.resume(); }

  /// Runs SQL past the source, as the superuser; the first column of the first row. Throws.
  [[nodiscard]] std::string ask(const std::string& sql) const;

  /// Restarts it as a standby that waits for a primary that never comes.
  void become_standby();

 private:
  void start();

  TempFolder folder_;
  std::uint16_t port_;
  std::string data_;
  EngineProcess process_;
};

}  // namespace fenceline::testing
