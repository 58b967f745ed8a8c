#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"
#include "tests/system/lease_server.h"

namespace fenceline::testing {

/// True while there is a process with this number that is more than a zombie.
bool is_running(pid_t pid);

/// `fenceline run` in front of the real lease service.
class RunFixture : public ::testing::Test {
 protected:
  static constexpr const char* kKey = "exports/acme";

  RunFixture();

  /// Ends the server and starts it on the same port.
  void restart_server();

  [[nodiscard]] std::string source();

  /// `fenceline run --key … --source … <options> -- sh -c <script>`, its input fed by the test.
  std::unique_ptr<ChildProcess> run(std::vector<std::string> options, const std::string& script);

  /// The binary with these arguments.
  std::unique_ptr<ChildProcess> fenceline(std::vector<std::string> arguments);

  /// Waits until `process` has written `text`.
  static void wait_for(const ChildProcess& process, const std::string& text);

  /// The number after `name=` in what `process` has written, which is waited for.
  static pid_t number(const ChildProcess& process, const std::string& name);

  /// The key is free, as the server has it.
  bool is_free() { return server_.show(kKey).status == 404; }

  LeaseServer server_;
  TempFolder folder_;

 private:
  int runs_ = 0;
};

}  // namespace fenceline::testing
