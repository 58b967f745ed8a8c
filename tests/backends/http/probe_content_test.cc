// A server that answers every race rightly, and stores something else.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "backends/http/probe.h"
#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using backends::http::run_probe;

/// Refuses the second writer of a race with 412, and lets its bytes replace those of the first.
class TornRace {
 public:
  explicit TornRace(ConditionalUpstream& upstream) : upstream_(upstream) {}

  std::optional<Reaction> operator()(const UpstreamRequest& request) {
    if (request.method != "PUT" || !request.body.starts_with("w ")) {
      return std::nullopt;
    }
    const std::string race = request.body.substr(0, request.body.find(' ', 2) + 1);
    if (arrived(race) != 2) {
      return std::nullopt;
    }
    wait_until("the first writer of the race",
               [&] { return upstream_.content(request.target).value_or("").starts_with(race); });
    upstream_.put(request.target, request.body);
    return Reaction{.applies = false,
                    .answer = "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n"};
  }

 private:
  int arrived(const std::string& race) {
    const std::scoped_lock lock(mutex_);
    return ++arrived_[race];
  }

  ConditionalUpstream& upstream_;
  std::mutex mutex_;
  std::map<std::string, int> arrived_;
};

TEST(HttpProbeContent, TheContentAfterARaceIsLookedAt) {
  ConditionalUpstream upstream;
  TornRace torn(upstream);
  upstream.on_request([&torn](const UpstreamRequest& request) { return torn(request); });
  const std::atomic<bool> go_on = false;
  const auto verdict = run_probe(options_for(upstream.port(), CommitMode::kConditional), go_on);
  ASSERT_TRUE(verdict) << verdict.error().detail;
  EXPECT_NE(verdict->no_conditional_put.value_or("able").find("not that of the one"),
            std::string::npos)
      << verdict->no_conditional_put.value_or("able");
}

}  // namespace
}  // namespace fenceline::testing
