// Every system call on a file fails once, in every way, while the server starts and works.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/campaign/preload.h"
#include "tests/campaign/scripted_work.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

std::string config_in(const TempFolder& folder) {
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
                     folder.at("ledger.db"), folder.at("exports"));
}

// Most of an injection is waiting for fsyncs.
constexpr std::size_t kAtOnce = 4;

/// What came of some injections.
struct Found {
  std::size_t reached = 0;
  std::size_t refused_to_start = 0;
  std::size_t acknowledged = 0;
  std::size_t wrong_successes = 0;  ///< After a failed fsync.
  Broken broken{};

  void add(const Found& other) {
    reached += other.reached;
    refused_to_start += other.refused_to_start;
    acknowledged += other.acknowledged;
    wrong_successes += other.wrong_successes;
    broken.add(other.broken);
  }
};

class InjectionTest : public ::testing::Test {
 protected:
  /// How many calls of each kind the work makes when nothing fails.
  static std::map<Call, std::size_t> count_calls() {
    const TempFolder folder;
    const TempFolder logs;
    const CallRecorder recorder(folder.path().string(), logs.at("calls.log"));
    FilesServer server(config_in(folder), recorder.environment());
    ScriptedWork work(server, [] { return false; });
    work.run();
    EXPECT_EQ(server.process().stop(), 0);
    std::map<Call, std::size_t> counts = recorder.counts();
    server.restart();
    work.run_without_faults();
    EXPECT_THAT(violations_of(work.history()), IsEmpty());
    return counts;
  }

  /// Or only that of FENCELINE_INJECTION.
  static std::vector<Injection> all_injections() {
    std::vector<Injection> all;
    if (const char* only = std::getenv("FENCELINE_INJECTION"); only != nullptr) {
      all.push_back(injection_of(only));
      return all;
    }
    for (const auto& [call, count] : count_calls()) {
      for (std::size_t n = 1; n <= count; ++n) {
        for (const char* error : {"EIO", "ENOSPC", "EMFILE", "EINTR"}) {
          all.push_back({call, n, error});
        }
        if (call == Call::kWrite || call == Call::kPwrite) {
          all.push_back({call, n, "short"});
        }
      }
    }
    return all;
  }

  /// No success rests on an fsync that failed: not that of a request during which it failed, and
  /// none of a later one that needs the same file system (the root takes no writes until restart)
  /// or the same ledger (no new mark until restart).
  /// Gives how many there are.
  static std::size_t expect_no_success_after_failed_fsync(const ScriptedWork& work,
                                                          const std::string& failed_path) {
    std::size_t wrong = 0;
    const bool in_root = failed_path.find("/exports") != std::string::npos;
    std::map<std::string, std::int64_t> durable;  // Tokens with which something was accepted.
    for (const ScriptedWork::Step& step : work.steps()) {
      const Operation& operation = step.operation;
      const bool done = operation.outcome == Outcome::kDone && operation.token != 0;
      const bool failed = step.failed_before || (step.alone && step.failed_after);
      const bool needed_it =
          in_root ? operation.kind != Kind::kRead : operation.token > durable[operation.key];
      if (done && failed && needed_it) {
        ADD_FAILURE() << text_of(operation) << " after the failed fsync of " << failed_path;
        ++wrong;
      }
      if (done) {
        durable[operation.key] = std::max(durable[operation.key], operation.token);
      }
    }
    return wrong;
  }

  static Found inject(const Injection& injection) {
    const TempFolder folder;
    const TempFolder logs;
    const CallRecorder recorder(folder.path().string(), logs.at("calls.log"));
    Found found;
    FilesServer server(config_in(folder), FilesServer::Stopped{});
    server.set_environment(recorder.environment(injection));
    ScriptedWork work(server, [&] { return !recorder.failed_path().empty(); });
    try {
      server.restart();
    } catch (const std::exception&) {
      EXPECT_THAT(contents_of(server.at("stderr.log")), HasSubstr(" start_failed: "));
      found.refused_to_start = 1;
    }
    if (found.refused_to_start == 0) {
      work.run();
      EXPECT_EQ(server.admin("/healthz").status, 200);
      // SQLite ignores a failed sync of the folder of its log. The server syncs that folder itself
      // before it serves, and that one counts.
      const bool synced_again = injection.call == Call::kFdatasync &&
                                recorder.failed_path() == folder.path().string() &&
                                recorder.worked_later(Call::kFsync);
      if ((injection.call == Call::kFsync || injection.call == Call::kFdatasync) && !synced_again) {
        found.wrong_successes = expect_no_success_after_failed_fsync(work, recorder.failed_path());
      }
      // A clean stop has calls of its own that can fail; a kill must not need them.
      injection.n % 2 == 0 ? server.kill() : void(server.process().stop());
    }
    found.reached = recorder.failed_path().empty() ? 0 : 1;

    const std::size_t steps = work.steps().size();
    server.set_environment({});
    server.restart();
    EXPECT_EQ(server.temporary_files(folder.at("exports")), 0U);
    work.run_without_faults();
    EXPECT_EQ(server.metric("fenceline_staged_bytes"), 0);
    for (std::size_t i = 0; i < steps; ++i) {
      const Operation& operation = work.steps()[i].operation;
      found.acknowledged +=
          operation.outcome == Outcome::kDone && operation.kind == Kind::kWrite ? 1 : 0;
    }
    const std::vector<std::string> violations = violations_of(work.history());
    found.broken.add(violations);
    EXPECT_THAT(violations, IsEmpty());
    return found;
  }

  /// Takes one after the other from `injections` until `next` is behind the last.
  static Found inject_all(const std::vector<Injection>& injections, std::atomic<std::size_t>& next,
                          const std::string& replayed_by) {
    SCOPED_TRACE(replayed_by);
    Found found;
    for (std::size_t i = next++; i < injections.size(); i = next++) {
      SCOPED_TRACE("FENCELINE_INJECTION=" + text_of(injections[i]));
      try {
        found.add(inject(injections[i]));
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
    return found;
  }
};

TEST_F(InjectionTest, NoFailedCallBreaksThePromise) {
  const std::uint64_t seed = campaign_seed();
  const std::vector<Injection> all = all_injections();
  const std::size_t wanted = std::min(campaign_count(100, all.size()), all.size());
  // Evenly over all of them, each time from another place.
  std::vector<Injection> chosen;
  std::set<Call> calls;
  for (std::size_t i = 0; i < wanted; ++i) {
    chosen.push_back(all[(i * all.size() / wanted + seed) % all.size()]);
    calls.insert(chosen.back().call);
  }

  std::atomic<std::size_t> next = 0;
  std::vector<std::future<Found>> running;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    running.push_back(std::async(
        std::launch::async, [&] { return inject_all(chosen, next, replay("injection", seed)); }));
  }
  Found found;
  for (std::future<Found>& each : running) {
    found.add(each.get());
  }
  // Requests that run at once share calls differently each time, so a late one may not come.
  EXPECT_GE(found.reached, wanted * 9 / 10);
  EXPECT_TRUE(found.refused_to_start < found.reached || wanted == 1) << "no work was done";
  print_summary("injection",
                fmt::format("{} of {} injections in {} kinds of call, {} at a start that was "
                            "refused, {} acknowledged writes, {} successes after a failed fsync",
                            found.reached, all.size(), calls.size(), found.refused_to_start,
                            found.acknowledged, found.wrong_successes),
                found.broken, seed);
}

}  // namespace
}  // namespace fenceline::testing
