#pragma once

#include <cstdint>
#include <string>

#include "tests/support/history.h"
#include "tests/support/raw_client.h"

namespace fenceline::testing {

/// Which answers a recorded request may get beside success, absence and `stale-token`.
enum class Trouble : std::uint8_t {
  kNone,
  /// Also what the contract has for a disk or a ledger that fails (docs/failure-modes.md).
  kStorageMayFail,
  /// Also what it has for an upstream that fails or has writes of unknown outcome.
  kUpstreamMayFail,
};

/// What the write `value` under `token` writes. It says who wrote it, and its length and every byte
/// follow from that, up to `most_bytes` of them: torn content is noticed.
std::string content_of(std::int64_t token, std::int64_t value, std::size_t most_bytes);

/// The whole request of `operation`.
std::string request_of(const Operation& operation, std::size_t most_bytes);

/// Puts what `answer` says into `operation`: its outcome, and what a read has seen. False if the
/// contract has no such answer.
bool understand(const Response& answer, Operation& operation, std::size_t most_bytes,
                Trouble trouble = Trouble::kNone);

/// True if `operation` is a read that saw torn content.
bool is_torn(const Operation& operation);

}  // namespace fenceline::testing
