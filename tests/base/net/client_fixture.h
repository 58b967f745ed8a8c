#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/net/http_client.h"
#include "tests/support/hostile_upstream.h"

namespace fenceline::base::net::testing {

using fenceline::testing::HostileUpstream;
using fenceline::testing::UpstreamPeer;

/// One request to make.
struct Call {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::string> body{};  ///< In pieces; sent one by one.
  bool chunked = false;
  bool fresh = false;
  bool hold_back = false;     ///< Sends all but the last byte, then waits for the answer.
  bool leave_answer = false;  ///< Reads the head only.
};

/// What became of it.
struct Outcome {
  std::optional<Error> error;
  int status = 0;
  std::string fields;  ///< `name=value;` each.
  std::optional<std::uint64_t> content_length;
  std::string body;
  bool reused = false;
  bool unsent = true;
  bool answered = false;  ///< Before the request was complete.
  std::size_t pieces_sent = 0;

  [[nodiscard]] std::optional<ErrorKind> kind() const {
    return error ? std::optional(error->kind) : std::nullopt;
  }
  [[nodiscard]] Applied applied() const { return error ? error->applied : Applied::kYes; }
};

/// A core for a client: this thread, which turns the loop and the wheel while something runs.
class ClientTest : public ::testing::Test {
 protected:
  ClientTest();

  /// Options for the upstream, with short time-outs.
  static HttpClientOptions options_for(const HostileUpstream& upstream);
  void use(const HostileUpstream& upstream) { use(options_for(upstream)); }
  void use(HttpClientOptions options);

  /// Runs `work` to its end; fails the test after 20 s.
  void run(Awaitable<void> work);

  /// Turns the loop until the condition holds; false after 20 s.
  bool run_until(const std::function<bool()>& condition);

  /// Makes one request and reads its answer.
  Outcome call(Call what);
  Outcome get() { return call({}); }

  SteadyClock clock_;
  TimerWheel wheel_;
  std::unique_ptr<boost::asio::io_context> io_;
  std::shared_ptr<HttpClient> client_;

 private:
  void turn();
};

/// `call` as a coroutine.
Awaitable<void> perform(HttpClient& client, TimerWheel& timers, Call what, Outcome* outcome);

/// Answers every request of every connection with the same bytes.
HostileUpstream::Script always(std::string answer);

}  // namespace fenceline::base::net::testing
