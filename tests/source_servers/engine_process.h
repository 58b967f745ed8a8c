#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {

/// One process of a lock service. It ends with the test program, however that ends.
class EngineProcess {
 public:
  /// `output_file` has what it says, from the last start. `user`: whom it runs as if the tests run
  /// as root; empty: as the tests.
  EngineProcess(std::vector<std::string> arguments, std::string output_file, std::string user = {});

  /// Starts it; it must not run.
  void start();

  /// SIGKILL to it and to its children; returns when they have ended.
  void kill();

  void pause() const { process_->pause(); }
  void resume() const { process_->resume(); }

  /// Waits for its end; throws with what it said if that is no success.
  void wait_for_success();

  /// Waits until `condition` is true; throws with what the process has said if it does not in time.
  template <typename Condition>
  void wait_until_ready(std::string_view what, Condition condition) const;

 private:
  void check_that_it_runs(std::string_view what) const;

  std::vector<std::string> arguments_;
  std::string output_file_;
  std::unique_ptr<ChildProcess> process_;
};

template <typename Condition>
void EngineProcess::wait_until_ready(std::string_view what, Condition condition) const {
  constexpr std::chrono::seconds kStart{90};
  try {
    wait_until(
        what,
        [&] {
          check_that_it_runs(what);
          return condition();
        },
        kStart);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + "; it said:\n" + process_->output());
  }
}

}  // namespace fenceline::testing
