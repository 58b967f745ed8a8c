#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"

namespace fenceline::client {

/// The terminal that `fenceline run` was started from in the foreground, if there is one. The
/// command gets it (its group becomes the foreground one, so that it can read, and Ctrl-C reaches
/// it), and `run` takes it back.
class Terminal {
 public:
  Terminal();

  /// There is one, and this process was in its foreground.
  [[nodiscard]] bool is_ours() const { return fd_.valid(); }

  /// It is, and this process is in its foreground again.
  [[nodiscard]] bool is_in_front() const;

  /// Gives it to a group of this session.
  void give_to(pid_t group) const;

  /// For the shell that waits for this process.
  void take_back() const;

 private:
  base::UniqueFd fd_;
};

}  // namespace fenceline::client
