#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/history.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_request.h"

namespace fenceline::testing {

/// What recorded clients work on, and what they may meet.
struct Load {
  std::size_t tenants = 2;  ///< Fence keys.
  std::size_t files = 3;    ///< Of each key.
  std::size_t most_bytes = 64UL * 1024;
  Trouble trouble = Trouble::kNone;
  bool may_tear = false;  ///< The store writes in place: what is read torn is no evidence.
};

/// Clients of one server, each on a thread and a connection of its own, that write, delete and read
/// a few files under rising tokens, also with deliberately stale ones, and keep the history of it.
/// They survive kills of the server.
class RecordedClients {
 public:
  /// The clients start at once. `seed` decides what they do.
  RecordedClients(std::uint16_t port, std::size_t count, std::uint64_t seed, Load load = {});
  ~RecordedClients() { stop(); }
  RecordedClients(const RecordedClients&) = delete;
  RecordedClients& operator=(const RecordedClients&) = delete;

  /// The server is gone and a new one listens on `port`. A client whose connection broke goes on
  /// only now; before, the effect of its last request was still possible.
  void server_restarted(std::uint16_t port);

  /// Each client finishes its request and begins no other before `go_on`. Does not wait for that:
  /// a client whose connection broke is held when it has learnt of the next server.
  void hold();
  void wait_until_held();
  void go_on();

  /// Lets every client finish its request and ends it. The server must run, and none be held.
  /// Idempotent.
  void stop();

  /// Reads every file on the server of `port`, without a token and then with a new one, into the
  /// history. While all are held, or after `stop`.
  void read_everything(std::uint16_t port);

  /// What was in flight when the server went away.
  enum class Loss : std::uint8_t {
    kNone,      ///< Nothing that took effect is lost: the system ran on.
    kPowerCut,  ///< What was not answered may be undone, also if somebody has read it.
  };

  /// Reads everything, judges what has happened since the last call (`violations_of`) and forgets
  /// it, except for what the next judgement builds on: memory stays bounded. A history that is not
  /// allowed is kept. While all are held, or after `stop`.
  std::vector<std::string> judge(std::uint16_t port, Loss loss = Loss::kNone);

  /// A write for somebody else to send, with the newest token of its key; it starts now. With its
  /// outcome and its end it goes to `add`. Both: any thread.
  Operation outside_write(std::size_t tenant);
  void add(Operation operation);

  /// Requests that have their answer.
  [[nodiscard]] std::size_t answered() const { return answered_.load(); }
  /// The clock of the history.
  [[nodiscard]] std::int64_t now() { return clock_.fetch_add(1); }

  /// What no client may meet: answers that are not in the contract, connections that broke while
  /// the server ran. Clients that met one have ended.
  [[nodiscard]] std::vector<std::string> problems() const;

  /// All operations that were not forgotten. While all are held, or after `stop`.
  [[nodiscard]] const std::vector<Operation>& history() const { return history_; }
  /// How many operations of the history are like this.
  [[nodiscard]] std::size_t count(const std::function<bool(const Operation&)>& like) const;
  /// The highest token of `key` with which a request was accepted.
  [[nodiscard]] std::int64_t highest_accepted(const std::string& key) const;

  /// Writes so far, by their outcome, also those that were forgotten. As `history`.
  [[nodiscard]] std::size_t writes(Operation::Outcome outcome) const;
  /// Operations so far, of all kinds, also those that were forgotten. As `history`.
  [[nodiscard]] std::size_t operations() const { return operations_; }

  [[nodiscard]] std::size_t tenants() const { return load_.tenants; }
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
  void work(Client& client);
  void wait_while_held();
  void collect();
  void keep(std::vector<Operation> operations);
  Operation choose(Client& client);
  std::int64_t choose_token(Client& client, std::size_t tenant);
  std::int64_t end_of(const Operation& operation);
  Response read_at_last(RawClient& connection, const Operation& operation);
  void perform(Client& client, RawClient& connection, Operation& operation);
  void report(std::string problem);

  const Load load_;
  std::atomic<std::uint64_t> address_;  ///< The port, and above it the number of the server.
  std::atomic<std::int64_t> clock_{1};
  std::vector<std::atomic<std::int64_t>> newest_;  ///< By tenant: tokens given out.
  std::atomic<std::size_t> answered_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> problems_;  ///< Behind `mutex_`.
  std::vector<Operation> outside_;     ///< Behind `mutex_`: what was added.
  std::int64_t outside_writes_ = 0;    ///< Behind `mutex_`.
  bool holding_ = false;               ///< Behind `mutex_`.
  std::size_t resting_ = 0;            ///< Behind `mutex_`: clients that are held, or have ended.
  std::vector<Client> clients_;
  std::vector<std::thread> threads_;
  std::vector<Operation> history_;
  std::map<Operation::Outcome, std::size_t> writes_;
  std::size_t operations_ = 0;
};

}  // namespace fenceline::testing
