// SIGSTOP of the proxy and of clients in the middle of uploads, under load.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/support/child_process.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"
#include "tests/system/recorded_request.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 6;
constexpr std::size_t kUploads = 4;  // At a time.
constexpr Load kLoad = {};

/// A curl that is stopped in the middle of the body of a write.
class StoppedUpload {
 public:
  StoppedUpload(FilesServer& server, Operation operation, std::string output, std::size_t half)
      : operation_(std::move(operation)),
        content_(content_of(operation_.token, operation_.value, kLoad.most_bytes)),
        curl_({"curl", "-sS", "-T", "-", "-H", fmt::format("Fencing-Token: {}", operation_.token),
               "-w", "\n%{http_code}",
               fmt::format("http://127.0.0.1:{}/{}", server.process().port(), operation_.resource)},
              std::move(output), ChildProcess::Input::kFed) {
    half = std::min(half, content_.size());
    curl_.feed(std::string_view(content_).substr(0, half));
    content_.erase(0, half);
    curl_.pause();
  }

  void resume() { curl_.resume(); }

  /// Sends the rest; throws if its answer is not in the contract.
  Operation finish(RecordedClients& clients) {
    try {
      curl_.feed(content_);
    } catch (const std::exception&) {
      // It was refused and has ended; its answer is looked at below.
    }
    curl_.end_input();
    const int code = curl_.wait();
    const std::string said = curl_.output();
    const std::size_t line = said.rfind('\n');
    Response answer;
    answer.status = line == std::string::npos ? 0 : std::atoi(said.c_str() + line + 1);
    answer.body = said.substr(0, line);
    if (code != 0 || !understand(answer, operation_, kLoad.most_bytes)) {
      throw std::runtime_error(fmt::format("curl ended with {}: {}", code, said));
    }
    operation_.end = clients.now();
    return operation_;
  }

 private:
  Operation operation_;
  std::string content_;
  ChildProcess curl_;
};

TEST(PauseCampaignTest, NoPauseBreaksThePromise) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("pause", seed));
  std::mt19937_64 random(seed);
  const std::size_t rounds = campaign_count(15, 500);
  FilesServer server;
  RecordedClients clients(server.process().port(), kClients, seed, kLoad);
  Broken broken;
  std::size_t zombies = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<StoppedUpload>> uploads;
    for (std::size_t i = 0; i < kUploads; ++i) {
      uploads.push_back(std::make_unique<StoppedUpload>(
          server, clients.outside_write(random() % kLoad.tenants),
          server.at(fmt::format("curl-{}", i)), random() % kLoad.most_bytes));
    }
    for (int stops = 0; stops < 2; ++stops) {
      ASSERT_TRUE(wait_for_answers(clients, 1 + random() % 50)) << server.process().log();
      server.process().signal(SIGSTOP);
      wait_until_stopped(server.process().pid());
      server.process().signal(SIGCONT);
    }
    // All, before one is waited for: a child that was stopped before its exec still holds the pipes
    // of the others.
    for (const auto& upload : uploads) {
      upload->resume();
    }
    for (const auto& upload : uploads) {
      Operation operation = upload->finish(clients);
      zombies += operation.outcome == Outcome::kFenced ? 1 : 0;
      clients.add(std::move(operation));
    }
    clients.hold();
    clients.wait_until_held();
    expect_marks_kept(server, clients, broken);
    const std::vector<std::string> violations = clients.judge(server.process().port());
    broken.add(violations);
    ASSERT_TRUE(expect_allowed(clients, violations)) << "in round " << round;
    clients.go_on();
  }
  clients.stop();
  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_GE(zombies, 1U);
  wait_until("the overtaken uploads to leave no trace", [&] {
    return server.temporary_files() == 0 && server.metric("fenceline_staged_bytes") == 0;
  });
  print_summary("pause",
                fmt::format("{} stops of the proxy, {} of clients in an upload, {} of those were "
                            "overtaken and refused, {} acknowledged writes",
                            2 * rounds, kUploads * rounds, zombies, clients.writes(Outcome::kDone)),
                broken, seed);
}

}  // namespace
}  // namespace fenceline::testing
