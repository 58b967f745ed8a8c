// Full disks: the store's (507) and the ledger's (503), each on a small tmpfs of its own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/small_disk.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

constexpr std::size_t kDiskBytes = 4 << 20;
constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kOld = "the old content";

std::string config(const std::string& root, const std::string& ledger) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {}}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: {}, sync: full}}
)",
                     ledger, root);
}

class FullDiskTest : public ::testing::Test {
 protected:
  void put_store_on_disk() {
    server_ = std::make_unique<FilesServer>(config(disk_.at("root"), folder_.at("ledger.db")));
  }
  void put_ledger_on_disk() {
    server_ = std::make_unique<FilesServer>(config(folder_.at("root"), disk_.at("ledger.db")));
  }

  void expect_nothing_staged() {
    wait_until("the refused upload to leave no trace", [&] {
      return server_->temporary_files(disk_.at("root")) == 0 &&
             server_->metric("fenceline_staged_bytes") == 0;
    });
  }

  TempFolder folder_;
  SmallDisk disk_{folder_.at("disk"), kDiskBytes};
  std::unique_ptr<FilesServer> server_;
};

TEST_F(FullDiskTest, AnUploadThatDoesNotFitLeavesTheOldContent) {
  put_store_on_disk();
  EXPECT_EQ(server_->put(kPath, 33, kOld).status, 201);

  const std::string large(2 * kDiskBytes, 'x');
  RawClient with_length(server_->process().port());
  with_length.send_as_far_as_possible(fenced_put(kPath, 34, large));
  expect_not_applied(with_length.receive(), 507, "insufficient-storage");
  expect_nothing_staged();

  RawClient chunked(server_->process().port());
  chunked.send_as_far_as_possible(
      fenced_request("PUT", kPath, 34, "Transfer-Encoding: chunked\r\n") +
      fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", large.size(), large));
  expect_not_applied(chunked.receive(), 507, "insufficient-storage");
  expect_nothing_staged();

  EXPECT_EQ(server_->content(kPath), kOld);
  // Its token was seen, whatever became of its write.
  expect_fenced(server_->put(kPath, 33, "late"), 33, 34);
  EXPECT_EQ(server_->put(kPath, 34, "a small one").status, 204);
  EXPECT_EQ(server_->content(kPath), "a small one");
  EXPECT_EQ(server_->admin("/readyz").status, 200);
}

TEST_F(FullDiskTest, AFullStoreWorksAgainWhenThereIsRoom) {
  put_store_on_disk();
  EXPECT_EQ(server_->put(kPath, 33, kOld).status, 201);
  disk_.fill();
  expect_not_applied(server_->put(kPath, 34, "new"), 507, "insufficient-storage");
  expect_not_applied(server_->put("/exports/acme/deep/new.csv", 34, "new"), 507,
                     "insufficient-storage");
  EXPECT_EQ(server_->content(kPath), kOld);
  expect_nothing_staged();

  disk_.make_room();
  EXPECT_EQ(server_->put(kPath, 34, "new").status, 204);
  EXPECT_EQ(server_->content(kPath), "new");
}

TEST_F(FullDiskTest, AFullLedgerLetsNobodyPass) {
  put_ledger_on_disk();
  EXPECT_EQ(server_->put(kPath, 33, kOld).status, 201);
  disk_.fill();

  // Until the raise of a mark does not fit: the log of the ledger may have room inside. Each token
  // that passes must be durable.
  std::int64_t token = 33;
  Response answer;
  do {
    ++token;
    const std::string next = fmt::format("token {}", token);
    answer = server_->put(fmt::format("/exports/tenant-{}/file", token), token, next);
  } while (answer.status == 201 && token < 10'000);
  expect_not_applied(answer, 503, "ledger-unavailable");
  EXPECT_TRUE(answer.has("Retry-After"));
  const std::string refused = fmt::format("/exports/tenant-{}/file", token);
  EXPECT_EQ(server_->content(refused), std::nullopt);

  expect_not_applied(server_->put(kPath, token, "new"), 503, "ledger-unavailable");
  expect_not_applied(server_->ask("GET", kPath, token + 1), 503, "ledger-unavailable");
  expect_not_applied(server_->ask("DELETE", kPath, token + 1), 503, "ledger-unavailable");
  EXPECT_EQ(server_->content(kPath), kOld) << "reads without a token ask no ledger";

  disk_.make_room();
  EXPECT_EQ(server_->put(refused, token, "now").status, 201);
  EXPECT_EQ(server_->put(kPath, token + 1, "new").status, 204);
  expect_fenced(server_->put(kPath, token, "late"), token, token + 1);
  server_->kill_and_restart();
  for (std::int64_t passed = 34; passed <= token; ++passed) {
    EXPECT_EQ(server_->mark(fmt::format("exports/tenant-{}", passed)), passed);
  }
  EXPECT_EQ(server_->mark("exports/acme"), token + 1);
  EXPECT_EQ(server_->content(kPath), "new");
}

}  // namespace
}  // namespace fenceline::testing
