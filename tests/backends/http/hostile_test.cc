#include <gtest/gtest.h>

#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/hostile_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using base::Applied;

const std::string kLarge(2'000'000, 'x');

/// Plain mode in front of an upstream that does what its script says.
class Hostile {
 public:
  explicit Hostile(HostileUpstream::Script script) : upstream(std::move(script)) {}

  HostileUpstream upstream;
  HttpDriver driver{options_for(upstream.port(), CommitMode::kPlain)};
};

TEST(HttpHostile, AnAnswerThatIsCutAtAnyByteOfItsHeadIsInDoubt) {
  const std::string answer = "HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n";
  for (std::size_t bytes = 0; bytes < answer.size(); ++bytes) {
    Hostile hostile([&](UpstreamPeer& peer) {
      if (peer.read_request()) {
        peer.send(answer.substr(0, bytes));
      }
    });
    const Answer unknown = hostile.driver.put("a", "one");
    ASSERT_TRUE(unknown.error) << bytes;
    EXPECT_EQ(unknown.error_name(), "upstream-failed");
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown) << bytes;
  }
}

TEST(HttpHostile, GarbageIsInDoubt) {
  for (const std::string garbage :
       {"\r\n\r\n\r\n", "HTTP/2 200\r\n\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 20 x\r\n\r\n",
        "HTTP/1.1 200 x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"}) {
    Hostile hostile([&](UpstreamPeer& peer) {
      if (peer.read_request()) {
        peer.send(garbage);
      }
    });
    const Answer unknown = hostile.driver.put("a", "one");
    ASSERT_TRUE(unknown.error) << garbage;
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown) << garbage;
  }
}

TEST(HttpHostile, ARefusalWhileTheBodyIsStillComingIsDefinite) {
  Hostile hostile([](UpstreamPeer& peer) {
    peer.read_bytes(1);
    peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
    peer.wait_until_told();
  });
  HttpStaged staged = hostile.driver.stage("PUT", "a", kLarge);
  ASSERT_TRUE(staged.staged());
  const Answer refused = staged.commit();
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.content, "big");
}

TEST(HttpHostile, ASuccessBeforeTheLastByteIsInDoubt) {
  Hostile hostile([](UpstreamPeer& peer) {
    peer.read_bytes(kLarge.size());  // The head and all but some of the body.
    peer.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    peer.apply("too early");
    peer.read_to_end();
  });
  HttpStaged staged = hostile.driver.stage("PUT", "a", kLarge);
  wait_until("the early answer", [&] { return !hostile.upstream.applied().empty(); });
  if (staged.staged()) {
    // The answer came after the last piece that may go out.
    const Answer unknown = staged.commit();
    ASSERT_TRUE(unknown.error) << unknown.status;
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
  } else {
    EXPECT_EQ(staged.error().applied, Applied::kUnknown);
  }
}

TEST(HttpHostile, AnUpstreamThatClosesWhileTheBodyIsStillComing) {
  Hostile hostile([](UpstreamPeer& peer) {
    peer.read_bytes(1);
    peer.reset();
  });
  HttpStaged staged = hostile.driver.stage("PUT", "a", kLarge);
  EXPECT_TRUE(hostile.upstream.wait_for_ended(1));
  const Answer failed = staged.commit();
  EXPECT_EQ(failed.error_name(), "upstream-failed");
  EXPECT_EQ(failed.error->applied, Applied::kNo) << "the last byte was never sent";
}

TEST(HttpHostile, InterimAnswersAreSkipped) {
  Hostile hostile([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.send_bytewise(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
          "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  const Answer answer = hostile.driver.put("a", "one");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.content, "ok");
  EXPECT_EQ(answer.field("Link"), "");
}

TEST(HttpHostile, ATruncatedBodyIsAnErrorAndNoShortAnswer) {
  for (const std::string head : {"Content-Length: 10", "Transfer-Encoding: chunked"}) {
    Hostile hostile([&](UpstreamPeer& peer) {
      if (peer.read_request()) {
        peer.send("HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n5\r\nabc");
      }
    });
    const Answer answer = hostile.driver.get("a");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.error_name(), "upstream-failed") << head;
  }
}

TEST(HttpHostile, BytesBehindAnAnswerNeverReachTheNextRequest) {
  Hostile hostile([](UpstreamPeer& peer) {
    while (peer.read_request()) {
      peer.send(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
          "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    }
  });
  EXPECT_EQ(hostile.driver.get("a").content, "ok");
  EXPECT_EQ(hostile.driver.get("b").content, "ok");
  EXPECT_EQ(hostile.upstream.accepted(), 2U) << "the first connection was thrown away";
}

TEST(HttpHostile, AWriteThatIsDroppedReachesTheUpstreamWithoutItsEnd) {
  Hostile hostile([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.apply("whole");
    }
  });
  { const HttpStaged staged = hostile.driver.stage("PUT", "a", kLarge); }
  EXPECT_TRUE(hostile.upstream.wait_for_ended(1));
  EXPECT_TRUE(hostile.upstream.applied().empty());
}

TEST(HttpHostile, AnUpstreamThatNeverAnswers) {
  HostileUpstream upstream([](UpstreamPeer& peer) { peer.wait_until_told(); });
  auto options = options_for(upstream.port(), CommitMode::kPlain);
  options.client.first_byte = base::Milliseconds(50);
  HttpDriver driver(options);
  const Answer unknown = driver.put("a", "one");
  EXPECT_EQ(unknown.error_name(), "upstream-timeout");
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
  const Answer read = driver.get("a");
  EXPECT_EQ(read.error_name(), "upstream-timeout");
  EXPECT_EQ(read.error->applied, Applied::kNo);
}

}  // namespace
}  // namespace fenceline::testing
