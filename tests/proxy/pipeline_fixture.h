#pragma once

// A pipeline over a gate of its own, without sockets: requests are pieces of a test, the ledger
// answers when the test says so.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/spawn.h"
#include "fencing/intents.h"
#include "proxy/pipeline.h"
#include "tests/support/coroutine.h"
#include "tests/support/fake_backend.h"
#include "tests/support/manual_ledger.h"
#include "tests/support/memory_answers.h"

namespace fenceline::proxy {

using base::Token;
using Events = std::vector<std::string>;

/// One request under way.
struct Call {
  std::vector<std::string> storage;  ///< What the head's views point to.
  base::RequestHead head;
  testing::FedBody body;
  std::optional<base::Reply> reply;
};

inline base::Awaitable<void> run(Pipeline& pipeline, base::TimerWheel& timers, Call& call) {
  const Request request{call.head, call.body, "127.0.0.1:9", "r-1", timers};
  auto reply = co_await pipeline.handle(request);
  call.reply = std::move(reply);
}

inline std::string field(const base::Reply& reply, std::string_view name) {
  return std::string(reply.fields.find(name).value_or(""));
}

inline std::string text(const base::Reply& reply) {
  const auto* body = std::get_if<std::string>(&reply.body);
  return body == nullptr ? "" : *body;
}

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() { add_route("exports", "/exports/{tenant}/{path...}", "exports/{tenant}"); }

  Route& add_route(const std::string& name, const std::string& match, const std::string& fence) {
    auto pattern = *config::Pattern::parse(match);
    auto key = *config::FenceTemplate::parse(fence, pattern);
    pending_.push_back(Route{.name = name,
                             .pattern = pattern,
                             .fence = key,
                             .allow = "GET, HEAD, PUT, DELETE",
                             .methods = {"GET", "HEAD", "PUT", "DELETE"},
                             .writes = config::Writes::kRequired,
                             .enforce = true,
                             .max_jump = 0,
                             .max_body_bytes = 100,
                             .drain = base::Milliseconds(1000),
                             .body_idle = base::Milliseconds(1000),
                             .backend = backend_,
                             .promised = {},
                             .metrics = RouteMetrics(registry_, name)});
    return pending_.back();
  }

  Pipeline& pipeline() {
    if (!pipeline_) {
      routes_.emplace(std::move(pending_));
      pipeline_.emplace(PipelineParts{*routes_,
                                      gate_,
                                      intents_,
                                      audit_,
                                      staged_,
                                      clock_,
                                      {"Fencing-Token", "X-Fencing-Token"},
                                      repeats_});
    }
    return *pipeline_;
  }

  /// Starts a request; `fields` are "Name: value".
  std::shared_ptr<Call> start(std::string_view method, std::string_view path,
                              const std::vector<std::pair<std::string, std::string>>& fields,
                              std::string_view query = {}) {
    auto call = std::make_shared<Call>();
    call->head.method = base::method_from(method);
    call->head.method_text = method;
    call->head.target = path;
    call->head.path = path;
    call->head.query = query;
    call->head.chunked = says_length_ && call->head.method == base::Method::kPut;
    call->storage.reserve(2 * fields.size());
    for (const auto& [name, value] : fields) {
      call->storage.push_back(name);
      call->storage.push_back(value);
      call->head.fields.push_back({call->storage[call->storage.size() - 2], call->storage.back()});
    }
    base::spawn(io_, run(pipeline(), timers_, *call), testing::nothing_thrown);
    calls_.push_back(call);
    poll();
    return call;
  }

  /// A request from its first to its last byte, with every ledger call answered.
  base::Reply finish(std::string_view method, std::string_view path,
                     const std::vector<std::pair<std::string, std::string>>& fields) {
    auto call = start(method, path, fields);
    call->body.end();
    settle();
    EXPECT_TRUE(call->reply.has_value()) << "no answer";
    return call->reply ? std::move(*call->reply) : base::Reply{};
  }

  void poll() {
    io_.restart();
    io_.poll();
  }

  void settle() {
    poll();
    while (ledger_.waiting() > 0) {
      ledger_.answer();
      poll();
    }
  }

  static constexpr const char* kFile = "/exports/acme/a.csv";
  std::shared_ptr<testing::FakeBackend> backend_ = std::make_shared<testing::FakeBackend>();
  boost::asio::io_context io_{1};
  base::MetricRegistry registry_;
  base::SteadyClock clock_;
  base::TimerWheel timers_{base::Milliseconds(10), base::MonotonicTime{}};
  testing::ManualLedger ledger_;
  fencing::Gate gate_{ledger_, {}};
  fencing::Intents intents_{ledger_, clock_};
  Rejections rejections_{100};
  fencing::SourceWatch source_watch_{{}};
  Audit audit_{rejections_, source_watch_, clock_};
  StagedBytes staged_{1000, registry_.gauge("staged_bytes", "test", {})};
  testing::MemoryAnswers answers_;
  Repeats repeats_{answers_};
  bool says_length_ = true;  ///< Of a PUT.
  std::vector<Route> pending_;
  std::optional<RouteTable> routes_;
  std::optional<Pipeline> pipeline_;
  std::vector<std::shared_ptr<Call>> calls_;
};

}  // namespace fenceline::proxy
