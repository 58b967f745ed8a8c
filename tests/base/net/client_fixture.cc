#include "tests/base/net/client_fixture.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/spawn.h"
#include "tests/support/coroutine.h"

namespace fenceline::base::net::testing {
namespace {

constexpr Milliseconds kTick{5};
constexpr std::chrono::seconds kPatience{20};

void note(const ResponseHead& head, Outcome& outcome) {
  outcome.status = head.status;
  outcome.content_length = head.content_length;
  for (const Field& field : head.fields) {
    outcome.fields += fmt::format("{}={};", field.name, field.value);
  }
}

Awaitable<void> send(HttpExchange& exchange, Call what, Outcome* outcome) {
  FieldLines fields;
  fields.add("Host", "upstream.test");
  std::size_t length = 0;
  for (const std::string& piece : what.body) {
    length += piece.size();
  }
  OutgoingHead head{.method = what.method, .target = what.target, .fields = &fields};
  head.chunked = what.chunked;
  if (!what.chunked && !what.body.empty()) {
    head.content_length = length;
  }
  std::string first = what.body.empty() ? "" : what.body.front();
  if (what.hold_back && what.body.size() == 1) {
    first.pop_back();
  }
  const bool all = what.body.size() <= 1 && !what.hold_back;
  auto sent = co_await exchange.send_head(head, first, all);
  outcome->pieces_sent = 1;
  for (std::size_t i = 1; sent && i < what.body.size(); ++i) {
    outcome->answered = exchange.answered();
    if (outcome->answered) {
      break;
    }
    const bool last = i + 1 == what.body.size();
    std::string piece = what.body[i];
    if (last && what.hold_back) {
      piece.pop_back();
    }
    const bool completes = last && !what.hold_back;
    sent = co_await exchange.send_body(piece, completes);
    ++outcome->pieces_sent;
  }
  if (!sent) {
    outcome->error = sent.error();
  }
}

}  // namespace

Awaitable<void> perform(HttpClient& client, TimerWheel& timers, Call what, Outcome* outcome) {
  const bool fresh = what.fresh;
  auto opened = co_await client.open(timers, fresh);
  if (!opened) {
    outcome->error = opened.error();
    co_return;
  }
  std::unique_ptr<HttpExchange> exchange = std::move(*opened);
  outcome->reused = exchange->reused();
  EXPECT_TRUE(exchange->unsent());
  co_await send(*exchange, what, outcome);
  outcome->unsent = exchange->unsent();
  if (outcome->error) {
    co_return;
  }
  auto head = co_await exchange->receive_head();
  outcome->answered = exchange->answered();
  if (!head) {
    outcome->error = head.error();
    co_return;
  }
  note(*head, *outcome);
  if (what.leave_answer) {
    co_return;
  }
  const std::unique_ptr<BodySource> body = HttpExchange::body_of(std::move(exchange));
  while (true) {
    const auto piece = co_await body->read();
    if (!piece) {
      outcome->error = piece.error();
      const auto again = co_await body->read();
      EXPECT_FALSE(again.has_value()) << "a failure stays";
      co_return;
    }
    if (piece->empty()) {
      const auto again = co_await body->read();
      EXPECT_TRUE(again.has_value() && again->empty()) << "the end stays";
      co_return;
    }
    outcome->body += *piece;
  }
}

HostileUpstream::Script always(std::string answer) {
  return [answer = std::move(answer)](UpstreamPeer& peer) {
    while (peer.read_request()) {
      peer.send(answer);
    }
  };
}

ClientTest::ClientTest()
    : wheel_(kTick, clock_.now()), io_(std::make_unique<boost::asio::io_context>(1)) {}

HttpClientOptions ClientTest::options_for(const HostileUpstream& upstream) {
  HttpClientOptions options;
  options.host = "127.0.0.1";
  options.port = upstream.port();
  return options;
}

void ClientTest::use(HttpClientOptions options) {
  auto client = make_http_client(std::move(options));
  ASSERT_TRUE(client) << client.error().detail;
  client_ = std::move(*client);
}

void ClientTest::turn() {
  if (io_->stopped()) {
    io_->restart();
  }
  io_->run_one_for(kTick);
  wheel_.advance(clock_.now());
}

bool ClientTest::run_until(const std::function<bool()>& condition) {
  const auto end = clock_.now() + kPatience;
  while (!condition()) {
    if (clock_.now() > end) {
      return false;
    }
    turn();
  }
  return true;
}

void ClientTest::run(Awaitable<void> work) {
  bool ended = false;
  spawn(*io_, std::move(work), [&ended](const std::exception_ptr& thrown) {
    fenceline::testing::nothing_thrown(thrown);
    ended = true;
  });
  ASSERT_TRUE(run_until([&ended] { return ended; })) << "it does not end";
}

Outcome ClientTest::call(Call what) {
  Outcome outcome;
  run(perform(*client_, wheel_, std::move(what), &outcome));
  return outcome;
}

}  // namespace fenceline::base::net::testing
