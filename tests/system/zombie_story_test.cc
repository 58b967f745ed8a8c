// The story of the README against the real binary: worker A holds the lease with token 33, is
// paused in the middle, and wakes up after worker B has taken over with token 34.

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kKey = "exports/acme";
constexpr std::string_view kOfB = "the report of worker B";

std::string upload_of_a() { return std::string(3 << 20, 'A'); }

TEST(ZombieStoryTest, AnOvertakenUploadIsRefusedAtItsCommit) {
  FilesServer server;
  HalfUpload a(server, kPath, 33, upload_of_a());
  EXPECT_EQ(server.temporary_files(), 1U) << "the upload of A is not in the middle";

  const Response b = server.put(kPath, 34, kOfB);
  EXPECT_EQ(b.status, 201) << b.body;
  EXPECT_EQ(b.field("Fencing-Highest"), "34");

  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server.content(kPath), kOfB);
  wait_until("the upload of A to leave no trace", [&] {
    return server.temporary_files() == 0 && server.metric("fenceline_staged_bytes") == 0;
  });
}

TEST(ZombieStoryTest, ARestartForgetsNothing) {
  FilesServer server;
  EXPECT_EQ(server.put(kPath, 33, "the report of worker A").status, 201);
  EXPECT_EQ(server.put(kPath, 34, kOfB).status, 204);

  EXPECT_EQ(server.process().stop(), 0);
  server.restart();
  expect_fenced(server.put(kPath, 33, upload_of_a()), 33, 34);

  server.kill_and_restart();
  EXPECT_EQ(server.mark(kKey), 34);
  expect_fenced(server.put(kPath, 33, upload_of_a()), 33, 34);
  EXPECT_EQ(server.content(kPath), kOfB);
}

TEST(ZombieStoryTest, AKillInTheMiddleOfTheUploadLeavesNothingOfIt) {
  FilesServer server;
  HalfUpload a(server, kPath, 33, upload_of_a());
  EXPECT_EQ(server.put(kPath, 34, kOfB).status, 201);
  ASSERT_EQ(server.temporary_files(), 1U);

  server.kill_and_restart();
  EXPECT_EQ(server.temporary_files(), 0U) << "the temporary file of A was not swept";
  a.client().expect_closed();
  expect_fenced(server.put(kPath, 33, upload_of_a()), 33, 34);
  EXPECT_EQ(server.content(kPath), kOfB);
}

TEST(ZombieStoryTest, ANewHolderThatOnlyReadsKeepsTheOldOneOut) {
  for (const std::string_view method : {"GET", "HEAD"}) {
    FilesServer server;
    EXPECT_EQ(server.put(kPath, 33, "before").status, 201);
    HalfUpload a(server, kPath, 33, upload_of_a());

    const Response b = server.ask(method, kPath, 34);
    EXPECT_EQ(b.status, 200) << method;
    EXPECT_EQ(b.field("Fencing-Highest"), "34") << method;

    expect_fenced(a.finish(), 33, 34);
    server.kill_and_restart();
    EXPECT_EQ(server.mark(kKey), 34) << "the mark of a " << method << " was forgotten";
    expect_fenced(server.put(kPath, 33, "after"), 33, 34);
    EXPECT_EQ(server.content(kPath), "before");
  }
}

TEST(ZombieStoryTest, AReadOfWhatIsNotThereFencesToo) {
  FilesServer server;
  HalfUpload a(server, kPath, 33, upload_of_a());
  EXPECT_EQ(server.ask("GET", kPath, 34).status, 404);
  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server.content(kPath), std::nullopt);
}

TEST(ZombieStoryTest, AnOvertakenDeleteRemovesNothing) {
  FilesServer server;
  EXPECT_EQ(server.put(kPath, 34, kOfB).status, 201);
  expect_fenced(server.ask("DELETE", kPath, 33), 33, 34);
  server.kill_and_restart();
  expect_fenced(server.ask("DELETE", kPath, 33), 33, 34);
  EXPECT_EQ(server.content(kPath), kOfB);
}

TEST(ZombieStoryTest, TheMarkOutlivesTheFile) {
  FilesServer server;
  EXPECT_EQ(server.put(kPath, 33, "the report of worker A").status, 201);
  HalfUpload a(server, kPath, 33, upload_of_a());
  EXPECT_EQ(server.ask("DELETE", kPath, 34).status, 204);

  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server.content(kPath), std::nullopt);
  server.kill_and_restart();
  expect_fenced(server.put(kPath, 33, upload_of_a()), 33, 34);
  EXPECT_EQ(server.content(kPath), std::nullopt);
}

TEST(ZombieStoryTest, ATokenBelongsToTheHolderThatShowedItFirst) {
  FilesServer server;
  EXPECT_EQ(server.put(kPath, 34, kOfB, "Fencing-Holder: b\r\n").status, 201);
  const auto expect_bound_to_b = [&] {
    expect_not_applied(server.put(kPath, 34, "of A", "Fencing-Holder: a\r\n"), 409,
                       "holder-conflict");
    EXPECT_EQ(server.content(kPath), kOfB);
    EXPECT_EQ(server.put(kPath, 34, kOfB, "Fencing-Holder: b\r\n").status, 204);
  };
  expect_bound_to_b();
  server.kill_and_restart();
  expect_bound_to_b();
  EXPECT_EQ(server.put(kPath, 35, "of A", "Fencing-Holder: a\r\n").status, 204)
      << "a new token may come from anybody";
}

TEST(ZombieStoryTest, TwoRoutesThatNameOneFenceShareIt) {
  FilesServer server;
  HalfUpload a(server, kPath, 33, upload_of_a());
  EXPECT_EQ(server.put("/reports/acme/summary.txt", 34, kOfB).status, 201);

  expect_fenced(a.finish(), 33, 34);
  EXPECT_EQ(server.content(kPath), std::nullopt);
  server.kill_and_restart();
  expect_fenced(server.put(kPath, 33, "late"), 33, 34);
  expect_fenced(server.put("/reports/acme/summary.txt", 33, "late"), 33, 34);
  EXPECT_EQ(server.put("/exports/other/report.csv", 33, "another tenant").status, 201)
      << "the fence of one tenant must not hold another";
}

}  // namespace
}  // namespace fenceline::testing
