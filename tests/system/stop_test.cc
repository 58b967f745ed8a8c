// SIGTERM lets what runs finish; a second one does not wait for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kPath = "/exports/acme/report.csv";

bool accepts(std::uint16_t port) {
  try {
    RawClient client(port);
    return true;
  } catch (const ClientError&) {
    return false;
  }
}

void begin_to_stop(FilesServer& server) {
  server.process().signal(SIGTERM);
  server.process().wait_for_log(" stopping: ");
}

TEST(StopTest, SigtermLetsARequestFinish) {
  for (const int signal : {SIGTERM, SIGINT}) {
    FilesServer server;
    RawClient idle(server.process().port());
    EXPECT_EQ(idle.exchange(fenced_request("GET", kPath, 0)).status, 404);
    HalfUpload upload(server, kPath, 33, std::string(3 << 20, 'A'));

    server.process().signal(signal);
    idle.expect_closed();
    wait_until("the listener to close", [&] { return !accepts(server.process().port()); });
    const Response answer = upload.finish();
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_EQ(server.process().wait(), 0) << server.process().log();

    server.restart();
    EXPECT_EQ(server.content(kPath), std::string(3 << 20, 'A'));
    EXPECT_EQ(server.temporary_files(), 0U);
  }
}

TEST(StopTest, ASecondSignalEndsItAtOnce) {
  FilesServer server;
  EXPECT_EQ(server.put(kPath, 33, "before").status, 201);
  HalfUpload upload(server, kPath, 34, std::string(3 << 20, 'A'));
  begin_to_stop(server);
  const auto began = std::chrono::steady_clock::now();
  server.process().signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), 128 + SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15))
      << "it waited for the upload, up to timeouts.shutdown (30 s)";

  server.restart();
  EXPECT_EQ(server.content(kPath), "before");
  EXPECT_EQ(server.mark("exports/acme"), 34);
  EXPECT_EQ(server.temporary_files(), 0U);
}

TEST(StopTest, WhatDoesNotFinishInTimeIsCutOff) {
  FilesServer server(FilesServer::two_routes() + "timeouts: {shutdown: 100ms}\n");
  EXPECT_EQ(server.put(kPath, 33, "before").status, 201);
  HalfUpload upload(server, kPath, 34, std::string(3 << 20, 'A'));
  EXPECT_EQ(server.process().stop(), 0);
  EXPECT_THAT(server.process().log(), ::testing::HasSubstr(" cut_off: "));
  upload.client().expect_closed();

  server.restart();
  EXPECT_EQ(server.content(kPath), "before");
  EXPECT_EQ(server.temporary_files(), 0U);
}

}  // namespace
}  // namespace fenceline::testing
