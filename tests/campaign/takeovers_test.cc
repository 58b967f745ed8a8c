// Takeovers: many `fenceline run` contend for leases of a real source while they and the source are
// stopped and killed, and their commands write through the fence.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/campaign/contenders.h"
#include "tests/campaign/takeover_judge.h"
#include "tests/client/fenceline_server.h"
#include "tests/client/redis_server.h"
#include "tests/source_servers/etcd_server.h"
#include "tests/source_servers/postgres_server.h"
#include "tests/source_servers/zookeeper_server.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Kind = TakeoverEvent::Kind;
using Sentences = std::vector<std::string>;

/// Both routes have one fence, so each is also fenced by what was written to the other.
std::string routes(bool enforce) {
  return fmt::format(R"yaml(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: work
    match: /work/{{tenant}}/{{statement}}
    fence: exports/{{tenant}}
    enforce: {0}
    sqlite:
      database: work.db
      table: none
      statements:
        append: "INSERT INTO line VALUES(NULL, :tenant, :token, :run, :line)"
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    enforce: {0}
    files: {{root: exports}}
)yaml",
                     enforce);
}

/// Runs `sql` on the database in `file`; gives the integers of each row.
std::vector<std::vector<std::int64_t>> rows(const std::string& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(file.c_str(), &handle) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + file);
  }
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(handle, sqlite3_close);
  sqlite3_busy_timeout(handle, 20'000);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);  // docs/sqlite.md
  std::vector<std::vector<std::int64_t>> found;
  const auto add = [](void* into, int count, char** values, char** /*names*/) {
    auto& row = static_cast<decltype(found)*>(into)->emplace_back();
    for (int i = 0; i < count; ++i) {
      row.push_back(std::stoll(values[i]));
    }
    return 0;
  };
  if (sqlite3_exec(handle, sql.c_str(), add, &found, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle));
  }
  return found;
}

/// What a campaign has found.
struct Findings {
  Sentences grants;         ///< Tokens that did not rise.
  Sentences stale_effects;  ///< Of an older token after a newer one.
  Sentences lost;           ///< Accepted lines that are not there.
  Broken broken;
  std::size_t accepted = 0;
  std::size_t refused = 0;
};

class Takeovers {
 public:
  Takeovers(SourceServer& source, bool enforce, std::uint64_t seed)
      : server_(routes(enforce), FilesServer::Stopped{}) {
    rows(server_.at("work.db"),
         "CREATE TABLE line(id INTEGER PRIMARY KEY, tenant TEXT, token INTEGER, run INTEGER,"
         " line INTEGER)");
    server_.restart();
    contenders_ =
        std::make_unique<Contenders>(source, server_.at("."), server_.process().port(), seed);
  }

  /// Until there were so many grants; throws if it comes to a halt.
  void go_on_until(std::size_t grants) {
    constexpr std::chrono::seconds kHalt{120};
    while (contenders_->grants() < grants) {
      const std::size_t before = contenders_->grants();
      try {
        wait_until(
            "the next grant",
            [&] {
              contenders_->step();
              read_files();
              return contenders_->grants() > before;
            },
            kHalt);
      } catch (const std::runtime_error& error) {
        throw std::runtime_error(std::string(error.what()) + "\n" + contenders_->outputs());
      }
    }
  }

  Findings end() {
    contenders_->end();
    read_files();
    Findings findings;
    for (std::size_t i = 0; i < Contenders::kTenants.size(); ++i) {
      judge(i, findings);
    }
    findings.broken.stale_effects = findings.stale_effects.size();
    findings.broken.lost_acknowledgements = findings.lost.size();
    return findings;
  }

  [[nodiscard]] const Contenders& contenders() const { return *contenders_; }

 private:
  static void add(Sentences& to, const Sentences& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void read_files() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const auto content =
          server_.content(fmt::format("/exports/{}/out", Contenders::kTenants.at(i)));
      if (!content) {
        continue;
      }
      if (content->empty() || content->find_first_not_of("0123456789") != std::string::npos) {
        ++torn_;
      } else if (const auto token = std::stoll(*content);
                 seen_.at(i).empty() || seen_.at(i).back() != token) {
        seen_.at(i).push_back(token);
      }
    }
  }

  void judge(std::size_t tenant, Findings& findings) {
    const std::string name = Contenders::kTenants.at(tenant);
    const auto& events = contenders_->events(tenant);
    add(findings.grants, judge_grants(contenders_->runs(), events));
    add(findings.stale_effects, judge_writes(events));
    add(findings.stale_effects, judge_order("the file of " + name, seen_.at(tenant)));

    std::vector<std::int64_t> tokens;
    std::map<std::size_t, std::size_t> lines;
    for (const auto& row :
         rows(server_.at("work.db"),
              fmt::format("SELECT token, run FROM line WHERE tenant='{}' ORDER BY id", name))) {
      tokens.push_back(row.at(0));
      ++lines[static_cast<std::size_t>(row.at(1))];
    }
    add(findings.stale_effects, judge_order("the lines of " + name, tokens));

    std::map<std::size_t, std::size_t> promised;
    std::int64_t newest = 0;
    for (const TakeoverEvent& event : events) {
      findings.accepted += event.accepted() ? 1 : 0;
      findings.refused += event.status == 412 ? 1 : 0;
      promised[event.run] += event.accepted() && event.kind == Kind::kLines ? 1 : 0;
      newest = event.accepted() ? std::max(newest, event.token) : newest;
    }
    for (const auto& [run, count] : promised) {
      if (lines[run] < count) {
        findings.lost.push_back(
            fmt::format("run {}: {} lines were accepted, {} are there", run, count, lines[run]));
      }
    }
    findings.broken.torn_reads = torn_;
    findings.broken.lost_marks += server_.mark("exports/" + name) < newest ? 1 : 0;
  }

  FilesServer server_;
  std::unique_ptr<Contenders> contenders_;
  std::array<std::vector<std::int64_t>, Contenders::kTenants.size()> seen_;
  std::size_t torn_ = 0;
};

struct SourceKind {
  const char* name;
  std::function<std::unique_ptr<SourceServer>()> make;

  friend std::ostream& operator<<(std::ostream& out, const SourceKind& kind) {
    return out << kind.name;
  }
};

class TakeoversTest : public ::testing::TestWithParam<SourceKind> {};

TEST_P(TakeoversTest, NoTakeoverLetsAStaleWriteThrough) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("takeovers", seed));
  const auto source = GetParam().make();
  Takeovers takeovers(*source, true, seed);
  takeovers.go_on_until(campaign_count(50, 1000));
  const Findings findings = takeovers.end();
  EXPECT_THAT(findings.grants, IsEmpty());
  EXPECT_THAT(findings.stale_effects, IsEmpty());
  EXPECT_THAT(findings.lost, IsEmpty());
  EXPECT_EQ(findings.broken.torn_reads, 0U);
  EXPECT_EQ(findings.broken.lost_marks, 0U);

  // Otherwise nothing was tried.
  const Contenders::Counts& counts = takeovers.contenders().counts();
  EXPECT_GE(counts.frozen, 1U);
  EXPECT_GE(counts.killed, 1U);
  EXPECT_GE(counts.restarts, 1U);
  EXPECT_GE(findings.refused, 1U);
  print_summary(
      "takeovers",
      fmt::format(
          "{}, {} grants to {} runs, {} holders frozen and overtaken, {} only their run, {} "
          "runs killed, {} restarts of the source, {} accepted writes, {} refused as stale, "
          "{} tokens that did not rise",
          GetParam().name, takeovers.contenders().grants(), takeovers.contenders().runs().size(),
          counts.frozen, counts.stopped, counts.killed, counts.restarts, findings.accepted,
          findings.refused, findings.grants.size()),
      findings.broken, seed);
}

INSTANTIATE_TEST_SUITE_P(
    Sources, TakeoversTest,
    ::testing::Values(
        SourceKind{"Fenceline", [] { return std::make_unique<FencelineServer>(); }},
        SourceKind{"Redis", [] { return std::make_unique<RedisSourceServer>(); }},
        SourceKind{"Redlock", [] { return std::make_unique<RedlockServer>(3); }},
        SourceKind{"Etcd", [] { return std::make_unique<EtcdServer>(EtcdServer::Settings{}); }},
        SourceKind{"ZooKeeper", [] { return std::make_unique<ZooKeeperServer>(); }},
        SourceKind{"Postgres", [] { return std::make_unique<PostgresServer>(); }}),
    [](const auto& param) { return std::string(param.param.name); });

// The judge is worth nothing if it cannot tell.
TEST(UnfencedTakeoversTest, TheJudgeNoticesRoutesThatDoNotFence) {
  FencelineServer source;
  Takeovers takeovers(source, false, 1);
  while (takeovers.contenders().counts().frozen < 3) {
    takeovers.go_on_until(takeovers.contenders().grants() + 1);
  }
  const Findings findings = takeovers.end();
  EXPECT_THAT(findings.grants, IsEmpty());
  EXPECT_THAT(findings.stale_effects, ::testing::Contains(::testing::HasSubstr("was accepted")));
  EXPECT_THAT(findings.stale_effects, ::testing::Contains(::testing::HasSubstr("the lines of")));
}

TEST(TakeoverJudgeTest, TokensThatDoNotRiseAreSeen) {
  const std::vector<TakeoverRun> runs = {{"k", 10}, {"k", 20}, {"k", 30}};
  const auto grant = [](std::size_t run, std::int64_t token, std::int64_t at_ns) {
    return TakeoverEvent{run, token, Kind::kStart, 0, at_ns, at_ns};
  };
  EXPECT_THAT(judge_grants(runs, {grant(0, 1, 15), grant(1, 2, 25), grant(2, 3, 35)}), IsEmpty());
  // Run 1 was waiting when run 0 got its token: either may be the older.
  EXPECT_THAT(judge_grants(runs, {grant(0, 2, 25), grant(1, 1, 26)}), IsEmpty());
  EXPECT_THAT(judge_grants(runs, {grant(0, 2, 15), grant(1, 1, 25)}), Not(IsEmpty()));
  EXPECT_THAT(judge_grants(runs, {grant(0, 2, 25), grant(1, 2, 26)}), Not(IsEmpty()));
}

}  // namespace
}  // namespace fenceline::testing
