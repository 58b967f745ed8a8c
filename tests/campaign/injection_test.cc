// Every system call on a file fails once, in every way, while the server starts and works.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
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

/// What came of one injection.
struct Found {
  bool reached = false;
  bool refused_to_start = false;
  std::size_t acknowledged = 0;
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
    const std::map<Call, std::size_t> counts = recorder.counts();
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
  void expect_no_success_after_failed_fsync(const ScriptedWork& work,
                                            const std::string& failed_path) {
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
        ++wrong_successes_;
      }
      if (done) {
        durable[operation.key] = std::max(durable[operation.key], operation.token);
      }
    }
  }

  Found inject(const Injection& injection) {
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
      found.refused_to_start = true;
    }
    if (!found.refused_to_start) {
      work.run();
      EXPECT_EQ(server.admin("/healthz").status, 200);
      // SQLite ignores a failed sync of the folder of its log. The server syncs that folder itself
      // before it serves, and that one counts.
      const bool synced_again = injection.call == Call::kFdatasync &&
                                recorder.failed_path() == folder.path().string() &&
                                recorder.worked_later(Call::kFsync);
      if ((injection.call == Call::kFsync || injection.call == Call::kFdatasync) && !synced_again) {
        expect_no_success_after_failed_fsync(work, recorder.failed_path());
      }
      // A clean stop has calls of its own that can fail; a kill must not need them.
      injection.n % 2 == 0 ? server.kill() : void(server.process().stop());
    }
    found.reached = !recorder.failed_path().empty();

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
    broken_.add(violations);
    EXPECT_THAT(violations, IsEmpty());
    return found;
  }

  Broken broken_;
  std::size_t wrong_successes_ = 0;
};

TEST_F(InjectionTest, NoFailedCallBreaksThePromise) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("injection", seed));
  const std::vector<Injection> all = all_injections();
  const std::size_t wanted = std::min(campaign_count(100, all.size()), all.size());
  std::size_t reached = 0;
  std::size_t refused = 0;
  std::size_t acknowledged = 0;
  std::set<Call> calls;
  // Evenly over all of them, each time from another place.
  for (std::size_t i = 0; i < wanted; ++i) {
    const Injection& injection = all[(i * all.size() / wanted + seed) % all.size()];
    SCOPED_TRACE(text_of(injection));
    const Found found = inject(injection);
    reached += found.reached ? 1 : 0;
    refused += found.refused_to_start ? 1 : 0;
    acknowledged += found.acknowledged;
    calls.insert(injection.call);
  }
  // Requests that run at once share calls differently each time, so a late one may not come.
  EXPECT_GE(reached, wanted * 9 / 10);
  EXPECT_TRUE(refused < reached || wanted == 1) << "no work was done";
  print_summary(
      "injection",
      fmt::format("{} of {} injections in {} kinds of call, {} at a start that was "
                  "refused, {} acknowledged writes, {} successes after a failed fsync",
                  reached, all.size(), calls.size(), refused, acknowledged, wrong_successes_),
      broken_, seed);
}

}  // namespace
}  // namespace fenceline::testing
