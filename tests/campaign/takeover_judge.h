#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fenceline::testing {

/// What the command of one `fenceline run` did under its token. Times are of the steady clock.
struct TakeoverEvent {
  enum class Kind : std::uint8_t { kStart, kFiles, kLines };

  std::size_t run = 0;
  std::int64_t token = 0;
  Kind kind = Kind::kStart;
  int status = 0;  ///< Of the answer; 0: there was none.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  [[nodiscard]] bool accepted() const { return status >= 200 && status < 300; }
};

/// One `fenceline run`: before it was started there was no order of it.
struct TakeoverRun {
  std::string key;
  std::int64_t started_ns = 0;
};

/// The grants of one key whose token is not larger than that of every grant whose command had
/// started before their `run` was, and those whose token was given before; one sentence each.
/// `runs` are indexed by `TakeoverEvent::run`. All events are of one key.
std::vector<std::string> judge_grants(const std::vector<TakeoverRun>& runs,
                                      const std::vector<TakeoverEvent>& events);

/// The accepted writes of one fence that began after one with a larger token had its answer.
std::vector<std::string> judge_writes(const std::vector<TakeoverEvent>& events);

/// The places where tokens, in the order in which they took effect, go down.
std::vector<std::string> judge_order(const std::string& what,
                                     const std::vector<std::int64_t>& tokens);

}  // namespace fenceline::testing
