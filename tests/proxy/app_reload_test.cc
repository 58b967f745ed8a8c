// Reloads inside this process, so that ThreadSanitizer sees the switch.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "proxy/app.h"
#include "tests/support/raw_client.h"
#include "tests/support/temp_folder.h"

namespace fenceline::proxy {
namespace {

using fenceline::testing::RawClient;
using fenceline::testing::Response;
using fenceline::testing::TempFolder;

class AppReloadTest : public ::testing::Test {
 protected:
  /// The routes `data` and, with `more`, `more`; `number` is a limit that changes nothing here.
  config::Loaded config_of(bool more, int number) {
    std::string text = fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {0}/ledger.db}}
threads: {{io: 2, workers: 2}}
limits: {{staged: {1}MiB}}
log: {{level: error}}
routes:
  - {{name: data, match: "/data/{{path...}}", limits: {{body: 1MiB}},
     files: {{root: {0}/data, sync: none}}}}
)",
                                   folder_.path().string(), number);
    if (more) {
      text += fmt::format(
          "  - {{name: more, match: \"/more/{{path...}}\", limits: {{body: 1MiB}},\n"
          "     files: {{root: {}/more, sync: none}}}}\n",
          folder_.path().string());
    }
    return config::load(
        text, "f", [](const std::string&) { return std::nullopt; }, config::canonical_path);
  }

  TempFolder folder_;
};

TEST_F(AppReloadTest, UnderLoadEveryRequestIsAnswered) {
  auto started = start_app(*config_of(false, 1000));
  ASSERT_TRUE(started) << started.error().detail;
  App& app = **started;
  const std::uint16_t port = app.port();
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto work = [&](int number, bool keep) {
    try {
      auto client = std::make_unique<RawClient>(port);
      for (int i = 0; !stopped; ++i) {
        const std::string body = fmt::format("{}", i);
        const Response answer =
            client->exchange(fmt::format("PUT /data/{} HTTP/1.1\r\nHost: a\r\nFencing-Token: {}\r\n"
                                         "Content-Length: {}\r\n\r\n{}",
                                         number, i + 1, body.size(), body));
        if (answer.status != 201 && answer.status != 204) {
          const std::lock_guard lock(mutex);
          failures.push_back(fmt::format("{} {}", answer.status, answer.body));
        }
        if (!keep) {
          client = std::make_unique<RawClient>(port);
        }
      }
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex);
      failures.emplace_back(error.what());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(work, i, i % 2 == 0);
  }
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(app.reload(config_of(i % 2 == 0, 1000 + i), "f"));
    if (i % 10 == 0) {
      const auto bad = config::Loaded(tl::unexpect, {config::Problem{"f", 1, 1, "rubbish"}});
      EXPECT_FALSE(app.reload(bad, "f"));
    }
    RawClient admin(app.admin_port());
    EXPECT_EQ(admin.exchange("GET /v1/routes HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  }
  stopped = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(failures, ::testing::IsEmpty());
  app.stop();
}

}  // namespace
}  // namespace fenceline::proxy
