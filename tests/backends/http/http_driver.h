#pragma once

// Drives an HTTP backend the way the pipeline does, on one core that lives as long as the driver:
// connections and time-outs outlive single calls there.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/http/http_backend.h"
#include "base/spawn.h"
#include "base/timer_wheel.h"
#include "tests/support/backend_driver.h"
#include "tests/support/coroutine.h"

namespace fenceline::testing {

/// An io_context with its wheel of time-outs, on a thread of its own.
class TestCore {
 public:
  TestCore();
  ~TestCore();
  TestCore(const TestCore&) = delete;
  TestCore& operator=(const TestCore&) = delete;

  base::TimerWheel& timers() { return wheel_; }

  /// Runs a coroutine there to its end, and gives its result; throws if it takes too long.
  template <typename T>
  T run(base::Awaitable<T> work) {
    auto promise = std::make_shared<std::promise<T>>();
    auto future = promise->get_future();
    base::spawn(context_, keep(std::move(work), promise), nothing_thrown);
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      throw std::runtime_error("a coroutine did not end in time");
    }
    return future.get();
  }

  /// Runs a function there, and waits for it.
  void call(std::function<void()> work);

 private:
  template <typename T>
  static base::Awaitable<void> keep(base::Awaitable<T> work,
                                    std::shared_ptr<std::promise<T>> promise) {
    auto value = co_await std::move(work);
    promise->set_value(std::move(value));
  }
  base::Awaitable<void> turn_wheel();

  base::TimerWheel wheel_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<base::Executor> work_;
  std::thread thread_;
};

/// A request as the parser gives it; owns its text.
class HttpRequest {
 public:
  /// A `name` that ends in a slash names a directory.
  HttpRequest(std::string method, std::string name, Fields fields = {}, std::string query = {});
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  base::RequestHead& head() { return head_; }
  [[nodiscard]] backends::ResourceRequest resource(base::TimerWheel& timers) const;

 private:
  std::string method_;
  std::string name_;
  bool names_directory_ = false;
  Fields fields_;
  std::string query_;
  base::RequestHead head_;
};

/// A body with or without a declared length, in pieces, that may end in an error.
class PieceSource final : public base::BodySource {
 public:
  PieceSource(std::vector<std::string> pieces, bool declares, std::optional<base::Error> end = {})
      : pieces_(std::move(pieces)), declares_(declares), end_(std::move(end)) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override;
  base::Awaitable<base::Result<std::string_view>> read() override;

  /// How many pieces were asked for.
  [[nodiscard]] std::size_t taken() const { return next_; }

 private:
  std::vector<std::string> pieces_;
  bool declares_;
  std::optional<base::Error> end_;
  std::size_t next_ = 0;
};

/// `content` in pieces of at most 64 KiB.
std::vector<std::string> in_pieces(const std::string& content);

class HttpDriver;

/// A write between stage and commit.
class HttpStaged {
 public:
  HttpStaged(HttpDriver& driver, std::unique_ptr<HttpRequest> request,
             base::Result<std::unique_ptr<backends::StagedWrite>> write);
  ~HttpStaged();
  HttpStaged(HttpStaged&&) = default;

  [[nodiscard]] bool staged() const { return write_.has_value(); }
  [[nodiscard]] const base::Error& error() const { return write_.error(); }
  [[nodiscard]] std::optional<backends::WriteIntent> intent() const { return (*write_)->intent(); }
  [[nodiscard]] backends::Bearing bearing_on(const std::string& data) const {
    return (*write_)->bearing_on(data);
  }
  Answer commit();
  void drop();

 private:
  HttpDriver* driver_;
  std::unique_ptr<HttpRequest> request_;
  base::Result<std::unique_ptr<backends::StagedWrite>> write_;
};

/// One backend and the core that it is used on.
class HttpDriver {
 public:
  /// Opens the backend; throws if that fails.
  explicit HttpDriver(backends::http::HttpOptions options);
  ~HttpDriver();

  backends::Backend& backend() { return *backend_; }
  TestCore& core() { return core_; }

  HttpStaged stage(const std::string& method, const std::string& name, const std::string& content,
                   Fields fields = {}, std::int64_t token = 1);
  HttpStaged stage_source(std::unique_ptr<HttpRequest> request, base::BodySource& body,
                          std::int64_t token = 1);
  Answer put(const std::string& name, const std::string& content, Fields fields = {},
             std::int64_t token = 1);
  Answer remove(const std::string& name, Fields fields = {});
  Answer get(const std::string& name, Fields fields = {}, const std::string& query = {});
  Answer read(HttpRequest& request, base::BodySource* body = nullptr);
  base::Result<backends::Revocation> revoke(const std::string& data);

  /// Reads an answer to its end.
  Answer whole(base::Result<base::Reply> reply);

 private:
  TestCore core_;
  std::unique_ptr<backends::Backend> backend_;
};

/// Options for an upstream on this machine, with short time-outs.
backends::http::HttpOptions options_for(std::uint16_t port, backends::http::CommitMode commit);

}  // namespace fenceline::testing
