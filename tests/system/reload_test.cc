// SIGHUP: a new configuration is taken as a whole or not at all, and nothing that runs notices.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/tls_client.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kTop = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
)";

constexpr std::string_view kExports = R"(
  - name: exports
    match: /exports/{tenant}/{path...}
    fence: exports/{tenant}
    files: {root: exports}
)";

constexpr std::string_view kReports = R"(
  - name: reports
    match: /reports/{path...}
    files: {root: reports}
)";

std::string config_of(std::string_view top, std::string_view routes) {
  return fmt::format("{}routes:{}", top, routes);
}

std::size_t count_in(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

class ReloadTest : public ::testing::Test {
 protected:
  void write_config(std::string_view text) {
    // As editors do it: the server never reads half of it.
    const std::string file = server_.at("fenceline.yaml");
    std::ofstream(file + ".new") << text;
    std::filesystem::rename(file + ".new", file);
  }

  /// Sends SIGHUP and waits for one more line with `event`.
  void hang_up(const std::string& event) {
    const std::string line = " " + event + ": ";
    const std::size_t before = count_in(log(), line);
    server_.process().signal(SIGHUP);
    wait_until("one more " + event + "; the log:\n" + log(),
               [&] { return count_in(log(), line) > before; });
  }

  void reload(std::string_view text) {
    write_config(text);
    hang_up("reloaded");
  }

  void expect_refused(std::string_view text, const std::string& reason) {
    write_config(text);
    hang_up("reload_failed");
    EXPECT_THAT(log(), HasSubstr(reason));
    EXPECT_EQ(server_.metric("fenceline_config_last_reload_successful"), 0);
  }

  [[nodiscard]] std::string log() { return server_.process().log(); }

  void wait_for_one_config() {
    wait_until("the earlier configurations to end",
               [&] { return server_.metric("fenceline_configs_in_use") == 1; });
  }

  FilesServer server_{config_of(kTop, kExports)};
};

TEST_F(ReloadTest, AddsAndRemovesARoute) {
  EXPECT_EQ(server_.put("/reports/a", 1, "x").status, 404);
  RawClient kept(server_.process().port());
  EXPECT_EQ(kept.exchange(fenced_put("/reports/a", 1, "x")).status, 404);

  reload(config_of(kTop, std::string(kExports).append(kReports)));
  EXPECT_THAT(log(), HasSubstr("added=reports removed=none changed=none settings=none"));
  EXPECT_EQ(kept.exchange(fenced_put("/reports/a", 1, "x")).status, 201);
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
  EXPECT_THAT(server_.admin("/v1/routes").body, HasSubstr("\"reports\""));

  reload(config_of(kTop, kReports));
  EXPECT_THAT(log(), HasSubstr("removed=exports"));
  EXPECT_EQ(kept.exchange(fenced_put("/exports/acme/a", 2, "y")).status, 404);
  EXPECT_THAT(server_.admin("/v1/routes").body, Not(HasSubstr("\"exports\"")));
  wait_for_one_config();
  // Its root is free again.
  const std::string lock = server_.at("exports") + "/.fenceline/lock";
  EXPECT_EQ(std::system(fmt::format("flock -n {} true", lock).c_str()), 0);

  reload(config_of(kTop, std::string(kExports).append(kReports)));
  EXPECT_EQ(server_.content("/exports/acme/a"), "x");
  EXPECT_EQ(server_.mark("exports/acme"), 1);
}

TEST_F(ReloadTest, ChangesLimitsAndTimeouts) {
  EXPECT_EQ(server_.put("/exports/acme/a", 1, std::string(2000, 'x')).status, 201);
  RawClient idle(server_.process().port());
  EXPECT_EQ(idle.exchange(fenced_put("/exports/acme/b", 1, "x")).status, 201);
  reload(config_of(std::string(kTop) + "limits: {head: 1KiB}\ntimeouts: {head: 100ms}\n",
                   std::string(kExports) + "    limits: {body: 1000}\n"));
  EXPECT_THAT(log(), HasSubstr("changed=exports settings=limits.head,timeouts.head"));
  EXPECT_EQ(server_.put("/exports/acme/a", 1, std::string(2000, 'x')).status, 413);
  EXPECT_EQ(idle.exchange(fenced_put("/exports/acme/a", 1, std::string(2000, 'x'))).status, 413);
  RawClient large(server_.process().port());
  EXPECT_EQ(large
                .exchange(fenced_request("GET", "/exports/acme/a", 0,
                                         "X: " + std::string(2000, 'x') + "\r\n"))
                .status,
            431);
  RawClient slow(server_.process().port());
  slow.send("GET /");
  EXPECT_EQ(slow.receive().status, 408);
}

TEST_F(ReloadTest, AnUploadInFlightEndsUnderTheOldConfiguration) {
  HalfUpload upload(server_, "/exports/acme/a", 7, std::string(200'000, 'A'));
  RawClient idle(server_.process().port());
  EXPECT_EQ(idle.exchange(fenced_request("GET", "/exports/acme/a", 0)).status, 404);
  // Under the new one nobody writes there, and so much not at all. The root stays open.
  reload(config_of(std::string(kTop) + "limits: {staged: 1MiB}\n",
                   std::string(kExports) + "    methods: [GET]\n    limits: {body: 100}\n"));
  EXPECT_EQ(server_.temporary_files(), 1U) << "the kept root was swept";
  EXPECT_EQ(server_.put("/exports/acme/b", 7, "x").status, 405);
  EXPECT_EQ(server_.metric("fenceline_configs_in_use"), 2);
  EXPECT_THAT(log(), Not(HasSubstr(" config_ended: ")));
  const Response answer = upload.finish();
  EXPECT_EQ(answer.status, 201) << answer.body;
  server_.process().wait_for_log(" config_ended: ");
  EXPECT_EQ(server_.metric("fenceline_configs_in_use"), 1);
  EXPECT_EQ(server_.content("/exports/acme/a"), std::string(200'000, 'A'));
  EXPECT_EQ(upload.client().exchange(fenced_put("/exports/acme/b", 7, "x")).status, 405);
}

TEST_F(ReloadTest, AZombieInFlightIsFencedByANewHolderUnderTheNewConfiguration) {
  HalfUpload zombie(server_, "/exports/acme/a", 33, std::string(200'000, 'A'));
  reload(config_of(kTop, std::string(kExports) + "    limits: {body: 1MiB}\n"));
  EXPECT_EQ(server_.put("/exports/acme/a", 34, "new").status, 201);
  expect_fenced(zombie.finish(), 33, 34);
  EXPECT_EQ(server_.content("/exports/acme/a"), "new");
}

TEST_F(ReloadTest, AnotherFenceOverTheSameFilesNeedsARestart) {
  const std::string other = R"(
  - name: exports
    match: /exports/{tenant}/{path...}
    files: {root: exports}
)";
  expect_refused(config_of(kTop, other), "restart the server for this");
  // Not even in two steps, as long as a write under the old fence may still land.
  HalfUpload upload(server_, "/exports/acme/a", 33, std::string(200'000, 'A'));
  reload(config_of(kTop, kReports));
  expect_refused(config_of(kTop, other), "reload again when they have ended");
  EXPECT_EQ(upload.finish().status, 201);
  wait_for_one_config();
  reload(config_of(kTop, other));
  EXPECT_EQ(server_.content("/exports/acme/a"), std::string(200'000, 'A'));
}

TEST_F(ReloadTest, ARootThatIsReleasedAndWantedAgainIsTakenOver) {
  HalfUpload upload(server_, "/exports/acme/a", 33, std::string(200'000, 'A'));
  reload(config_of(kTop, kReports));
  reload(config_of(kTop, std::string(kReports).append(kExports)));
  EXPECT_EQ(server_.temporary_files(), 1U);
  EXPECT_EQ(upload.finish().status, 201);
  EXPECT_EQ(server_.content("/exports/acme/a"), std::string(200'000, 'A'));
}

TEST_F(ReloadTest, ABadFileKeepsTheOldOneAndSaysWhy) {
  expect_refused(config_of(kTop, std::string(kExports) + "    enforse: true\n    max_jump: x\n"),
                 "fenceline.yaml:10:5: unknown key `routes[0].enforse`; did you mean");
  EXPECT_THAT(log(), HasSubstr("fenceline.yaml:11:15: "));
  EXPECT_THAT(log(), HasSubstr("problems=2"));
  expect_refused("", "reload_problem");
  std::filesystem::remove(server_.at("fenceline.yaml"));
  hang_up("reload_failed");
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
  EXPECT_THAT(server_.admin("/metrics").body,
              HasSubstr("fenceline_config_reloads_total{result=\"failure\"} 3"));
  reload(config_of(kTop, kExports));
  EXPECT_EQ(server_.metric("fenceline_config_last_reload_successful"), 1);
  EXPECT_GT(server_.metric("fenceline_config_last_reload_success_timestamp_seconds"), 1.7e9);
}

TEST_F(ReloadTest, WhatBelongsToTheProcessNeedsARestart) {
  std::string text = config_of(std::string(kTop) + "threads: {io: 7, workers: 7}\n", kExports);
  text.replace(text.find("ledger.db"), 9, "other.db");
  expect_refused(text, "`ledger.sqlite` has changed, which needs a restart");
  EXPECT_THAT(log(), HasSubstr("`threads.io` has changed, which needs a restart"));
  EXPECT_THAT(log(), HasSubstr("`threads.workers` has changed, which needs a restart"));
  EXPECT_FALSE(std::filesystem::exists(server_.at("other.db")));
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
}

TEST_F(ReloadTest, ARootOfAnotherLedgerIsRefused) {
  FilesServer other(config_of(kTop, kExports));
  EXPECT_EQ(other.put("/exports/acme/a", 5, "theirs").status, 201);
  EXPECT_EQ(other.process().stop(), 0);
  const std::string theirs =
      fmt::format("\n  - {{name: theirs, match: \"/theirs/{{path...}}\", files: {{root: {}}}}}\n",
                  other.at("exports"));
  expect_refused(config_of(kTop, std::string(kExports) + theirs), "route theirs: ");
  EXPECT_EQ(server_.ask("GET", "/theirs/acme/a", 0).status, 404);
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
}

TEST_F(ReloadTest, MovesItsListeners) {
  const std::uint16_t before = server_.process().port();
  const std::uint16_t admin_before = server_.process().admin_port();
  RawClient idle(before);
  EXPECT_EQ(idle.exchange(fenced_put("/exports/acme/a", 1, "x")).status, 201);
  HalfUpload upload(server_, "/exports/acme/b", 1, std::string(200'000, 'A'));
  // Another address of the loopback, where it is alone.
  reload(config_of("listen: 127.0.0.2:0\nledger: {sqlite: ledger.db}\n", kExports));
  EXPECT_THAT(log(), HasSubstr("settings=listen.address,admin.listen listen=127.0.0.2:"));
  EXPECT_THROW(RawClient client(before), ClientError);
  EXPECT_THROW(RawClient client(admin_before), ClientError);
  idle.expect_closed();
  const Response answer = upload.finish();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.field("Connection"), "close");
  upload.client().expect_closed();
  reload(config_of(fmt::format("listen: 127.0.0.1:{}\nadmin: {{listen: 127.0.0.1:{}}}\n"
                               "ledger: {{sqlite: ledger.db}}\n",
                               before, admin_before),
                   kExports));
  EXPECT_EQ(server_.content("/exports/acme/a"), "x");
  wait_for_one_config();
}

TEST_F(ReloadTest, AnAddressThatIsTakenKeepsTheOldOne) {
  FilesServer other;
  expect_refused(config_of(fmt::format("listen: 127.0.0.1:{}\nledger: {{sqlite: ledger.db}}\n",
                                       other.process().port()),
                           std::string(kExports).append(kReports)),
                 "another process listens there");
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
  EXPECT_EQ(server_.put("/reports/a", 1, "x").status, 404);
}

TEST_F(ReloadTest, AStormIsSurvived) {
  const std::string one = config_of(kTop, kExports);
  const std::string two = config_of(kTop, std::string(kExports).append(kReports));
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0) {
      write_config(i % 200 == 0 ? two : one);
    }
    server_.process().signal(SIGHUP);
  }
  EXPECT_EQ(server_.put("/exports/acme/a", 1, "x").status, 201);
  // Not `reload`: its line may be that of a reload which the storm began with the file before.
  write_config(two);
  server_.process().signal(SIGHUP);
  wait_until("the last file to be served; the log:\n" + log(),
             [&] { return server_.put("/reports/a", 1, "x").status == 201; });
  EXPECT_EQ(server_.process().stop(), 0);
}

TEST_F(ReloadTest, WhileItStopsNothingIsReloaded) {
  HalfUpload upload(server_, "/exports/acme/a", 33, std::string(200'000, 'A'));
  server_.process().signal(SIGTERM);
  server_.process().wait_for_log(" stopping: ");
  for (int i = 0; i < 10; ++i) {
    server_.process().signal(SIGHUP);
  }
  EXPECT_EQ(upload.finish().status, 201);
  EXPECT_EQ(server_.process().wait(), 0);
  EXPECT_THAT(log(), HasSubstr(" stopped: "));
}

TEST_F(ReloadTest, ADisplacedRootIsNotReady) {
  EXPECT_EQ(server_.admin("/readyz").status, 200);
  std::filesystem::rename(server_.at("exports"), server_.at("moved"));
  const Response gone = server_.admin("/readyz");
  EXPECT_EQ(gone.status, 503);
  EXPECT_THAT(gone.body, HasSubstr("was deleted or moved while it was served"));
  std::filesystem::create_directory(server_.at("exports"));
  const Response replaced = server_.admin("/readyz");
  EXPECT_EQ(replaced.status, 503);
  EXPECT_THAT(replaced.body,
              HasSubstr("route exports: the files root \\\"exports\\\" was replaced"));
  std::filesystem::remove(server_.at("exports"));
  std::filesystem::rename(server_.at("moved"), server_.at("exports"));
  EXPECT_EQ(server_.admin("/readyz").status, 200);
}

/// Threads that write and read until they are told to stop, each on one connection.
class Load {
 public:
  explicit Load(FilesServer& server) {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this, &server, i] { run(server.process().port(), i); });
    }
  }

  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Waits until another request has gone well since the last call; false if that takes 30 s.
  bool goes_on() {
    std::unique_lock lock(mutex_);
    const std::size_t before = std::exchange(seen_, done_);
    return progress_.wait_for(lock, std::chrono::seconds(30), [&] { return done_ > before; });
  }

  /// What went wrong.
  std::vector<std::string> stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    return failures_;
  }

 private:
  void run(std::uint16_t port, int number) {
    try {
      RawClient client(port);
      const std::string path = fmt::format("/exports/tenant{}/file", number);
      for (int i = 0; !stopped_; ++i) {
        const std::string content = fmt::format("content {}", i);
        const int written = client.exchange(fenced_put(path, 1 + i / 10, content)).status;
        const Response read = client.exchange(fenced_request("GET", path, 0));
        if ((written != 201 && written != 204) || read.body != content) {
          failed(fmt::format("{}: {} {} {}", path, written, read.status, read.body));
        }
        const std::lock_guard lock(mutex_);
        ++done_;
        progress_.notify_all();
      }
    } catch (const std::exception& error) {
      failed(error.what());
    }
  }

  void failed(std::string what) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(std::move(what));
  }

  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable progress_;
  std::size_t done_ = 0;
  std::size_t seen_ = 0;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

TEST_F(ReloadTest, AHundredReloadsUnderLoadLoseNothing) {
  Load load(server_);
  for (int i = 0; i < 100; ++i) {
    const std::string limit = fmt::format("    limits: {{body: {}MiB}}\n", 1 + i);
    const std::string exports = std::string(kExports) + limit;
    reload(config_of(kTop, i % 2 == 0 ? exports + std::string(kReports) : exports));
    if (i % 10 == 5) {
      expect_refused("rubbish", "reload_problem");
    }
    ASSERT_TRUE(load.goes_on()) << "reload " << i;
  }
  EXPECT_THAT(load.stop(), ::testing::IsEmpty());
  wait_for_one_config();
  EXPECT_EQ(server_.put("/reports/a", 1, "x").status, 404);
  EXPECT_EQ(server_.process().stop(), 0);
}

class ReloadTlsTest : public ::testing::Test {
 protected:
  ReloadTlsTest() {
    first_ = make_self_signed(folder_.path(), "first");
    second_ = make_self_signed(folder_.path(), "second");
    use(first_);
    server_ = std::make_unique<ServerProcess>(folder_.path().string(), R"(
listen: {address: 127.0.0.1:0, tls: {certificate: server.pem, key: server.key}}
ledger: {sqlite: ledger.db}
routes:
  - {name: exports, match: "/exports/{path...}", files: {root: exports}}
)");
    // OpenSSL writes without MSG_NOSIGNAL. Only now, so that the server does not inherit it.
    ::signal(SIGPIPE, SIG_IGN);
  }

  void use(const TestCertificate& identity) {
    std::filesystem::rename(copy(identity.certificate), folder_.at("server.pem"));
    std::filesystem::rename(copy(identity.key), folder_.at("server.key"));
  }

  static std::string copy(const std::string& file) {
    std::filesystem::copy_file(file, file + ".copy",
                               std::filesystem::copy_options::overwrite_existing);
    return file + ".copy";
  }

  void hang_up(const std::string& event) {
    server_->signal(SIGHUP);
    server_->wait_for_log(" " + event + ": ");
  }

  RawClient connect(const TestCertificate& trusted) {
    return RawClient(connect_tls(server_->port(), trusted.certificate));
  }

  TempFolder folder_;
  TestCertificate first_;
  TestCertificate second_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(ReloadTlsTest, ANewHandshakeSeesTheNewCertificateAndAnOldConnectionLives) {
  RawClient old = connect(first_);
  EXPECT_EQ(old.exchange(fenced_put("/exports/a", 1, "x")).status, 201);
  use(second_);
  hang_up("reloaded");
  EXPECT_EQ(connect(second_).exchange(fenced_request("GET", "/exports/a", 0)).body, "x");
  EXPECT_THROW(connect(first_), ClientError);
  EXPECT_EQ(old.exchange(fenced_put("/exports/a", 1, "y")).status, 204);
}

TEST_F(ReloadTlsTest, ABadKeyKeepsTheOldOne) {
  std::filesystem::remove(folder_.at("server.key"));
  hang_up("reload_failed");
  EXPECT_THAT(server_->log(), HasSubstr("reload_problem: TLS key server.key: "));
  EXPECT_EQ(connect(first_).exchange(fenced_request("GET", "/exports/a", 0)).status, 404);
  // A key of another certificate.
  std::filesystem::rename(copy(second_.key), folder_.at("server.key"));
  server_->signal(SIGHUP);
  server_->wait_for_log("key values mismatch");
  EXPECT_EQ(connect(first_).exchange(fenced_request("GET", "/exports/a", 0)).status, 404);
  use(second_);
  hang_up("reloaded");
  EXPECT_EQ(connect(second_).exchange(fenced_request("GET", "/exports/a", 0)).status, 404);
}

TEST_F(ReloadTlsTest, ItsConnectionsEndWhenTlsIsTurnedOff) {
  RawClient old = connect(first_);
  EXPECT_EQ(old.exchange(fenced_request("GET", "/exports/a", 0)).status, 404);
  const std::string file = folder_.at("fenceline.yaml");
  std::ofstream(file) << R"(
listen: 127.0.0.1:0
ledger: {sqlite: ledger.db}
routes:
  - {name: exports, match: "/exports/{path...}", files: {root: exports}}
)";
  hang_up("reloaded");
  RawClient plain(server_->port());
  EXPECT_EQ(plain.exchange(fenced_request("GET", "/exports/a", 0)).status, 404);
  EXPECT_THROW(old.exchange(fenced_request("GET", "/exports/a", 0)), ClientError);
}

}  // namespace
}  // namespace fenceline::testing
