#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "client/run/guard_messages.h"
#include "client/run/signal_state.h"
#include "client/run/terminal.h"

namespace fenceline::client {

/// What the guard of a run has to know before it starts.
struct GuardSetup {
  std::vector<std::string> command;
  base::Milliseconds grace{0};
};

/// The process between `fenceline run` and its command. It alone ends the command: when it is told
/// that the lease is lost; when the deadline it was given passes without a new one, so also while
/// `run` is stopped, hangs or is starved; and when `run` is gone. All descendants of the command
/// come to it and end with it, also those that have left the group. If the guard itself is killed,
/// the kernel kills the command, and `run` what is left.
class Guard {
 public:
  /// Starts it. Before any thread is: it goes on in a copy of this process. Throws
  /// `std::system_error` if there can be none.
  Guard(GuardSetup setup, const SignalState& signals, const Terminal& terminal);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  ~Guard() { clean_up(); }

  void tell(const GuardOrder& order) const;

  /// Readable when `next` has something.
  [[nodiscard]] int fd() const { return socket_.get(); }

  /// What it has said; nothing if there is nothing new.
  std::optional<GuardReport> next();

  /// It has died without saying how the command ended.
  [[nodiscard]] bool is_gone() const { return is_gone_; }

  /// Ends it, and waits until it is gone, with all that it may have left behind.
  void clean_up();

 private:
  base::UniqueFd socket_;
  pid_t pid_ = -1;
  std::vector<pid_t> children_before_;  ///< Of this process: not of the command.
  bool is_gone_ = false;
};

}  // namespace fenceline::client
