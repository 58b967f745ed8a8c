// A MOVE whose answer never comes: what is said about it must be true.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>

#include "tests/backends/http/http_driver.h"
#include "tests/support/hostile_upstream.h"
#include "tests/support/raw_client.h"
#include "tests/support/real_upstreams.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using base::Applied;

enum class Lost : std::uint8_t { kNothing, kRequest, kAnswer };

/// An answer as bytes again.
std::string text_of(const Response& answer, bool to_head) {
  std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " X\r\n";
  for (const auto& [name, value] : answer.fields) {
    const bool frames = name == "Content-Length" || name == "Transfer-Encoding";
    if (name != "Connection" && (!frames || to_head)) {
      text.append(name).append(": ").append(value).append("\r\n");
    }
  }
  if (!to_head && answer.status != 204) {
    text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
  }
  return text + "\r\n" + answer.body;
}

/// nginx behind a wire that loses MOVEs, or the answers to them, when it is told to.
class HttpMoveAnswers : public ::testing::Test {
 protected:
  void pass_on(UpstreamPeer& peer) {
    RawClient server(nginx.port());
    std::size_t taken = 0;
    while (peer.read_request()) {
      const std::string request = peer.received().substr(taken);
      taken = peer.received().size();
      const Lost what = request.starts_with("MOVE ") ? lost.load() : Lost::kNothing;
      if (what == Lost::kRequest) {
        return;
      }
      const bool to_head = request.starts_with("HEAD ");
      const Response answer = server.exchange(request, to_head);
      if (what == Lost::kAnswer) {
        return;
      }
      peer.send(text_of(answer, to_head));
    }
  }

  static backends::http::HttpOptions only_puts(std::uint16_t port) {
    auto options = options_for(port, CommitMode::kMove);
    options.methods = {"GET", "HEAD", "PUT"};
    return options;
  }

  std::atomic<Lost> lost = Lost::kNothing;
  RealUpstream nginx{UpstreamKind::kNginx};
  HostileUpstream wire{[this](UpstreamPeer& peer) { pass_on(peer); }};
  HttpDriver driver{only_puts(wire.port())};
};

TEST_F(HttpMoveAnswers, AMoveThatWasDoneIsNeverCalledWithdrawn) {
  ASSERT_EQ(driver.backend().capabilities().guarantee, backends::Guarantee::kStrict)
      << driver.backend().capabilities().assumption;
  EXPECT_EQ(driver.put("a", "old").status / 100, 2);
  lost = Lost::kAnswer;
  const Answer unknown = driver.put("a", "new");
  EXPECT_EQ(nginx.content("a"), "new");
  EXPECT_EQ(unknown.error_name(), "upstream-failed");
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
}

TEST_F(HttpMoveAnswers, AMoveThatNeverArrivedIsWithdrawn) {
  EXPECT_EQ(driver.put("a", "old").status / 100, 2);
  lost = Lost::kRequest;
  const Answer withdrawn = driver.put("a", "new");
  EXPECT_EQ(withdrawn.error_name(), "upstream-failed");
  EXPECT_EQ(withdrawn.error->applied, Applied::kNo) << withdrawn.error->detail;
  EXPECT_EQ(nginx.content("a"), "old");
  EXPECT_EQ(nginx.leftovers(), 0U);
}

}  // namespace
}  // namespace fenceline::testing
