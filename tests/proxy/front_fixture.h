#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/request_id.h"
#include "proxy/handler.h"
#include "proxy/server.h"
#include "tests/support/raw_client.h"

namespace fenceline::proxy::testing {

using fenceline::testing::RawClient;
using fenceline::testing::Response;

/// Waits for conditions over what other threads do. Never sleeps; gives up after a deadline.
class Board {
 public:
  /// Changes something that a condition looks at.
  template <typename Change>
  void update(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  /// True when `condition` holds; false if it did not within 20 s.
  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Everything the server told its observer.
class RecordingObserver final : public ServerObserver {
 public:
  void connection_opened(std::string_view /*listener*/) override;
  void connection_closed(std::string_view /*listener*/) override;
  void connection_refused(std::string_view /*listener*/) override;
  void request_finished(const RequestSummary& summary) override;
  void bug(std::string_view where, std::string_view what) override;
  void accept_paused(std::string_view listener, std::string_view reason) override;

  struct Finished {
    int status;
    bool complete;
    std::string request_id;
    std::string peer;
  };
  Board board;
  std::size_t opened = 0;
  std::size_t closed = 0;
  std::size_t refused = 0;
  std::size_t paused = 0;
  std::vector<Finished> finished;
  std::vector<std::string> bugs;

  bool wait_for_closed(std::size_t count);
  bool wait_for_finished(std::size_t count);
};

/// Answers by the first segment of the path; see front_fixture.cc for what each does.
class TestHandler final : public Handler {
 public:
  base::Awaitable<base::Reply> handle(Request request) override;

  /// Lets every `/hold` that waits, or will wait, go on.
  void release();

  Board board;
  std::size_t started = 0;  ///< Calls of `handle`.
  std::size_t holding = 0;  ///< Calls that wait in `/hold`.
  std::vector<base::ErrorKind> body_errors;
  std::map<std::thread::id, std::size_t> by_thread;
  std::string file;  ///< What `/file` sends.

 private:
  base::Awaitable<base::Result<std::string>> read_all(base::BodySource& body);
  base::Awaitable<base::Reply> hold();
  base::Reply send_file(const base::RequestHead& head);

  std::mutex hold_mutex_;
  bool released_ = false;
  std::vector<base::Done<int>> waiting_;
};

/// A server with one listener on a port of the system's choice.
class FrontTest : public ::testing::Test {
 public:
  FrontTest();
  ~FrontTest() override;

 protected:
  /// Starts with `options` and `cores`; EXPECTs success.
  void start();

  [[nodiscard]] std::uint16_t port() const { return server_->port("test"); }
  RawClient connect(int receive_buffer_bytes = 0) {
    return RawClient(port(), receive_buffer_bytes);
  }

  std::filesystem::path folder_;  ///< Private, removed at the end.
  base::SteadyClock clock_;
  base::RequestIds request_ids_;
  RecordingObserver observer_;
  TestHandler handler_;
  ListenerOptions options_;
  ServerOptions server_options_;
  std::unique_ptr<Server> server_;
};

/// A request with a body of Content-Length.
std::string put(std::string_view target, std::string_view body, std::string_view fields = "");
std::string get(std::string_view target, std::string_view fields = "");

}  // namespace fenceline::proxy::testing
