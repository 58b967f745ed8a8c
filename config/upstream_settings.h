#pragma once

// What is configured alike for every upstream that speaks HTTP: plain data, with the defaults.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "config/upstream.h"

namespace fenceline::config {

/// By which means a write to an upstream is fenced (design, 4).
enum class CommitMode : std::uint8_t {
  kAuto,         ///< The strongest that the probe finds.
  kMove,         ///< PUT under a temporary name, then MOVE.
  kConditional,  ///< `If-Match` with an ETag that was read before the fence was checked.
  kPlain,        ///< The last bytes are held back until the fence is checked.
};

/// `auto`, `move`, `conditional` or `plain`.
std::string_view to_string(CommitMode mode);

/// How an `https` upstream is known. All of it is empty for `http`.
struct UpstreamTls {
  std::optional<std::string> ca;    ///< PEM file of the authorities; nothing: those of the system.
  std::optional<std::string> name;  ///< Expected in the certificate; nothing: the host of the URL.
  bool verify = true;               ///< False: anybody may answer.

  friend bool operator==(const UpstreamTls&, const UpstreamTls&) = default;
};

/// An upstream, the limits towards it, and how writes to it are fenced.
struct UpstreamSettings {
  Upstream upstream;
  CommitMode commit = CommitMode::kAuto;  ///< Never `kAuto` without `probe`.
  /// How long after its connection was closed a write of unknown outcome may still take effect.
  /// Nothing (`settle: manual`): until an operator says so.
  std::optional<base::Milliseconds> settle{60'000};
  UpstreamTls tls;
  /// For the first byte of the answer, and between two pieces of it.
  base::Milliseconds timeout{60'000};
  base::Milliseconds connect_timeout{5'000};
  /// How long an idle connection is kept.
  base::Milliseconds keep_alive{30'000};
  std::size_t connections = 1024;     ///< Per core.
  std::size_t idle_connections = 64;  ///< Per core; at most `connections`.
  /// False: no probe objects are ever written to the upstream; `commit` is then named.
  bool probe = true;

  friend bool operator==(const UpstreamSettings&, const UpstreamSettings&) = default;
};

}  // namespace fenceline::config
