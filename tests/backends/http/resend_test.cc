// Which requests are sent a second time: reads, and what has provably not left.

#include <gtest/gtest.h>

#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using base::Applied;

TEST(HttpResend, AWriteIsNotSentAgainOnAConnectionThatWasUsed) {
  for (const std::size_t size : {std::size_t{3}, std::size_t{1'000'000}}) {
    ConditionalUpstream upstream;
    HttpDriver driver(options_for(upstream.port(), CommitMode::kPlain));
    EXPECT_EQ(driver.put("a", "one").status, 201);
    upstream.forget();
    upstream.on_request([](const UpstreamRequest&) { return Reaction{.closes = true}; });
    const Answer unknown = driver.put("a", std::string(size, 'x'));
    EXPECT_EQ(unknown.error_name(), "upstream-failed");
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
    EXPECT_EQ(upstream.requests("PUT").size(), 1U) << size;
  }
}

}  // namespace
}  // namespace fenceline::testing
