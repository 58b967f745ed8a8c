#pragma once

// What `fenceline run` and its guard say to each other, each as one packet.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/run/lease_schedule.h"

namespace fenceline::client {

/// To the guard.
struct GuardOrder {
  enum class Kind : std::uint8_t {
    kStart,   ///< Start the command with `environment`; `deadlines` as for `kHold`.
    kHold,    ///< The lease is held: end the command at `deadlines` unless told otherwise.
    kLost,    ///< The lease is lost: end it at `deadlines`.
    kSignal,  ///< Send `signal` to the command.
  };

  Kind kind = Kind::kStart;
  Deadlines deadlines = {};
  int signal = 0;
  std::vector<std::string> environment = {};  ///< Each NAME=value.

  friend bool operator==(const GuardOrder&, const GuardOrder&) = default;
};

/// From the guard.
struct GuardReport {
  enum class Kind : std::uint8_t {
    kStarted,     ///< `number` is the process, which leads its group.
    kNotStarted,  ///< `number` is the errno; nothing follows.
    kStopped,     ///< The command has stopped (job control).
    kEnding,      ///< The lease is lost: TERM has been sent.
    kEnded,       ///< Nothing of it is left; `number` is the status as `waitpid` has it.
  };

  Kind kind = Kind::kStarted;
  int number = 0;
  bool is_lost = false;  ///< With `kEnded`: it was ended because of the lease.

  friend bool operator==(const GuardReport&, const GuardReport&) = default;
};

/// As the bytes of one packet. Pure.
std::string encode(const GuardOrder& order);
std::string encode(const GuardReport& report);

/// Nothing for what `encode` does not make. Pure.
std::optional<GuardOrder> decode_order(std::string_view packet);
std::optional<GuardReport> decode_report(std::string_view packet);

}  // namespace fenceline::client
