// What may change while the server runs.

#include "proxy/reload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loader.h"

namespace fenceline::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kTop = "listen: 127.0.0.1:80\nledger: {sqlite: ledger.db}\n";
constexpr std::string_view kData =
    "  - {name: data, match: \"/data/{path...}\", files: {root: data}}\n";

ResolvedConfig read(std::string_view top, std::string_view routes) {
  const auto resolve = [](const std::string& path) {
    return path.starts_with('/') ? path : "/w/" + path;
  };
  auto loaded = config::load(
      fmt::format("{}routes:\n{}", top, routes), "f",
      [](const std::string&) { return std::nullopt; }, resolve);
  if (!loaded) {
    throw std::runtime_error(to_string(loaded.error().front()));
  }
  return resolved(std::move(*loaded), resolve);
}

ResolvedConfig with_top(std::string_view more) {
  return read(std::string(kTop).append(more), kData);
}

ResolvedConfig with_routes(std::string_view routes) { return read(kTop, routes); }

/// A route `data` on the root `data` with these keys more.
ResolvedConfig with_data(std::string_view keys, std::string_view root = "data",
                         std::string_view files = "") {
  return with_routes(
      fmt::format("  - {{name: data, match: \"/data/{{path...}}\", {}files: {{root: {}{}}}}}\n",
                  keys, root, files));
}

std::vector<std::string> refused(const ResolvedConfig& running, const ResolvedConfig& wanted) {
  std::vector<std::string> sentences;
  for (const Refusal& each : plan_reload(running, {}, wanted).refused) {
    sentences.push_back(each.message);
  }
  return sentences;
}

TEST(ReloadPlanTest, TheSameFileChangesNothing) {
  const ReloadPlan plan = plan_reload(with_top(""), {}, with_top(""));
  EXPECT_THAT(plan.refused, IsEmpty());
  EXPECT_THAT(plan.added, IsEmpty());
  EXPECT_THAT(plan.removed, IsEmpty());
  EXPECT_THAT(plan.changed, IsEmpty());
  EXPECT_THAT(plan.settings, IsEmpty());
}

TEST(ReloadPlanTest, NamesEverySettingThatChanges) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"admin: {listen: 127.0.0.1:81}\n", "admin.listen"},
      {"token: {headers: [Fencing-Token]}\n", "token.headers"},
      {"limits: {head: 8KiB}\n", "limits.head"},
      {"limits: {connections: 5}\n", "limits.connections"},
      {"limits: {staged: 17GiB}\n", "limits.staged"},
      {"timeouts: {head: 1s}\n", "timeouts.head"},
      {"timeouts: {keep_alive: 1s}\n", "timeouts.keep_alive"},
      {"timeouts: {write: 1s}\n", "timeouts.write"},
      {"timeouts: {shutdown: 1s}\n", "timeouts.shutdown"},
      {"leases: {}\n", "leases"},
      {"log: {level: debug}\n", "log.level"}};
  for (const auto& [text, key] : cases) {
    const ReloadPlan plan = plan_reload(with_top(""), {}, with_top(text));
    EXPECT_THAT(plan.settings, ElementsAre(key));
    EXPECT_THAT(plan.refused, IsEmpty()) << key;
    EXPECT_THAT(plan.changed, IsEmpty()) << key;
  }
  // Routes take these two over.
  for (const std::string key : {"body", "drain"}) {
    const ReloadPlan plan =
        plan_reload(with_top(""), {}, with_top(fmt::format("timeouts: {{{}: 1s}}\n", key)));
    EXPECT_THAT(plan.settings, ElementsAre("timeouts." + key));
    EXPECT_THAT(plan.changed, ElementsAre("data"));
  }
  for (const std::string key :
       {"path: /l", "token: 0123456789abcdef", "min_ttl: 2s", "max_ttl: 2s", "max_wait: 2s",
        "lock_delay: 2s", "max_lock_delay: 2s", "max_leases: 2", "max_waiters: 2", "drain: 2s"}) {
    const ReloadPlan plan =
        plan_reload(with_top("leases: {}\n"), {}, with_top(fmt::format("leases: {{{}}}\n", key)));
    EXPECT_THAT(plan.settings, ElementsAre("leases." + key.substr(0, key.find(':'))));
    EXPECT_THAT(plan.refused, IsEmpty()) << key;
  }
  const ReloadPlan moved =
      plan_reload(with_top(""), {},
                  read("listen: {address: 127.0.0.1:82, tls: {certificate: c, key: k}}\n"
                       "ledger: {sqlite: ledger.db}\n",
                       kData));
  EXPECT_THAT(moved.settings, ElementsAre("listen.address", "listen.tls"));
  EXPECT_THAT(plan_reload(with_top("admin: {listen: 127.0.0.1:81}\n"), {},
                          with_top("admin: {listen: 127.0.0.1:81, token: abcdefghijklmnop}\n"))
                  .settings,
              ElementsAre("admin.token"));
}

TEST(ReloadPlanTest, NamesRoutesThatComeGoAndChange) {
  const std::string other = "  - {name: other, match: \"/o/{path...}\", files: {root: other}}\n";
  const ReloadPlan plan = plan_reload(with_routes(kData), {}, with_routes(other));
  EXPECT_THAT(plan.added, ElementsAre("other"));
  EXPECT_THAT(plan.removed, ElementsAre("data"));
  EXPECT_THAT(plan.changed, IsEmpty());
  const ReloadPlan both = plan_reload(with_routes(kData), {}, with_routes(other + kData.data()));
  EXPECT_THAT(both.added, ElementsAre("other"));
  EXPECT_THAT(both.changed, IsEmpty()) << "the order does not matter";
  for (const std::string keys : {"methods: [GET], ", "writes: optional, ", "enforce: false, ",
                                 "max_jump: 5, ", "require: strict, ", "limits: {body: 1KiB}, ",
                                 "timeouts: {body: 1s}, ", "timeouts: {drain: 1s}, "}) {
    const ReloadPlan changed = plan_reload(with_data(""), {}, with_data(keys));
    EXPECT_THAT(changed.changed, ElementsAre("data")) << keys;
    EXPECT_THAT(changed.refused, IsEmpty()) << keys;
  }
  EXPECT_THAT(plan_reload(with_data(""), {}, with_data("", "elsewhere")).changed,
              ElementsAre("data"));
}

TEST(ReloadPlanTest, WhatIsMadeOncePerProcessNeedsARestart) {
  EXPECT_THAT(
      refused(with_top(""), read("listen: 127.0.0.1:80\nledger: {sqlite: other.db}\n", kData)),
      ElementsAre(HasSubstr("`ledger.sqlite` has changed, which needs a restart")));
  EXPECT_THAT(refused(with_top(""), read("listen: 127.0.0.1:80\n"
                                         "ledger: {sqlite: ledger.db, cache_keys: 5}\n",
                                         kData)),
              ElementsAre(HasSubstr("`ledger.cache_keys`")));
  EXPECT_THAT(
      refused(with_top(""), with_top("threads: {io: 1, workers: 2}\nlog: {format: json}\n")),
      ElementsAre(HasSubstr("`threads.io`"), HasSubstr("`threads.workers`"),
                  HasSubstr("`log.format`")));
  // The same file, written otherwise.
  EXPECT_THAT(
      refused(with_top(""), read("listen: 127.0.0.1:80\nledger: {sqlite: /w/ledger.db}\n", kData)),
      IsEmpty());
}

TEST(ReloadPlanTest, AnAddressThatOurOwnSocketsExcludeNeedsARestart) {
  const auto at = [](std::string_view listen, std::string_view admin) {
    return read(fmt::format("listen: \"{}\"\nadmin: {{listen: \"{}\", token: abcdefghijklmnop}}\n"
                            "ledger: {{sqlite: ledger.db}}\n",
                            listen, admin),
                kData);
  };
  const ResolvedConfig running = at("127.0.0.1:80", "127.0.0.1:81");
  EXPECT_THAT(refused(running, at("0.0.0.0:80", "127.0.0.1:81")),
              ElementsAre("0.0.0.0:80 cannot be opened while this server listens on 127.0.0.1:80, "
                          "which needs a restart"));
  EXPECT_THAT(refused(running, at("127.0.0.1:81", "127.0.0.1:80")), testing::SizeIs(2));
  EXPECT_THAT(refused(running, at("127.0.0.2:80", "127.0.0.1:82")), IsEmpty());
  EXPECT_THAT(refused(running, at("[::]:80", "[::1]:81")), IsEmpty());
  EXPECT_THAT(refused(at("[::1]:80", "127.0.0.1:81"), at("[::]:80", "127.0.0.1:81")),
              testing::SizeIs(1));
  EXPECT_THAT(refused(at("127.0.0.1:0", "127.0.0.1:0"), at("0.0.0.0:0", "127.0.0.1:0")), IsEmpty());
}

TEST(ReloadPlanTest, TheSameFilesKeepTheirFence) {
  EXPECT_THAT(refused(with_data(""), with_data("fence: one, ")),
              ElementsAre(HasSubstr("those that run would not be stopped by a newer token")));
  EXPECT_THAT(refused(with_data("fence: one, "), with_data("")), testing::SizeIs(1));
  EXPECT_THAT(refused(with_data(""), with_data("fence: one, ", "elsewhere")), IsEmpty());
  // Another name, so another key; unless the fence is named.
  const std::string renamed = "  - {name: new, match: \"/data/{path...}\", files: {root: data}}\n";
  EXPECT_THAT(refused(with_routes(kData), with_routes(renamed)), testing::SizeIs(1));
  EXPECT_THAT(
      refused(with_data("fence: \"data/{path...}\", "),
              with_routes("  - {name: new, match: \"/x/{path...}\", fence: \"data/{path...}\", "
                          "files: {root: data}}\n")),
      IsEmpty());
  // Where nobody writes, before and after, nothing can land.
  EXPECT_THAT(refused(with_data("methods: [GET], "), with_data("methods: [GET], fence: one, ")),
              IsEmpty());
  EXPECT_THAT(refused(with_data("methods: [GET], "), with_data("fence: one, ")),
              testing::SizeIs(1));
}

TEST(ReloadPlanTest, AnOpenRootKeepsItsSyncAndItsNeighbours) {
  EXPECT_THAT(refused(with_data(""), with_data("", "data", ", sync: none")),
              ElementsAre(HasSubstr("`files.sync` of the files root")));
  EXPECT_THAT(refused(with_data(""), with_data("", "data/inner")),
              ElementsAre(HasSubstr("are inside one another")));
  EXPECT_THAT(refused(with_data("", "data/inner"), with_data("")), testing::SizeIs(1));
}

/// A route `x` with this backend and these keys more.
ResolvedConfig with_backend(std::string_view backend, std::string_view keys = "") {
  return with_routes(fmt::format("  - {{name: x, match: \"/x/{{p...}}\", {}{}}}\n", keys, backend));
}

TEST(ReloadPlanTest, SeesChangesOfEveryBackend) {
  const auto changed = [](std::string_view before, std::string_view after) {
    return plan_reload(with_backend(before), {}, with_backend(after)).changed;
  };
  const std::string sqlite = "sqlite: {database: d, table: t}";
  const std::string http = "http: {upstream: \"http://h/a\"}";
  EXPECT_THAT(changed(sqlite, sqlite), IsEmpty());
  EXPECT_THAT(changed(http, http), IsEmpty());
  EXPECT_THAT(changed(sqlite, http), ElementsAre("x"));
  EXPECT_THAT(changed("files: {root: d}", sqlite), ElementsAre("x"));
  EXPECT_THAT(changed(sqlite, "sqlite: {database: e, table: t}"), ElementsAre("x"));
  EXPECT_THAT(changed(sqlite, "sqlite: {database: d, table: t, statements: {s: X}}"),
              ElementsAre("x"));
  EXPECT_THAT(changed(http, "http: {upstream: \"http://h/b\"}"), ElementsAre("x"));
  EXPECT_THAT(changed(http, "http: {upstream: \"http://h/a\", settle: 2m}"), ElementsAre("x"));
}

TEST(ReloadPlanTest, AnOpenDatabaseKeepsItsFenceAndItsMarks) {
  const ResolvedConfig running = with_backend("sqlite: {database: d}");
  EXPECT_THAT(refused(running, with_backend("sqlite: {database: d}", "fence: one, ")),
              ElementsAre(HasSubstr("the fence of the table `documents` of the database")));
  EXPECT_THAT(refused(running, with_backend("sqlite: {database: d, marks: m}")),
              ElementsAre(HasSubstr("`sqlite.marks` of the database \"/w/d\" differs")));
  EXPECT_THAT(refused(running, with_backend("sqlite: {database: d, columns: {key: k, value: v}}")),
              ElementsAre(HasSubstr("`sqlite.columns` of the table `documents`")));
  EXPECT_THAT(refused(running, with_backend("sqlite: {database: e}", "fence: one, ")), IsEmpty());
  EXPECT_THAT(refused(running, with_backend("sqlite: {database: d, statements: {s: X}}")),
              IsEmpty());
}

TEST(ReloadPlanTest, AnOpenUpstreamKeepsItsFenceAndItsNeighbours) {
  const ResolvedConfig running = with_backend("http: {upstream: \"http://h/a\"}");
  EXPECT_THAT(refused(running, with_backend("http: {upstream: \"http://h/a\"}", "fence: one, ")),
              ElementsAre(HasSubstr("the fence of the upstream http://h:80/a would be")));
  EXPECT_THAT(refused(running, with_backend("http: {upstream: \"http://h\"}")),
              ElementsAre(HasSubstr("are inside one another")));
  EXPECT_THAT(refused(running, with_backend("http: {upstream: \"http://i/a\"}", "fence: one, ")),
              IsEmpty());
  EXPECT_THAT(refused(running, with_backend("http: {upstream: \"http://h/a\", commit: plain}")),
              IsEmpty());
}

TEST(ReloadPlanTest, EarlierConfigurationsCountWhileTheyAreServed) {
  const ResolvedConfig earlier = with_data("");
  const ResolvedConfig running = with_data("", "elsewhere");
  const std::vector<const ResolvedConfig*> served{&earlier};
  EXPECT_THAT(plan_reload(running, {}, with_data("fence: one, ")).refused, IsEmpty());
  const ReloadPlan plan = plan_reload(running, served, with_data("fence: one, "));
  ASSERT_THAT(plan.refused, testing::SizeIs(1));
  EXPECT_THAT(plan.refused[0].message, HasSubstr("reload again when they have ended"));
  EXPECT_EQ(plan.refused[0].place.line, 4);
}

}  // namespace
}  // namespace fenceline::proxy
