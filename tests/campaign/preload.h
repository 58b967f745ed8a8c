#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/faults/preload/calls.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {

/// The n-th call of its kind does `what`: fails with the error of that name, or, as "short", writes
/// half. See tests/faults/preload.
struct Injection {
  Call call = Call::kOpen;
  std::size_t n = 0;
  std::string what;
};

std::string text_of(const Injection& injection);

/// Reads what `text_of` writes; throws if it is something else.
Injection injection_of(const std::string& text);

/// The calls of a server on files below a folder, counted, and one of them made to fail.
class CallRecorder {
 public:
  /// Watches files below `folder`; keeps its log as the file `log`, made anew by each
  /// `environment`.
  CallRecorder(std::string folder, std::string log)
      : folder_(std::move(folder)), log_(std::move(log)) {}

  /// For a server in which nothing, or one call, fails.
  [[nodiscard]] ServerProcess::Environment environment() const;
  [[nodiscard]] ServerProcess::Environment environment(const Injection& injection) const;

  /// How many calls of each kind there have been.
  [[nodiscard]] std::map<Call, std::size_t> counts() const;

  /// The path of the call that was made to fail; empty while none was.
  [[nodiscard]] std::string failed_path() const;

  /// Whether a `call` on the same path worked after the one that failed.
  [[nodiscard]] bool worked_later(Call call) const;

 private:
  std::string folder_;
  std::string log_;
};

/// The wall clock of a server, apart from that of this process.
class WallClock {
 public:
  /// Shared with the server as the file `file`.
  explicit WallClock(std::string file);
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

  [[nodiscard]] ServerProcess::Environment environment() const;

  /// Puts it that far from the real time, at once.
  void jump_to(std::chrono::seconds from_real_time);

 private:
  std::string file_;
  std::atomic<std::int64_t>* offset_ns_ = nullptr;
};

}  // namespace fenceline::testing
