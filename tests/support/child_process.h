#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace fenceline::testing {

/// Any program as a child process: curl, or the server's other commands. Its standard output and
/// standard error go to one file. Killed by pid at the end if it still runs.
class ChildProcess {
 public:
  /// Where its standard input comes from.
  enum class Input {
    kNothing,  ///< /dev/null.
    kFed,      ///< A pipe that `feed` writes to.
  };

  /// Starts `arguments[0]`, looked up in PATH. `output_file` is made anew. Throws
  /// `std::runtime_error` if it cannot be started.
  ChildProcess(std::vector<std::string> arguments, std::string output_file,
               Input input = Input::kNothing);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Writes all of `bytes` to its standard input; throws if it does not take them in time, or is
  /// gone.
  void feed(std::string_view bytes) const;

  /// Ends its standard input.
  void end_input() { input_.reset(); }

  /// SIGSTOP; returns when it has really stopped.
  void pause() const;

  /// SIGCONT.
  void resume() const;

  /// Waits for its end and returns the exit code, or 128 + the signal that ended it.
  int wait();

  /// What it has written so far.
  [[nodiscard]] std::string output() const;

 private:
  std::string output_file_;
  base::UniqueFd input_;
  pid_t pid_ = -1;
};

/// Waits until the process `pid`, a child of this one, has stopped; throws if it ends or does not
/// stop in time. It stays a child that can be waited for.
void wait_until_stopped(pid_t pid);

/// The whole file; empty if there is none.
std::string contents_of(const std::string& file);

}  // namespace fenceline::testing
