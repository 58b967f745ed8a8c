#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/redis/peer.h"
#include "client/redis/reply.h"
#include "tests/client/source_server.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tls_client.h"

namespace fenceline::testing {

struct RedisSettings {
  std::string password{};
  bool tls = false;  ///< Only TLS, with a certificate of its own for `localhost`.
  /// Behind those that make it durable, which they may take back.
  std::vector<std::string> arguments{};
};

/// A real redis-server on loopback with a folder of its own, durable by default. Ended by pid.
class RedisServer {
 public:
  explicit RedisServer(RedisSettings settings = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string address() const;
  /// The PEM file that a client must trust, with `tls`.
  [[nodiscard]] const std::string& certificate() const { return certificate_.certificate; }
  [[nodiscard]] client::redis::PeerOptions options() const;

  /// SIGKILL; returns when it has ended.
  void kill();
  /// Starts it over the same data, on the same port; returns when it answers.
  void start();
  /// Removes all its data. It must have been killed.
  void wipe();

  void pause() const { process_->pause(); }
  void resume() const { process_->resume(); }
  [[nodiscard]] bool runs() const { return process_ != nullptr; }

  /// Sends one command on a connection of its own; throws if there is no answer.
  client::redis::Reply ask(const std::vector<std::string>& words) const;

 private:
  void launch();
  [[nodiscard]] bool ready() const;

  RedisSettings settings_;
  TempFolder folder_;
  TestCertificate certificate_;
  std::uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

/// One server for the contract of token sources.
class RedisSourceServer final : public SourceServer {
 public:
  explicit RedisSourceServer(RedisSettings settings = {});

  [[nodiscard]] std::string url() const override { return url_; }
  void kill() override { server_.kill(); }
  void restart() override { server_.start(); }
  [[nodiscard]] bool is_fair() const override { return false; }

  RedisServer& server() { return server_; }

 private:
  RedisServer server_;
  std::string url_;
};

/// N servers, members of one Redlock.
class RedlockServer final : public SourceServer {
 public:
  enum class Init : std::uint8_t { kDone, kNotYet };

  explicit RedlockServer(std::size_t nodes, Init init = Init::kDone);

  [[nodiscard]] std::string url() const override;
  void kill() override;
  void restart() override;
  [[nodiscard]] bool is_fair() const override { return false; }
  /// A node may take a quarter of it to answer, which a busy machine needs.
  [[nodiscard]] int shortest_ttl_ms() const override { return 2'000; }

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  RedisServer& node(std::size_t index) { return *servers_.at(index); }

  /// SIGKILL, all data removed, started again.
  void wipe(std::size_t index);
  /// As `fenceline lease redlock-resync`; throws if it fails.
  void resync(std::size_t index);

 private:
  std::vector<std::unique_ptr<RedisServer>> servers_;
};

}  // namespace fenceline::testing
