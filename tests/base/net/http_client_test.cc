// What goes out and what comes back, against an upstream of our own.

#include "base/net/http_client.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/base/net/client_fixture.h"

namespace fenceline::base::net::testing {
namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(ClientTest, SendsAHeadWithoutABody) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  const Outcome outcome = call({.method = "DELETE", .target = "/a%20b?c=d"});
  EXPECT_EQ(outcome.status, 200);
  EXPECT_EQ(outcome.body, "ok");
  EXPECT_EQ(outcome.content_length, 2U);
  EXPECT_EQ(outcome.fields, "Content-Length=2;");
  EXPECT_FALSE(outcome.unsent);
  EXPECT_EQ(upstream.received(0), "DELETE /a%20b?c=d HTTP/1.1\r\nHost: upstream.test\r\n\r\n");
}

TEST_F(ClientTest, SendsABodyOfKnownLengthInPieces) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  EXPECT_EQ(call({.method = "PUT", .body = {"one", "two", "three"}}).status, 200);
  EXPECT_EQ(upstream.received(0),
            "PUT / HTTP/1.1\r\nHost: upstream.test\r\nContent-Length: 11\r\n\r\nonetwothree");
}

TEST_F(ClientTest, SendsChunks) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  EXPECT_EQ(call({.method = "PUT", .body = {"one", std::string(20, 'x')}, .chunked = true}).status,
            200);
  EXPECT_EQ(upstream.received(0),
            "PUT / HTTP/1.1\r\nHost: upstream.test\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\none\r\n14\r\nxxxxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n");
  EXPECT_EQ(call({.method = "PUT", .body = {"whole"}, .chunked = true}).status, 200);
  EXPECT_TRUE(upstream.received(0).ends_with("chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n"));
  EXPECT_EQ(call({.method = "PUT", .body = {"", ""}, .chunked = true}).status, 200);
  EXPECT_TRUE(upstream.received(0).ends_with("chunked\r\n\r\n0\r\n\r\n"));
}

TEST_F(ClientTest, ReadsAnswersOfEveryFraming) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
      {"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", "abc"},
      {"HTTP/1.1 201 \r\ncontent-length:\t3 \r\n\r\nabc", "abc"},
      {"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n0\r\n"
       "Trailer: dropped\r\n\r\n",
       "abc"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
       "abc"},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", ""},
      {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\nETag: \"a\"\r\n\r\n", ""},
  };
  for (const auto& [answer, body] : cases) {
    const std::string& bytes = answer;
    HostileUpstream upstream([&bytes](UpstreamPeer& peer) {
      while (peer.read_request()) {
        peer.send_bytewise(bytes);
      }
    });
    use(upstream);
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = get();
      EXPECT_FALSE(outcome.error) << answer << outcome.error->detail;
      EXPECT_EQ(outcome.body, body) << answer;
    }
    EXPECT_EQ(upstream.accepted(), 1U) << "reused: " << answer;
  }
}

TEST_F(ClientTest, AnAnswerToHeadHasNoBodyWhateverItSays) {
  HostileUpstream upstream(always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
  use(upstream);
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = call({.method = "HEAD"});
    EXPECT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.content_length, 1000U);
    EXPECT_EQ(outcome.body, "");
  }
  EXPECT_EQ(upstream.accepted(), 1U);
}

TEST_F(ClientTest, ABodyWithoutLengthEndsWithTheConnection) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.send("HTTP/1.1 200 OK\r\n\r\nuntil ");
      peer.send("the end");
    }
  });
  use(upstream);
  EXPECT_EQ(get().body, "until the end");
  const Outcome second = get();
  EXPECT_EQ(second.body, "until the end");
  EXPECT_FALSE(second.reused);
}

TEST_F(ClientTest, StreamsLargeBodiesBothWays) {
  std::string large(5'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) {
    large[i] = static_cast<char>(i * 13 + i / 1000);
  }
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n";
  HostileUpstream upstream(always(head + large));
  use(upstream);
  const Outcome outcome = call({.method = "PUT", .body = {large.substr(0, 7), large.substr(7)}});
  EXPECT_TRUE(outcome.body == large);
  EXPECT_TRUE(upstream.received(0).ends_with(large));
  EXPECT_TRUE(get().reused);
}

TEST_F(ClientTest, RefusesWhatCanBeUnderstoodInTwoWays) {
  const std::string big(70'000, 'x');
  const std::vector<std::string> answers = {
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nX: a\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nX: a" + std::string(1, '\0') + "b\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\n: no name\r\nContent-Length: 2\r\n\r\nok",
      "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "SSH-2.0-OpenSSH_9.2\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + big + "\r\nContent-Length: 2\r\n\r\nok",
      big,
  };
  for (const std::string& answer : answers) {
    HostileUpstream upstream(always(answer));
    use(upstream);
    const Outcome outcome = get();
    EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed) << answer;
    EXPECT_EQ(outcome.applied(), Applied::kUnknown) << "the request was complete: " << answer;
    EXPECT_EQ(client_->connections(), 0U) << answer;
  }
}

TEST_F(ClientTest, TakesAHeadUpToTheLimit) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: ";
  auto options = HttpClientOptions{};
  const std::size_t limit = options.max_head_bytes;
  const std::string answer = head + std::string(limit - head.size() - 4, 'x') + "\r\n\r\n";
  ASSERT_EQ(answer.size(), limit);
  HostileUpstream upstream(always(answer + "ok"));
  use(upstream);
  EXPECT_EQ(get().body, "ok");
  EXPECT_TRUE(get().reused);
}

TEST_F(ClientTest, ABodyThatEndsTooEarlyIsAFailure) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfour",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour!"}) {
    HostileUpstream upstream([answer](UpstreamPeer& peer) {
      if (peer.read_request()) {
        peer.send(answer);
      }
    });
    use(upstream);
    const Outcome outcome = get();
    EXPECT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.body, "four");
    EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed) << answer;
    EXPECT_EQ(outcome.applied(), Applied::kUnknown);
  }
}

Awaitable<void> read_at_most(HttpClient& client, TimerWheel& timers, std::size_t most,
                             Result<std::string>* into) {
  auto exchange = co_await client.open(timers);
  const OutgoingHead head{.method = "GET", .target = "/"};
  co_await (*exchange)->send_head(head, "", true);
  auto answer = co_await (*exchange)->receive_head();
  EXPECT_TRUE(answer.has_value());
  *into = co_await (*exchange)->read_all(most);
}

TEST_F(ClientTest, ReadsAllOfABodyUpToALimit) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  Result<std::string> body;
  run(read_at_most(*client_, wheel_, 2, &body));
  EXPECT_EQ(body, "ok");
  EXPECT_EQ(client_->connections(), 1U);
  run(read_at_most(*client_, wheel_, 1, &body));
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().kind, ErrorKind::kUpstreamFailed);
}

struct Misuse {
  OutgoingHead head;
  std::string body;
  bool is_all = true;
};

Awaitable<void> misuse(HttpClient& client, TimerWheel& timers, Misuse what) {
  auto exchange = co_await client.open(timers, true);
  const bool all = what.is_all;
  auto sent = co_await (*exchange)->send_head(what.head, what.body, all);
  EXPECT_FALSE(sent.has_value()) << what.head.target;
  EXPECT_EQ(sent.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(sent.error().applied, Applied::kNo);
  EXPECT_TRUE((*exchange)->unsent());
}

TEST_F(ClientTest, RefusesAHeadThatCannotGoOutAndABodyThatDoesNotFit) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  FieldLines bad;
  bad.add("X", "a\r\nb");
  const std::vector<Misuse> cases = {
      {.head = {.method = "GE T", .target = "/"}, .body = ""},
      {.head = {.method = "CONNECT", .target = "/"}, .body = ""},
      {.head = {.method = "GET", .target = "http://x/"}, .body = ""},
      {.head = {.method = "GET", .target = "/a b"}, .body = ""},
      {.head = {.method = "GET", .target = "/a\r\nb"}, .body = ""},
      {.head = {.method = "GET", .target = "/", .fields = &bad}, .body = ""},
      {.head = {.method = "PUT", .target = "/", .content_length = 3}, .body = "four"},
      {.head = {.method = "PUT", .target = "/", .content_length = 5}, .body = "four"},
      {.head = {.method = "PUT", .target = "/", .content_length = 4},
       .body = "four",
       .is_all = false},
      {.head = {.method = "PUT", .target = "/"}, .body = "", .is_all = false},
      {.head = {.method = "PUT", .target = "/"}, .body = "four"},
      {.head = {.method = "PUT", .target = "/", .content_length = 4, .chunked = true},
       .body = "four"},
  };
  for (const Misuse& what : cases) {
    run(misuse(*client_, wheel_, what));
  }
  ASSERT_TRUE(upstream.wait_for_ended(cases.size()));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(upstream.received(i), "");
  }
}

}  // namespace
}  // namespace fenceline::base::net::testing
