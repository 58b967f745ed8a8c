#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "client/redis/reply.h"
#include "client/redis/wire.h"

namespace fenceline::client::redis {

/// Where a server is and who we are to it.
struct PeerOptions {
  std::string host;
  std::uint16_t port = 6379;
  std::string user;                     ///< Empty: the default user.
  std::optional<std::string> password;  ///< Nothing: no AUTH.
  std::uint32_t database = 0;
  std::shared_ptr<Tls> tls;  ///< Null: without.
};

/// One Redis server, asked one command at a time by whoever polls. Keeps its connection from one
/// command to the next. Never blocks. Not thread-safe.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  /// `host:port`, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;

  /// Begins to ask: connects and signs in first where that is needed, also in place of a connection
  /// that was closed meanwhile. `command`, one whole command, is sent once: whether it may be sent
  /// again the caller knows. What was asked before and has not been answered is given up.
  virtual void start(std::string command) = 0;

  /// What to poll for; nothing while no answer is wanted or it is there.
  [[nodiscard]] virtual std::optional<pollfd> wanted() const = 0;

  /// Goes on as far as it can without waiting.
  virtual void go_on() = 0;

  /// The answer, once; nothing while there is none. An error of Redis is an answer (`kError`);
  /// failing to sign in, or to speak with the server at all, is a failure: `kUnauthorized`,
  /// `kUpstreamFailed`; `applied` is `kNo` if no byte of the command was sent.
  virtual std::optional<base::Result<Reply>> take_answer() = 0;

  /// Whether a byte of the command that `start` got may have reached the server.
  [[nodiscard]] virtual bool touched() const = 0;

  /// Ends the connection. `last_words`, a whole command, is written to it first, behind what was
  /// asked before, as far as that goes without waiting: the server reads both in this order, and
  /// its answers are not waited for. Does nothing if nobody is signed in.
  virtual void give_up(std::string_view last_words) = 0;
};

std::unique_ptr<Peer> make_peer(PeerOptions options);

}  // namespace fenceline::client::redis
