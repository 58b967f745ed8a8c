#pragma once

#include <csignal>
#include <vector>

#include "base/unique_fd.h"

namespace fenceline::client {

/// The signals of `fenceline run`: what comes is read from a descriptor instead of being acted on;
/// the command gets them as `run` was started with them. Construct before any thread is started;
/// for the life of the process.
class SignalState {
 public:
  SignalState();

  /// Readable when a signal has come, see `next`.
  [[nodiscard]] int fd() const { return fd_.get(); }

  /// A signal that has come; 0 if there is none.
  [[nodiscard]] int next() const;

  /// In a process that is about to execute the command: mask and dispositions as they were.
  void restore() const;

 private:
  struct Saved {
    int signal;
    struct sigaction action;
  };

  sigset_t mask_{};
  std::vector<Saved> saved_;
  base::UniqueFd fd_;
};

}  // namespace fenceline::client
