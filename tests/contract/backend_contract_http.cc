// Upstreams behind the HTTP backend, as cases of the suite: a real nginx written to by MOVE, and a
// server of ours that keeps conditions. A definite refusal reaches the client as the upstream gives
// it; here it counts as the error of the same meaning.

#include <string>
#include <utility>

#include "backends/http/http_backend.h"
#include "tests/contract/backend_contract.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"
#include "tests/support/server_process.h"
#include "tests/support/test_core.h"

namespace fenceline::testing {
namespace {

using backends::StagedWrite;
using base::Awaitable;
using base::ErrorKind;
using base::Reply;
using base::Result;

std::optional<ErrorKind> refusal_of(int status) {
  switch (status) {
    case 404:
      return ErrorKind::kNotFound;
    case 412:
      return ErrorKind::kPreconditionFailed;
    case 416:
      return ErrorKind::kRangeNotSatisfiable;
    default:
      return std::nullopt;
  }
}

/// An answer with its content in memory.
Awaitable<Result<Reply>> whole(Result<Reply> reply) {
  if (!reply) {
    co_return reply;
  }
  std::string content;
  auto* source = std::get_if<std::unique_ptr<base::BodySource>>(&reply->body);
  while (source != nullptr) {
    auto piece = co_await (*source)->read();
    if (!piece) {
      co_return base::pass_on(piece.error());
    }
    if (piece->empty()) {
      break;
    }
    content.append(*piece);
  }
  if (const auto kind = refusal_of(reply->status)) {
    base::Error error{.kind = *kind, .detail = content};
    error.fields = reply->fields.list();
    co_return tl::unexpected<base::Error>(std::move(error));
  }
  if (source != nullptr) {
    reply->body = std::move(content);
  }
  co_return reply;
}

Awaitable<Result<Reply>> read_whole(backends::Backend& backend, backends::ResourceRequest request) {
  auto reply = co_await backend.read(request);
  co_return co_await whole(std::move(reply));
}

Awaitable<Result<Reply>> commit_whole(StagedWrite& write) {
  auto reply = co_await write.commit();
  co_return co_await whole(std::move(reply));
}

/// Runs on the core of its backend whatever is asked of it, and waits for that.
class CoreWrite final : public StagedWrite {
 public:
  CoreWrite(TestCore& core, std::unique_ptr<StagedWrite> write)
      : core_(core), write_(std::move(write)) {}
  ~CoreWrite() override {
    core_.call([this] { write_.reset(); });
  }

  Awaitable<Result<Reply>> commit() override {
    return Awaitable<Result<Reply>>::ready(core_.run(commit_whole(*write_)));
  }

 private:
  TestCore& core_;
  std::unique_ptr<StagedWrite> write_;
};

class CoreBackend final : public backends::Backend {
 public:
  explicit CoreBackend(backends::http::HttpOptions options) {
    auto opened = backends::http::open_http_backend(std::move(options));
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    backend_ = *std::move(opened);
  }

  [[nodiscard]] backends::Capabilities capabilities() const override {
    return backend_->capabilities();
  }
  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    return backend_->is_read(head);
  }
  [[nodiscard]] std::string_view allowed_methods() const override {
    return backend_->allowed_methods();
  }

  Awaitable<Result<Reply>> read(backends::ResourceRequest request) override {
    request.timers = &core_.timers();
    return Awaitable<Result<Reply>>::ready(core_.run(read_whole(*backend_, request)));
  }

  Awaitable<Result<std::unique_ptr<StagedWrite>>> stage(backends::ResourceRequest request,
                                                        base::BodySource& body,
                                                        base::Stamp stamp) override {
    request.timers = &core_.timers();
    auto staged = core_.run(backend_->stage(request, body, std::move(stamp)));
    if (staged) {
      *staged = std::make_unique<CoreWrite>(core_, std::move(*staged));
    }
    return Awaitable<Result<std::unique_ptr<StagedWrite>>>::ready(std::move(staged));
  }

  Result<std::optional<base::Stamp>> find_stamp(std::string_view name) override {
    return backend_->find_stamp(name);
  }
  [[nodiscard]] std::optional<std::string> out_of_service() const override {
    return backend_->out_of_service();
  }

 private:
  // Before the core: what still runs there keeps the upstream alive itself.
  std::unique_ptr<backends::Backend> backend_;
  TestCore core_;
};

backends::http::HttpOptions options_of(std::uint16_t port, backends::http::CommitMode commit) {
  backends::http::HttpOptions options;
  options.client.host = "127.0.0.1";
  options.client.port = port;
  options.commit = commit;
  options.methods = {"GET", "HEAD", "PUT", "DELETE"};
  return options;
}

class NginxFixture final : public BackendFixture {
 public:
  backends::Backend& backend() override { return backend_; }

  /// What was never moved is deleted behind the answer.
  bool is_free_of_leftovers() override {
    wait_until("no temporary to be left", [this] { return nginx_.leftovers() == 0; });
    return true;
  }

  [[nodiscard]] StoreLimits limits() const override {
    return {.keeps_stamps = false,
            .keeps_content_type = false,
            .tells_tags = false,
            .tells_creations = false,
            .decides_in_one_step = false,
            .only_get_has_ranges = false};
  }

 private:
  RealUpstream nginx_{UpstreamKind::kNginx};
  CoreBackend backend_{options_of(nginx_.port(), backends::http::CommitMode::kMove)};
};

class ConditionalFixture final : public BackendFixture {
 public:
  backends::Backend& backend() override { return backend_; }

  bool is_free_of_leftovers() override {
    for (const std::string& target : upstream_.targets()) {
      if (target.find(".fenceline-") != std::string::npos) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] StoreLimits limits() const override { return {.keeps_stamps = false}; }

 private:
  ConditionalUpstream upstream_;
  CoreBackend backend_{options_of(upstream_.port(), backends::http::CommitMode::kConditional)};
};

std::unique_ptr<BackendFixture> nginx_by_move() { return std::make_unique<NginxFixture>(); }

std::unique_ptr<BackendFixture> conditional() { return std::make_unique<ConditionalFixture>(); }

INSTANTIATE_TEST_SUITE_P(Http, VersionContract,
                         ::testing::Values(BackendCase{"conditional", conditional}),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Http, BackendContract,
                         ::testing::Values(BackendCase{"nginx_by_move", nginx_by_move},
                                           BackendCase{"conditional", conditional}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace fenceline::testing
