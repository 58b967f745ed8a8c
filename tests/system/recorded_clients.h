#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/history.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {

/// Clients of one server, each on a thread and a connection of its own, that write, delete and read
/// a few files under rising tokens, also with deliberately stale ones, and keep the history of it.
/// They survive kills of the server. Every content says who wrote it and shows whether it is torn.
class RecordedClients {
 public:
  /// The clients start at once. `seed` decides what they do.
  RecordedClients(std::uint16_t port, std::size_t count, std::uint64_t seed);
  ~RecordedClients() { stop(); }
  RecordedClients(const RecordedClients&) = delete;
  RecordedClients& operator=(const RecordedClients&) = delete;

  /// The server is gone and a new one listens on `port`. A client whose connection broke goes on
  /// only now; before, the effect of its last request was still possible.
  void server_restarted(std::uint16_t port);

  /// Lets every client finish its request and ends it. The server must run. Idempotent.
  void stop();

  /// Reads every file on the server of `port`, without a token and then with a new one, into the
  /// history. After `stop`.
  void read_everything(std::uint16_t port);

  /// Requests that have their answer.
  [[nodiscard]] std::size_t answered() const { return answered_.load(); }
  /// The clock of the history.
  [[nodiscard]] std::int64_t now() { return clock_.fetch_add(1); }

  /// What no client may meet: answers that are not in the contract, connections that broke while
  /// the server ran. Clients that met one have ended.
  [[nodiscard]] std::vector<std::string> problems() const;

  /// All operations. After `stop`.
  [[nodiscard]] const std::vector<Operation>& history() const { return history_; }
  /// How many operations of the history are like this.
  [[nodiscard]] std::size_t count(const std::function<bool(const Operation&)>& like) const;
  /// The highest token of `key` with which a request was accepted.
  [[nodiscard]] std::int64_t highest_accepted(const std::string& key) const;

  static constexpr std::size_t kTenants = 2;
  static std::string key_of(std::size_t tenant);

 private:
  /// One thread's things.
  struct Client {
    std::int64_t number = 0;
    std::int64_t sequence = 0;
    std::mt19937_64 random{};
    std::vector<Operation> history{};
  };

  void run(Client& client);
  Operation choose(Client& client);
  std::int64_t choose_token(Client& client, std::size_t tenant);
  void perform(Client& client, RawClient& connection, Operation& operation);
  void report(std::string problem);

  std::atomic<std::uint64_t> address_;  ///< The port, and above it the number of the server.
  std::atomic<std::int64_t> clock_{1};
  std::atomic<std::int64_t> newest_[kTenants];  ///< Tokens given out.
  std::atomic<std::size_t> answered_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> problems_;  ///< Behind `mutex_`.
  std::vector<Client> clients_;
  std::vector<std::thread> threads_;
  std::vector<Operation> history_;
};

}  // namespace fenceline::testing
