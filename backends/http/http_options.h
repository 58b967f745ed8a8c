#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/clock.h"
#include "base/field_lines.h"
#include "base/net/http_client.h"

namespace fenceline::backends::http {

/// How a write takes effect at the upstream (design, 4).
enum class CommitMode : std::uint8_t {
  kAuto,         ///< The strongest of the others that the probe finds.
  kMove,         ///< A temporary resource and MOVE (model d6).
  kConditional,  ///< If-Match and If-None-Match (model d3).
  kPlain,        ///< The last bytes, held back (model d2).
};

/// Which `Host` the upstream sees.
enum class HostPolicy : std::uint8_t { kUpstream, kClient };

/// Plain data; the config has checked it.
struct HttpOptions {
  base::net::HttpClientOptions client = {};  ///< Where the upstream is, and the limits towards it.
  /// Put before every name. Percent-encoded, begins with `/` and does not end in one; or empty.
  std::string base_path = {};
  CommitMode commit = CommitMode::kAuto;
  /// At least this, or nothing is written: also when a later probe finds another server.
  Guarantee required = Guarantee::kNone;
  /// How long after its connection was closed a write may still land; nothing: only an operator
  /// can tell (`settle: manual`).
  std::optional<base::Milliseconds> settle_after = base::Milliseconds(60'000);
  std::vector<std::string> methods = {"GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"};
  std::vector<std::string> reads = {"GET", "HEAD", "OPTIONS"};
  HostPolicy host = HostPolicy::kUpstream;
  bool probe = true;  ///< False: no probe resource is ever written; `commit` is not `kAuto` then.
  std::size_t retry_body_bytes = 1024UL * 1024;  ///< Kept to repeat a lost conditional race.
  /// Not forwarded: the fields that carry the token. `Fencing-…` never is.
  std::vector<std::string> private_fields = {"Fencing-Token", "X-Fencing-Token"};
  std::string via = "fenceline";  ///< Our name in `Via`.
  /// Set on every request in place of the client's, such as the upstream's `Authorization`.
  std::vector<base::OwnedField> own_fields = {};
  base::Milliseconds probe_limit{30'000};    ///< A probe that takes longer has failed.
  base::Milliseconds probe_again{5'000};     ///< Between two tries of a probe that failed.
  base::Milliseconds changed_after{10'000};  ///< An upstream gone for longer is probed again.
};

}  // namespace fenceline::backends::http
