#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/takeover_judge.h"
#include "tests/client/source_server.h"
#include "tests/support/child_process.h"

namespace fenceline::testing {

/// `fenceline run` processes that contend for the leases of some tenants at one source, each with a
/// `takeover_worker` that writes to the routes `/exports/{tenant}/out` and `/work/{tenant}/append`.
/// Things go wrong with them on purpose:
///
/// - run, guard and worker are stopped until somebody newer has written; then the worker wakes up
///   first and goes on with its old token;
/// - run alone is stopped until somebody newer has written;
/// - run is killed;
/// - the source is killed and started again.
///
/// One thread, that calls `step` again and again.
class Contenders {
 public:
  static constexpr std::array<const char*, 3> kTenants = {"acme", "beta", "gamma"};

  /// Of what was done.
  struct Counts {
    std::size_t frozen = 0;   ///< Run, guard and worker stopped, and overtaken.
    std::size_t stopped = 0;  ///< Run alone.
    std::size_t killed = 0;
    std::size_t restarts = 0;  ///< Of the source.
  };

  /// `folder` outlives this. `port`: of the routes.
  Contenders(SourceServer& source, std::string folder, std::uint16_t port, std::uint64_t seed);
  ~Contenders();
  Contenders(const Contenders&) = delete;
  Contenders& operator=(const Contenders&) = delete;

  /// Takes a look at everybody: starts, stops, wakes, kills. Throws if a run ends as none may.
  void step();

  /// Wakes everybody, ends all, and takes in what they have still written down.
  void end();

  [[nodiscard]] std::size_t grants() const { return grants_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<TakeoverRun>& runs() const { return runs_; }
  /// By the place of the tenant in `kTenants`.
  [[nodiscard]] const std::vector<TakeoverEvent>& events(std::size_t tenant) const {
    return events_.at(tenant);
  }
  /// What the runs say now, for a failure.
  [[nodiscard]] std::string outputs() const;

 private:
  enum class Fault : std::uint8_t { kNone, kFreeze, kStopRun, kKillRun, kRestartSource };
  enum class State : std::uint8_t { kGoing, kFrozen, kAwake, kRunStopped };

  struct Contender {
    std::size_t tenant = 0;
    std::size_t run = 0;
    std::unique_ptr<ChildProcess> process;
    Fault fault = Fault::kNone;
    std::size_t writes_before_fault = 0;
    State state = State::kGoing;
    // Of its worker, from its first event on.
    pid_t worker = 0;
    pid_t guard = 0;
    std::int64_t token = 0;
    std::size_t writes = 0;
    bool refused = false;
  };

  void start(Contender& contender);
  Fault draw();
  void read_log();
  void take_in(const std::string& line);
  void look_at(Contender& contender);
  void strike(Contender& contender);
  bool freeze(Contender& contender);
  static void wake(Contender& contender);
  void finish(Contender& contender);
  [[nodiscard]] bool is_overtaken(const Contender& contender) const;

  SourceServer& source_;
  std::string folder_;
  std::uint16_t port_;
  std::mt19937_64 random_;
  std::string log_file_;
  std::streamoff log_read_ = 0;
  std::vector<Contender> contenders_;
  std::vector<TakeoverRun> runs_;
  std::array<std::vector<TakeoverEvent>, kTenants.size()> events_;
  std::array<std::int64_t, kTenants.size()> newest_{};  ///< The largest token that was accepted.
  std::vector<Fault> deck_;
  std::size_t grants_ = 0;
  Counts counts_;
};

}  // namespace fenceline::testing
