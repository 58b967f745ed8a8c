// A conditional write that lands after it was revoked.

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::Revocation;
using backends::http::CommitMode;
using base::Applied;

TEST(HttpSeal, AWriteThatLandsAfterItWasRevokedChangesNothing) {
  ConditionalUpstream upstream;
  auto options = options_for(upstream.port(), CommitMode::kConditional);
  options.methods = {"GET", "HEAD", "PUT", "DELETE"};
  options.client.first_byte = base::Milliseconds(1'000);
  HttpDriver driver(options);
  EXPECT_EQ(driver.put("a", "one").status, 201);
  HttpStaged old = driver.stage("PUT", "a", "zombie", {}, 33);
  ASSERT_TRUE(old.staged());
  std::promise<void> late;
  auto told = late.get_future().share();
  upstream.on_request([told](const UpstreamRequest& request) -> std::optional<Reaction> {
    if (request.body == "zombie") {
      told.wait();
    }
    return std::nullopt;
  });
  EXPECT_EQ(old.commit().error->applied, Applied::kUnknown);
  EXPECT_EQ(driver.revoke(old.intent()->data).value(), Revocation::kRevoked);

  const std::size_t before = upstream.decided();
  late.set_value();
  wait_until("the late write to be decided", [&] { return upstream.decided() > before; });
  EXPECT_EQ(upstream.content("/a"), "one");
}

}  // namespace
}  // namespace fenceline::testing
