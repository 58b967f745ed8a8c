// Pauses: uploads that are stopped in the middle while newer tokens write, and a stopped proxy.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/history.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;

constexpr int kUploads = 50;
constexpr std::size_t kHalfBytes = 128 * 1024;

std::string path_of(int upload) { return fmt::format("/exports/tenant-{}/file", upload % 10); }

TEST(PauseTest, FiftyStoppedUploadsAreAllOvertaken) {
  FilesServer server;
  const std::string half(kHalfBytes, 'A');
  std::vector<std::unique_ptr<ChildProcess>> curls;
  for (int i = 0; i < kUploads; ++i) {
    const std::string url =
        fmt::format("http://127.0.0.1:{}{}", server.process().port(), path_of(i));
    curls.push_back(std::make_unique<ChildProcess>(
        std::vector<std::string>{"curl", "-sS", "-T", "-", "-H", "Fencing-Token: 33", "-w",
                                 "\n%{http_code}", url},
        server.at(fmt::format("curl-{}", i)), ChildProcess::Input::kFed));
    curls.back()->feed(half);
  }
  server.wait_for_staged(kUploads * kHalfBytes);
  for (const auto& curl : curls) {
    curl->pause();
  }
  EXPECT_EQ(server.temporary_files(), static_cast<std::size_t>(kUploads));
  EXPECT_EQ(server.metric("fenceline_staged_bytes"), static_cast<double>(kUploads * kHalfBytes));

  for (int i = 0; i < kUploads; ++i) {
    const int token = 34 + i / 10;
    const Response newer = server.put(path_of(i), token, fmt::format("token {}", token));
    EXPECT_EQ(newer.status, i < 10 ? 201 : 204) << newer.body;
  }
  for (const auto& curl : curls) {
    curl->resume();
  }
  for (const auto& curl : curls) {
    curl->feed(half);
    curl->end_input();
    EXPECT_EQ(curl->wait(), 0) << curl->output();
    EXPECT_THAT(curl->output(), ::testing::EndsWith("\n412"));
    EXPECT_THAT(curl->output(), ::testing::HasSubstr("\"urn:fenceline:problem:stale-token\""));
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(server.content(path_of(i)), "token 38");
  }
  wait_until("the overtaken uploads to leave no trace", [&] {
    return server.temporary_files() == 0 && server.metric("fenceline_staged_bytes") == 0;
  });
}

/// The proxy is stopped again and again under load, so that stops meet requests at every step.
TEST(PauseTest, AStoppedProxyGoesOnWhereItWas) {
  constexpr int kStops = 40;
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  FilesServer server;
  RecordedClients clients(server.process().port(), 8, seed);

  std::vector<std::int64_t> stopped_at;
  for (int i = 0; i < kStops; ++i) {
    const std::size_t target = clients.answered() + 1 + random() % 50;
    wait_until("the clients to get answers",
               [&] { return clients.answered() >= target || !clients.problems().empty(); });
    ASSERT_THAT(clients.problems(), IsEmpty());
    server.process().signal(SIGSTOP);
    wait_until_stopped(server.process().pid());
    stopped_at.push_back(clients.now());
    server.process().signal(SIGCONT);
  }
  clients.stop();
  clients.read_everything(server.process().port());

  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_THAT(violations_of(clients.history()), IsEmpty());
  const std::size_t writes_that_were_met = clients.count([&](const Operation& each) {
    return each.kind == Operation::Kind::kWrite && each.outcome == Operation::Outcome::kDone &&
           std::ranges::any_of(
               stopped_at, [&](std::int64_t stop) { return each.start < stop && stop < each.end; });
  });
  EXPECT_GE(writes_that_were_met, 1U);
  RecordProperty("writes_that_were_met", std::to_string(writes_that_were_met));
}

/// A holder that takes over while the proxy is stopped is not overtaken by what it finds
/// afterwards.
TEST(PauseTest, ARequestThatWaitedOutsideAStoppedProxyIsJudgedWhenItArrives) {
  FilesServer server;
  HalfUpload a(server, "/exports/acme/report.csv", 33, std::string(3 << 20, 'A'));
  server.process().signal(SIGSTOP);
  wait_until_stopped(server.process().pid());
  // The kernel takes the connection and the bytes; the proxy sees all of it at once.
  RawClient b(server.process().port());
  b.send(fenced_put("/exports/acme/report.csv", 34, "of B"));
  RawClient reader(server.process().port());
  reader.send(fenced_request("GET", "/exports/acme/report.csv", 35));
  server.process().signal(SIGCONT);

  const Response read = reader.receive();
  const Response of_b = b.receive();
  expect_fenced(a.finish(), 33, 35);
  if (of_b.status == 201) {
    EXPECT_EQ(read.body, "of B") << "the read of token 35 did not wait for token 34";
    EXPECT_EQ(server.content("/exports/acme/report.csv"), "of B");
  } else {
    expect_fenced(of_b, 34, 35);
    EXPECT_EQ(read.status, 404);
    EXPECT_EQ(server.content("/exports/acme/report.csv"), std::nullopt);
  }
}

}  // namespace
}  // namespace fenceline::testing
