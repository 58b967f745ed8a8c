// Thousands of clients that are slow or half gone, while others must be served.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/support/raw_client.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kGoodClients = 4;
constexpr std::size_t kLargeBytes = 8 << 20;  // More than the buffers of a connection take.

// Short, so that their end can be waited for; long enough for all clients to be there at once, and
// for a good one on a machine with too much to do.
std::string config_with(std::size_t timeout_s) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
limits: {{connections: 20000}}
timeouts: {{head: {0}s, body: {0}s, keep_alive: {0}s, write: {0}s}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: exports, sync: full}}
)",
                     timeout_s);
}

/// What a bad client does after it has sent its first bytes.
enum class Habit : std::uint8_t {
  kSilent,      ///< Nothing at all, not even a first byte.
  kHalfHead,    ///< Stops in the middle of the head.
  kHalfBody,    ///< Stops in the middle of the body.
  kHalfClosed,  ///< Closes its side in the middle of the body, and stays.
  kNeverReads,  ///< Asks for much and takes nothing.
  kSlowHead,    ///< Sends a byte of the head now and then.
  kSlowBody,    ///< Sends a byte of the body now and then.
};
constexpr std::size_t kHabits = 7;

class BadClient {
 public:
  BadClient(std::uint16_t port, std::size_t number)
      : habit_(static_cast<Habit>(number % kHabits)), client_(port, receive_buffer_bytes()) {
    const std::string body = fenced_request("PUT", fmt::format("/exports/slow/{}", number), 33,
                                            "Content-Length: 100000\r\n") +
                             "the first bytes";
    switch (habit_) {
      case Habit::kSilent:
        break;
      case Habit::kHalfHead:
      case Habit::kSlowHead:
        client_.send("PUT /exports/slow/head HTTP/1.1\r\nHost: slow\r\nX-Padding: ");
        break;
      case Habit::kHalfBody:
      case Habit::kSlowBody:
      case Habit::kHalfClosed:
        client_.send(body);
        break;
      case Habit::kNeverReads:
        client_.send(fenced_request("GET", "/exports/slow/large", 0));
        break;
    }
    if (habit_ == Habit::kHalfClosed) {
      client_.shutdown_write();
    }
  }

  /// One more byte from those who are slow and not stopped. False if the server has closed.
  bool drip() {
    if (habit_ != Habit::kSlowHead && habit_ != Habit::kSlowBody) {
      return true;
    }
    return ::send(client_.fd(), "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
  }

  [[nodiscard]] Habit habit() const { return habit_; }

 private:
  [[nodiscard]] int receive_buffer_bytes() const { return habit_ == Habit::kNeverReads ? 4096 : 0; }

  Habit habit_;
  RawClient client_;
};

class SlowClientsTest : public ::testing::Test {
 protected:
  SlowClientsTest() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    server_ = std::make_unique<FilesServer>(config_with(timeout_s_));
    EXPECT_EQ(server_->put("/exports/slow/large", 33, std::string(kLargeBytes, 'x')).status, 201);
  }

  [[nodiscard]] std::size_t descriptors() const {
    const std::filesystem::directory_iterator all(
        fmt::format("/proc/{}/fd", server_->process().pid()));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  double connections() { return server_->metric("fenceline_connections"); }

  const std::size_t count_ = campaign_count(1000, 5000);
  const std::size_t timeout_s_ = 6 + (count_ > 1000 ? (count_ - 1000) / 80 : 0);
  const std::chrono::seconds patience_ =
      2 * ServerProcess::kTimeout + 2 * std::chrono::seconds(timeout_s_);
  std::unique_ptr<FilesServer> server_;
};

TEST_F(SlowClientsTest, TheOthersAreServedAndNothingLeaks) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("slow_clients", seed));
  const std::size_t descriptors_before = descriptors();
  RecordedClients good(server_->process().port(), kGoodClients, seed, {.most_bytes = 4096});

  std::vector<std::unique_ptr<BadClient>> bad;
  for (std::size_t i = 0; i < count_; ++i) {
    bad.push_back(std::make_unique<BadClient>(server_->process().port(), i));
  }
  const double most = connections();
  EXPECT_GE(most, static_cast<double>(count_) / 4) << "they were not connected at the same time";
  EXPECT_GT(server_->metric("fenceline_staged_bytes"), 0);

  // While the slow ones drip, the server gives up all that have stopped, and a head that never
  // ends; a body may take its time.
  const std::size_t slow_uploads = count_ / kHabits;
  const auto slow_bodies = static_cast<double>(slow_uploads);
  std::size_t bodies_closed = 0;
  wait_until(
      "the clients that have stopped to be given up",
      [&] {
        for (const auto& client : bad) {
          bodies_closed += !client->drip() && client->habit() == Habit::kSlowBody ? 1 : 0;
        }
        return connections() <= slow_bodies + kGoodClients + 2;
      },
      patience_);
  EXPECT_EQ(bodies_closed, 0U);
  EXPECT_GE(connections(), slow_bodies);
  const std::size_t answered = good.answered();
  ASSERT_TRUE(wait_for_answers(good, 100));

  // Now these stop too. Nobody of all of them has closed his side.
  wait_until(
      "the slow uploads to be given up", [&] { return connections() <= kGoodClients + 2; },
      patience_);
  good.stop();
  wait_until("nothing to be left of them", [&] {
    return server_->metric("fenceline_staged_bytes") == 0 && server_->temporary_files() == 0 &&
           descriptors() <= descriptors_before + 2;
  });
  EXPECT_THAT(good.problems(), IsEmpty());
  EXPECT_EQ(good.writes(Outcome::kUnknown), 0U) << "no good client was cut off";
  const std::vector<std::string> violations = good.judge(server_->process().port());
  Broken broken;
  broken.add(violations);
  expect_allowed(good, violations);
  print_summary("slow_clients",
                fmt::format("{} slow or half-open clients, {} at once, {} answers to {} others "
                            "meanwhile, nothing leaked",
                            count_, most, answered, kGoodClients),
                broken, seed);
}

}  // namespace
}  // namespace fenceline::testing
