// What is written for people agrees with what the loader does.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "config/known_keys.h"
#include "config/units.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

std::string read_source(const std::string& name) {
  const char* root = std::getenv("FENCELINE_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::string path = std::string(root == nullptr ? "." : root) + "/" + name;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path << ": run this in the repository, or set FENCELINE_SOURCE_DIR";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Docs, HaveARowForEveryKey) {
  const std::string docs = read_source("docs/config.md");
  for (const KnownKey& key : known_keys()) {
    if (key.available) {
      const std::string row =
          fmt::format("| `{}` | {} | {} |", key.path, key.type, key.default_value);
      EXPECT_NE(docs.find(row), std::string::npos) << "docs/config.md has no row " << row;
    } else {
      EXPECT_NE(docs.find(fmt::format("`{}`", key.path)), std::string::npos)
          << "docs/config.md does not name the reserved " << key.path;
    }
  }
}

TEST(Docs, HaveNoRowForAnythingElse) {
  std::istringstream docs(read_source("docs/config.md"));
  bool in_table = false;
  std::size_t rows = 0;
  for (std::string line; std::getline(docs, line);) {
    if (line.starts_with("| key |")) {
      in_table = true;
    } else if (!line.starts_with('|')) {
      in_table = false;
    } else if (in_table && line.starts_with("| `")) {
      const std::string path = line.substr(3, line.find('`', 3) - 3);
      const KnownKey* key = find_key(path);
      EXPECT_TRUE(key != nullptr && key->available) << path;
      ++rows;
    }
  }
  EXPECT_GT(rows, 40U);
}

TEST(Docs, TheExampleLoads) {
  const std::string docs = read_source("docs/config.md");
  const std::string fence = "```yaml\n";
  const std::size_t start = docs.find(fence);
  ASSERT_NE(start, std::string::npos);
  const std::size_t end = docs.find("```", start + fence.size());
  const Loaded loaded = load_text(docs.substr(start + fence.size(), end - start - fence.size()));
  EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->routes.size(), 5U);
}

TEST(Docs, TheExampleOfS3Loads) {
  const std::string docs = read_source("docs/config.md");
  const std::string begin = "```yaml\n  - name: media\n";
  const std::size_t start = docs.find(begin);
  ASSERT_NE(start, std::string::npos);
  std::string route = docs.substr(start + 8, docs.find("```", start + 8) - start - 8);
  for (const std::string name : {"WORKER_SECRET", "DASHBOARD_SECRET"}) {
    route.replace(route.find(name), name.size(), "SECRET");
  }
  const Loaded loaded = load_text("listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n" + route);
  EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(std::get<S3Backend>(loaded->routes[0].backend).clients.size(), 2U);
}

TEST(Docs, TheQuickstartLoadsAndIsStrict) {
  const Loaded loaded = load_text(read_source("config/quickstart.yaml"));
  EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->listen.endpoint, (Endpoint{"127.0.0.1", 8080}));
  EXPECT_EQ(loaded->admin->endpoint, (Endpoint{"127.0.0.1", 8081}));
  EXPECT_EQ(loaded->ledger.sqlite, "var/fenceline/ledger.db");
  ASSERT_EQ(loaded->routes.size(), 1U);
  const Route& route = loaded->routes[0];
  EXPECT_EQ(route.name, "exports");
  EXPECT_EQ(std::get<FilesBackend>(route.backend).root, "var/exports");
  EXPECT_EQ(route_guarantee(route).level, Guarantee::kStrict);
  Captures captures;
  ASSERT_TRUE(route.match.match(PathSegments("exports/acme/a.csv", false), captures));
  EXPECT_EQ(captures.resource_name, "acme/a.csv");
  EXPECT_EQ(route.fence.key(captures)->text(), "exports/acme");
}

/// A default in the table is what comes out when the key is left out.
TEST(Docs, DefaultsAreThoseOfTheModel) {
  const Config config = load_text(kBase).value();
  const Route& route = config.routes[0];
  const auto documented = [](std::string_view path) {
    return std::string(find_key(path)->default_value);
  };
  const auto size = [&](std::string_view path) { return *parse_size(documented(path)); };
  const auto time = [&](std::string_view path) { return *parse_duration(documented(path)); };
  EXPECT_EQ(documented("ledger.cache_keys"), std::to_string(config.ledger.cache_keys));
  EXPECT_EQ(documented("token.headers"),
            fmt::format("[{}]", fmt::join(config.token.headers, ", ")));
  EXPECT_EQ(size("limits.head"), config.limits.head_bytes);
  EXPECT_EQ(documented("limits.connections"), std::to_string(config.limits.connections));
  EXPECT_EQ(size("limits.staged"), config.limits.staged_bytes);
  EXPECT_EQ(time("timeouts.head"), config.timeouts.head);
  EXPECT_EQ(time("timeouts.body"), config.timeouts.body);
  EXPECT_EQ(time("timeouts.keep_alive"), config.timeouts.keep_alive);
  EXPECT_EQ(time("timeouts.write"), config.timeouts.write);
  EXPECT_EQ(time("timeouts.drain"), config.timeouts.drain);
  EXPECT_EQ(time("timeouts.shutdown"), config.timeouts.shutdown);
  EXPECT_EQ(documented("routes[].writes"), to_string(route.writes));
  EXPECT_EQ(documented("routes[].enforce"), route.enforce ? "true" : "false");
  EXPECT_EQ(documented("routes[].max_jump"), std::to_string(route.max_jump));
  EXPECT_EQ(route.body_timeout, config.timeouts.body);
  EXPECT_EQ(route.drain_timeout, config.timeouts.drain);
  EXPECT_EQ(config.log.format, LogFormat::kText);
  EXPECT_EQ(config.log.level, LogLevel::kInfo);
  EXPECT_EQ(std::get<FilesBackend>(route.backend).sync, Sync::kFull);
  EXPECT_FALSE(route.require);
  EXPECT_FALSE(config.admin);
  EXPECT_FALSE(config.listen.tls);
  EXPECT_EQ(config.threads.io, 0U);
  EXPECT_EQ(config.threads.workers, 0U);
}

TEST(Docs, DefaultsOfTheBackendsAreThoseOfTheModel) {
  const auto documented = [](const std::string& key) {
    return std::string(find_key("routes[]." + key)->default_value);
  };
  const auto time = [&](const std::string& key) { return *parse_duration(documented(key)); };
  const SqliteBackend sqlite;
  EXPECT_EQ(documented("sqlite.table"), sqlite.table);
  EXPECT_EQ(documented("sqlite.marks"), sqlite.marks);
  EXPECT_EQ(SqliteStatement{}.mode, StatementMode::kWrite);
  EXPECT_EQ(documented("sqlite.statements[].mode"), "write");
  const HttpBackend http;
  EXPECT_EQ(documented("http.commit"), to_string(http.commit));
  EXPECT_EQ(time("http.settle"), http.settle);
  EXPECT_EQ(documented("http.reads"), fmt::format("[{}]", fmt::join(http.reads, ", ")));
  EXPECT_EQ(http.host, HostPolicy::kUpstream);
  EXPECT_EQ(documented("http.host"), "upstream");
  EXPECT_EQ(documented("http.tls.verify"), http.tls.verify ? "true" : "false");
  EXPECT_EQ(time("http.timeout"), http.timeout);
  EXPECT_EQ(time("http.connect_timeout"), http.connect_timeout);
  EXPECT_EQ(time("http.keep_alive"), http.keep_alive);
  EXPECT_EQ(documented("http.connections"), std::to_string(http.connections));
  EXPECT_EQ(documented("http.idle_connections"), std::to_string(http.idle_connections));
  EXPECT_EQ(documented("http.probe"), http.probe ? "true" : "false");
  EXPECT_EQ(*parse_size(documented("http.retry_body")), http.retry_body_bytes);
}

TEST(Docs, DefaultsOfS3AreThoseOfTheModel) {
  const auto documented = [](const std::string& key) {
    return std::string(find_key("routes[].s3." + key)->default_value);
  };
  const auto time = [&](const std::string& key) { return *parse_duration(documented(key)); };
  const S3Backend s3;
  EXPECT_EQ(documented("region"), s3.region);
  EXPECT_EQ(s3.addressing, S3Addressing::kPath);
  EXPECT_EQ(documented("addressing"), "path");
  EXPECT_EQ(documented("credentials.profile"), S3KeysInFile().profile);
  EXPECT_EQ(S3Client().access, S3Access::kWrite);
  EXPECT_EQ(documented("clients[].access"), "write");
  EXPECT_EQ(documented("anonymous"), s3.anonymous ? "true" : "false");
  EXPECT_EQ(documented("commit"), to_string(s3.commit));
  EXPECT_EQ(s3.deletes, S3Deletes::kAuto);
  EXPECT_EQ(documented("deletes"), "auto");
  EXPECT_EQ(time("settle"), s3.settle);
  EXPECT_EQ(documented("probe"), s3.probe ? "true" : "false");
  EXPECT_EQ(documented("tls.verify"), s3.tls.verify ? "true" : "false");
  EXPECT_EQ(time("timeout"), s3.timeout);
  EXPECT_EQ(time("connect_timeout"), s3.connect_timeout);
  EXPECT_EQ(time("keep_alive"), s3.keep_alive);
  EXPECT_EQ(documented("connections"), std::to_string(s3.connections));
  EXPECT_EQ(documented("idle_connections"), std::to_string(s3.idle_connections));
  EXPECT_EQ(*parse_size(documented("hold")), s3.hold_bytes);
}

}  // namespace
}  // namespace fenceline::config
