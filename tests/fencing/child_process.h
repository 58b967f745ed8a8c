#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/unique_fd.h"

namespace fenceline::testing {

/// A forked copy of this process that runs one function. Fork only while this process has a single
/// thread: with no ledger open.
class ChildProcess {
 public:
  /// What the child has of its parent.
  class Parent {
   public:
    Parent(int reports, int orders) : reports_(reports), orders_(orders) {}

    /// Sends a number up. Thread-safe; blocks while the pipe is full.
    void report(std::int64_t number) const;

    /// Waits until the parent lets the child go on (or is gone).
    void wait_for_go() const;

   private:
    int reports_;
    int orders_;
  };

  /// Runs `work` in the child; its result becomes the exit status.
  explicit ChildProcess(const std::function<int(const Parent&)>& work);

  /// Kills the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The next number from the child; 0 when it has ended. Throws if nothing comes for a minute.
  std::int64_t next_report();

  /// Numbers that are already on their way from a child that has ended.
  std::vector<std::int64_t> remaining_reports();

  void let_go();

  /// SIGKILL; returns when the process is gone.
  void kill_now();

  /// The exit status of a child that ends by itself; -1 if a signal ended it.
  int join();

 private:
  pid_t pid_ = -1;
  base::UniqueFd reports_;
  base::UniqueFd orders_;
};

}  // namespace fenceline::testing
