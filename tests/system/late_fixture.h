#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/delaying_relay.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {

/// The resource of the late writes, by its route and by another one that shares its fence, and the
/// fence key.
inline constexpr std::string_view kLatePath = "/exports/acme/report.csv";
inline constexpr std::string_view kOtherRoute = "/reports/acme/report.csv";
inline constexpr std::string_view kLateKey = "exports/acme";

inline constexpr std::string_view kBefore = "before";
inline constexpr std::string_view kOfB = "the report of worker B";

/// More than is kept: in plain mode it streams upstream while it arrives, but for its end.
inline std::string upload_of_a() { return std::string(200'000, 'A'); }

/// The real server in front of a relay to an upstream, which makes writes late. Worker A has token
/// 33, worker B takes over with 34. Who owns the upstream calls `end` in its destructor.
class LateWriteTest : public ::testing::Test {
 protected:
  /// Starts with an http route, whose further settings are `settings`, such as `commit: move`, and
  /// a files route that shares its fence.
  void serve(std::uint16_t upstream, std::string_view settings);

  void end();

  /// A's upload is parked at the request that begins so, and A is told that nobody knows.
  void lose_upload_of_a(const std::string& beginning);

  static void expect_unknown(const Response& answer);

  /// B waits for A's write, on both routes and also if it only reads; others do not. `words`: of
  /// the detail. `says_how_long`: by the window of an hour.
  void expect_b_waits(std::string_view words, bool says_how_long = true);

  /// Nothing of the key is unsettled, and A is out.
  void expect_all_settled();

  /// By the operator, with the real command.
  void settle_key();

  std::optional<DelayingRelay> relay_;
  std::optional<FilesServer> server_;
};

}  // namespace fenceline::testing
