#pragma once

// From what the probe found to what the route guarantees. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "backends/http/http_options.h"

namespace fenceline::backends::http {

/// What a probe has found. Each reason says why the upstream cannot do a thing; nothing: it can.
struct ProbeVerdict {
  std::string server;  ///< Its `Server` field.
  std::optional<std::string> no_move = "not probed";
  std::optional<std::string> no_conditional_put = "not probed";
  std::optional<std::string> no_conditional_delete = "not probed";
  /// An entity tag can come back: that of the same bytes did.
  bool tags_return = false;
};

/// What is known of conditional writes there.
enum class Conditions : std::uint8_t {
  kUnproven,       ///< Nothing.
  kReturningTags,  ///< They are kept to, but a tag can come back (model d3_burn).
  kNewTags,  ///< They are kept to, and every write gives a tag that was never there (model d3).
};

/// How this upstream is written to. Plain data.
struct Standing {
  CommitMode put = CommitMode::kPlain;      ///< Never `kAuto`.
  CommitMode removal = CommitMode::kPlain;  ///< For DELETE: `kConditional` or `kPlain`.
  /// Whether the probe has shown that the mode holds what it promises; else its intents are never
  /// revoked, they wait for the settle rule.
  bool move_proven = false;
  Conditions conditions = Conditions::kUnproven;
  Capabilities capabilities = {};
};

/// True if the probe has to run before anything can be written.
bool needs_probe(const HttpOptions& options);

/// The strongest mode that is allowed and proven, and what it guarantees for each kind of write
/// that the route takes. `verdict`: nothing where nobody probes.
Standing standing_of(const HttpOptions& options, const std::optional<ProbeVerdict>& verdict);

}  // namespace fenceline::backends::http
