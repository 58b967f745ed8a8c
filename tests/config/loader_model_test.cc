// What comes out of a configuration that is right, and bytes that are no configuration at all.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/yaml_tree.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

constexpr std::string_view kFull = R"(
listen: {address: "[::1]:9443", tls: {certificate: c.pem, key: k.pem}}
admin: {listen: 0.0.0.0:${PORT}, token: ${SECRET}}
ledger: {sqlite: l.db, cache_keys: 5}
token: {headers: [X-A, b]}
limits: {head: 4kB, connections: 7, staged: 2GiB}
timeouts: {head: 1ms, body: 2s, keep_alive: 3m, write: 4h, drain: 0, shutdown: 24h}
log: {format: json, level: debug}
threads: {io: 3, workers: 256}
leases: {path: /l/m, token: "${SECRET}", min_ttl: 1ms, max_ttl: 2s, max_wait: 0s, lock_delay: 3s,
         max_lock_delay: 4s, max_leases: 5, max_waiters: 0, drain: 6s}
routes:
  - name: one
    match: /one/{t}/{p...}
    fence: one/{t}
    methods: [PUT, GET]
    writes: optional
    enforce: false
    max_jump: 9223372036854775807
    require: detect
    limits: {body: 0}
    timeouts: {body: 9s}
    files: {root: one, sync: none}
  - name: two
    match: /two/{p...}
    methods: [DELETE]
    timeouts: {drain: 10m}
    files: {root: /two}
)";

TEST(Model, TheServer) {
  const Loaded loaded = load_text(kFull);
  ASSERT_EQ(problems_of(loaded), std::vector<std::string>());
  const Config& config = *loaded;
  using Ms = base::Milliseconds;
  EXPECT_EQ(config.listen.endpoint, (Endpoint{"::1", 9443}));
  EXPECT_EQ(config.listen.tls->certificate, "c.pem");
  EXPECT_EQ(config.listen.tls->key, "k.pem");
  EXPECT_EQ(config.admin->endpoint, (Endpoint{"0.0.0.0", 8099}));
  EXPECT_EQ(config.admin->token, "0123456789abcdef");
  EXPECT_EQ(config.ledger.sqlite, "l.db");
  EXPECT_EQ(config.ledger.cache_keys, 5U);
  EXPECT_EQ(config.token.headers, (std::vector<std::string>{"X-A", "b"}));
  EXPECT_EQ(config.limits.head_bytes, 4000U);
  EXPECT_EQ(config.limits.connections, 7U);
  EXPECT_EQ(config.limits.staged_bytes, 2 * kGiB);
  EXPECT_EQ(config.timeouts.head, Ms(1));
  EXPECT_EQ(config.timeouts.body, Ms(2000));
  EXPECT_EQ(config.timeouts.keep_alive, Ms(180'000));
  EXPECT_EQ(config.timeouts.write, Ms(14'400'000));
  EXPECT_EQ(config.timeouts.drain, Ms(0));
  EXPECT_EQ(config.timeouts.shutdown, Ms(86'400'000));
  EXPECT_EQ(config.log.format, LogFormat::kJson);
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
  EXPECT_EQ(config.threads.io, 3U);
  EXPECT_EQ(config.threads.workers, 256U);
}

TEST(Model, TheLeases) {
  const Loaded loaded = load_text(kFull);
  ASSERT_TRUE(loaded && loaded->leases);
  const Leases& leases = *loaded->leases;
  using Ms = base::Milliseconds;
  EXPECT_EQ(leases.path, "/l/m");
  EXPECT_EQ(leases.token, "0123456789abcdef");
  EXPECT_EQ(leases.min_ttl, Ms(1));
  EXPECT_EQ(leases.max_ttl, Ms(2000));
  EXPECT_EQ(leases.max_wait, Ms(0));
  EXPECT_EQ(leases.lock_delay, Ms(3000));
  EXPECT_EQ(leases.max_lock_delay, Ms(4000));
  EXPECT_EQ(leases.max_leases, 5U);
  EXPECT_EQ(leases.max_waiters, 0U);
  EXPECT_EQ(leases.drain, Ms(6000));

  EXPECT_FALSE(load_text(kBase)->leases);
  const Loaded least = load_text(kBase + "leases: {}\n");
  ASSERT_TRUE(least && least->leases);
  EXPECT_EQ(least->leases->path, "/leases");
  EXPECT_FALSE(least->leases->token);
}

TEST(Model, TheRoutes) {
  const Loaded loaded = load_text(kFull);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->routes.size(), 2U);
  const Route& one = loaded->routes[0];
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.match.text(), "/one/{t}/{p...}");
  EXPECT_EQ(one.fence.text(), "one/{t}");
  EXPECT_EQ(one.methods, (std::vector<std::string>{"GET", "HEAD", "PUT"}));
  EXPECT_EQ(one.writes, Writes::kOptional);
  EXPECT_FALSE(one.enforce);
  EXPECT_EQ(one.max_jump, 9223372036854775807);
  EXPECT_EQ(one.require, Guarantee::kDetect);
  EXPECT_EQ(one.body_limit_bytes, 0U);
  EXPECT_EQ(one.body_timeout, base::Milliseconds(9000));
  EXPECT_EQ(one.drain_timeout, base::Milliseconds(0));
  EXPECT_EQ(std::get<FilesBackend>(one.backend).root, "one");
  EXPECT_EQ(std::get<FilesBackend>(one.backend).sync, Sync::kNone);
  EXPECT_TRUE(one.takes_writes());
  const Route& two = loaded->routes[1];
  EXPECT_EQ(two.fence.text(), "two/<resource>");
  EXPECT_EQ(two.methods, std::vector<std::string>{"DELETE"});
  EXPECT_EQ(two.body_timeout, base::Milliseconds(2000));
  EXPECT_EQ(two.drain_timeout, base::Milliseconds(600'000));
  EXPECT_EQ(std::get<FilesBackend>(two.backend).root, "/two");
}

TEST(Bytes, ThatNoConfigurationHas) {
  const auto only_problem = [](const std::string& text) {
    const auto problems = problems_of(load_text(text));
    EXPECT_EQ(problems.size(), 1U);
    return problems.empty() ? "" : problems[0];
  };
  using namespace std::string_literals;  // NOLINT(google-build-using-namespace): for the NUL
  EXPECT_EQ(only_problem("a: b\nc\0d"s), "2:2: the file has a control byte (0x00)");
  EXPECT_EQ(only_problem("a: b\x04"), "1:5: the file has a control byte (0x04)");
  EXPECT_EQ(only_problem("a: \x01"), "1:4: the file has a control byte (0x01)");
  EXPECT_EQ(only_problem("a\n\n\x7f"), "3:1: the file has a control byte (0x7f)");
  EXPECT_EQ(only_problem("a: b\nc: \xff"), "2:1: this line is not valid UTF-8");
  EXPECT_EQ(only_problem("\xff\xfe"
                         "a"),
            "1:1: this line is not valid UTF-8");
  EXPECT_EQ(only_problem(std::string(kMaxConfigBytes + 1, ' ')),
            " the file has more than the 1048576 bytes that are read; shorten it");
}

TEST(Bytes, LineEndsOfWindowsAndAByteOrderMarkAreFine) {
  std::string text(kBase);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  EXPECT_EQ(problems_of(load_text(text)), std::vector<std::string>());
  EXPECT_EQ(problems_of(load_text("\xef\xbb\xbf" + text)), std::vector<std::string>());
}

/// One MiB of whatever makes a parser recurse or look back: an answer, not a crash.
TEST(Bytes, BombsAreDefused) {
  for (const std::string part : {"[", "{", "- ", "? ", "a: ", "\"", "&a ", "{a: [", "[a,", "!x ",
                                 "${", "${A}", "$$", "\n", "- [\n", "k:\n ", "|\n", "%"}) {
    std::string text;
    while (text.size() + part.size() <= kMaxConfigBytes) {
      text += part;
    }
    EXPECT_FALSE(problems_of(load_text(text)).empty()) << part;
  }
}

TEST(Bytes, EveryPrefixAndEveryLostByteIsAnAnswer) {
  const std::string text(kFull);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    refused += load_text(text.substr(0, i)) ? 0U : 1U;
    std::string lost = text;
    lost.erase(i, 1);
    for (const std::string& problem : problems_of(load_text(lost))) {
      EXPECT_GT(problem.size(), std::string_view("1:1: ").size());
    }
  }
  EXPECT_GT(refused, text.size() / 2);
}

TEST(Routes, TooMany) {
  std::string text = "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n";
  for (std::size_t i = 0; i <= kMaxRoutes; ++i) {
    text += fmt::format("  - {{name: r{0}, match: /r{0}, files: {{root: r{0}}}}}\n", i);
  }
  EXPECT_EQ(problems_of(load_text(text)),
            std::vector<std::string>{
                "4:3: `routes`: 1001 routes are too many; at most 1000 are allowed"});
  text.resize(text.rfind("  - "));
  EXPECT_EQ(problems_of(load_text(text)), std::vector<std::string>());
}

}  // namespace
}  // namespace fenceline::config
