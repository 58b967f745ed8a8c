// Limits of the whole process: connections, staged bytes, bodies of many gigabytes in constant
// memory.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kTight = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
limits: {connections: 4, staged: 1MiB, head: 1KiB}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     limits: {body: 1MiB}, files: {root: exports, sync: none}}
)";

class WireLimitTest : public WireTest {
 protected:
  static void SetUpTestSuite() { start(kTight); }
};

TEST_F(WireLimitTest, Connections) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    // Those of the fixture may hold a place for another moment.
    wait_until("a place to be free", [&clients] {
      auto client = std::make_unique<RawClient>(server().port());
      const bool taken = client->exchange(get("/exports/acme/canary")).status == 200;
      if (taken) {
        clients.push_back(std::move(client));
      }
      return taken;
    });
  }
  for (int i = 0; i < 3; ++i) {
    RawClient refused(server().port());
    refused.send_as_far_as_possible(sized_put("/exports/acme/x", smuggled()));
    const Response answer = refused.receive();
    expect_problem(answer, 503, "overloaded");
    EXPECT_NE(answer.field("Retry-After"), "");
    expect_after(refused, answer, After::kClosed);
  }
  for (const std::unique_ptr<RawClient>& client : clients) {
    EXPECT_EQ(client->exchange(get("/exports/acme/canary")).status, 200);
  }
  EXPECT_EQ(ask_admin("/healthz").status, 200);
  clients.pop_back();
  wait_until("a place to be free", [] { return ask(get("/exports/acme/canary")).status == 200; });
  EXPECT_EQ(content("exports/acme/x"), std::nullopt);
  clients.clear();
  expect_unharmed();
}

TEST_F(WireLimitTest, StagedBytes) {
  const std::string body(700 * 1024, 'x');
  RawClient first(server().port());
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  EXPECT_EQ(
      first.exchange(put("/exports/acme/first", "Expect: 100-continue\r\n" + length, "")).status,
      100);
  first.send(std::string_view(body).substr(1));
  wait_until("the first body to be counted", [] {
    const std::string metrics = ask_admin("/metrics").body;
    return metrics.find("fenceline_staged_bytes 7") != std::string::npos;
  });
  for (const bool in_chunks : {false, true}) {
    SCOPED_TRACE(in_chunks);
    RawClient second(server().port());
    second.send_as_far_as_possible(
        in_chunks ? put("/exports/acme/second", "Transfer-Encoding: chunked\r\n", chunked(body))
                  : put("/exports/acme/second", length, body));
    const Response answer = second.receive();
    expect_problem(answer, 503, "overloaded");
    EXPECT_NE(answer.field("Retry-After"), "");
    expect_after(second, answer,
                 answer.field("Connection") == "close" ? After::kClosed : After::kKept);
  }
  EXPECT_EQ(first.exchange("x").status, 201);
  EXPECT_EQ(ask(put("/exports/acme/second", length, body)).status, 201);
  EXPECT_EQ(content("exports/acme/first"), body);
  wait_until("nothing to be counted", [] {
    return ask_admin("/metrics").body.find("fenceline_staged_bytes 0\n") != std::string::npos;
  });
  expect_unharmed();
}

TEST_F(WireLimitTest, StagedBytesOfClientsThatGoAwayAreGivenBack) {
  for (int i = 0; i < 5; ++i) {
    RawClient client(server().port());
    client.send(put("/exports/acme/gone", "Content-Length: 900000\r\n", std::string(800000, 'x')));
    client.reset();
    wait_until("the bytes to be given back", [] {
      return ask_admin("/metrics").body.find("fenceline_staged_bytes 0\n") != std::string::npos;
    });
  }
  EXPECT_EQ(content("exports/acme/gone"), std::nullopt);
  expect_unharmed();
}

TEST_F(WireLimitTest, ConfiguredHead) {
  run({{"above 1 KiB",
        get("/exports/acme/canary", "A: " + std::string(1024, 'x') + "\r\n"),
        {431},
        After::kClosed,
        "head-too-large"}});
}

// How much the server may grow. AddressSanitizer keeps freed memory for a while.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kSlackKib = 400 * 1024;
#else
constexpr std::size_t kSlackKib = 32 * 1024;
#endif

class WireLargeBodyTest : public WireTest {
 protected:
  static void SetUpTestSuite() {
    start(R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     limits: {body: 10GiB}, files: {root: exports, sync: none}}
)");
  }

  /// The resident memory of the server, or its peak, in KiB.
  static std::size_t memory_kib(const std::string& name) {
    std::ifstream status("/proc/" + std::to_string(server().pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name + ":")) {
        return std::stoul(line.substr(name.size() + 1));
      }
    }
    throw std::runtime_error("no " + name);
  }
};

TEST_F(WireLargeBodyTest, ConstantMemory) {
  // 1.5 GiB: enough to show, and little enough for a slow disk. Offsets beyond 32 bits are below.
  constexpr std::size_t kPieces = 1536;
  const std::string piece(1024 * 1024, '\0');
  const std::size_t bytes = piece.size() * kPieces;
  const std::size_t before = memory_kib("VmRSS");
  RawClient client(server().port());
  client.send(put("/exports/acme/huge", "Content-Length: " + std::to_string(bytes) + "\r\n", ""));
  for (std::size_t i = 0; i < kPieces; ++i) {
    client.send(piece);
  }
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_EQ(std::filesystem::file_size(folder().at("exports/acme/huge")), bytes);
  EXPECT_EQ(client.exchange(remove("/exports/acme/huge")).status, 204);
  EXPECT_LT(memory_kib("VmHWM"), before + kSlackKib);
}

TEST_F(WireLargeBodyTest, RangesBeyond32Bits) {
  const std::string file = folder().at("exports/acme/sparse");
  std::ofstream(file) << "begin";
  std::filesystem::resize_file(file, 5368709120);
  std::ofstream(file, std::ios::app) << "end";
  const std::size_t before = memory_kib("VmRSS");
  RawClient client(server().port());
  const Response part =
      client.exchange(get("/exports/acme/sparse", "Range: bytes=5368709120-\r\n"));
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.field("Content-Range"), "bytes 5368709120-5368709122/5368709123");
  EXPECT_EQ(part.body, "end");
  const Response head =
      client.exchange("HEAD /exports/acme/sparse HTTP/1.1\r\nHost: a\r\n\r\n", true);
  EXPECT_EQ(head.field("Content-Length"), "5368709123");
  const Response large =
      client.exchange(get("/exports/acme/sparse", "Range: bytes=4294967290-4563402745\r\n"));
  EXPECT_EQ(large.status, 206);
  EXPECT_EQ(large.body.size(), 268435456U);
  EXPECT_LT(memory_kib("VmHWM"), before + kSlackKib);
}

TEST_F(WireLargeBodyTest, ManyTinyChunksInConstantMemory) {
  const std::size_t before = memory_kib("VmRSS");
  const std::string piece = repeat("1\r\nx\r\n", 10000);
  RawClient client(server().port());
  client.send(put("/exports/acme/tiny", "Transfer-Encoding: chunked\r\n", ""));
  for (int i = 0; i < 50; ++i) {
    client.send(piece);
  }
  EXPECT_EQ(client.exchange("0\r\n\r\n").status, 201);
  EXPECT_EQ(std::filesystem::file_size(folder().at("exports/acme/tiny")), 500000U);
  EXPECT_LT(memory_kib("VmHWM"), before + kSlackKib);
}

}  // namespace
}  // namespace fenceline::testing
