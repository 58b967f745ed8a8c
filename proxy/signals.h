#pragma once

namespace fenceline::proxy {

/// Signals of the process. Construct before any thread is started, so that every thread inherits
/// the mask: SIGTERM, SIGINT and SIGHUP are then only taken by `wait`. Ignores SIGPIPE (a client
/// that went away) and SIGXFSZ (a file-size limit is an ordinary write error, EFBIG).
class Signals {
 public:
  Signals();

  /// Waits for the next SIGTERM, SIGINT or SIGHUP and returns it. One thread.
  [[nodiscard]] int wait() const;

  /// From now on SIGTERM and SIGINT end the process at once: for a stop that takes too long. SIGHUP
  /// stays blocked: there is nothing left to reload.
  static void end_at_next_signal();
};

}  // namespace fenceline::proxy
