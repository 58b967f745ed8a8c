#pragma once

// Drives an HTTP backend the way the pipeline does, on one core that lives as long as the driver:
// connections and time-outs outlive single calls there.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/http/http_backend.h"
#include "tests/support/backend_driver.h"
#include "tests/support/test_core.h"

namespace fenceline::testing {

/// Reads an answer to its end, on the core it belongs to.
Answer whole_answer(TestCore& core, base::Result<base::Reply> reply);

/// A request as the parser gives it; owns its text.
class HttpRequest {
 public:
  /// A `name` that ends in a slash names a directory.
  HttpRequest(std::string method, std::string name, Fields fields = {}, std::string query = {});
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  base::RequestHead& head() { return head_; }
  /// Its fence is that of all that lies below, too.
  void cover_below() { covers_below_ = true; }
  [[nodiscard]] backends::ResourceRequest resource(base::TimerWheel& timers) const;

 private:
  std::string method_;
  std::string name_;
  bool names_directory_ = false;
  bool covers_below_ = false;
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
