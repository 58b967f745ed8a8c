#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/net/http_client.h"

namespace fenceline::client {

struct HttpCall {
  std::string method = {};
  std::string target = {};  ///< Origin form, encoded.
  /// Without `Host` and `Content-Length`, which are added.
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::optional<std::string> body = {};
  base::Milliseconds deadline{10'000};  ///< For all of it.
};

struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  /// The first field of this name, whatever its case; empty if there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const;
};

/// The HTTP client of `base/net` for a thread that may block. Keeps its connection.
class BlockingHttp {
 public:
  BlockingHttp() = default;
  BlockingHttp(const BlockingHttp&) = delete;
  BlockingHttp& operator=(const BlockingHttp&) = delete;
  virtual ~BlockingHttp() = default;

  /// Sends one request and reads the answer, up to 4 MiB.
  /// Does: repeats it once, on a new connection, if a kept one turns out to be closed and the
  /// request cannot have been received.
  /// Success: whatever answer there was. Failure: `kUpstreamFailed`, `kUpstreamTimeout` at the
  /// deadline, `kClientGone` soon after `stop` was requested; `applied` is `kNo` if the request
  /// cannot have been complete at the server, else `kUnknown`.
  /// Concurrency: one call at a time, from any thread.
  virtual base::Result<HttpAnswer> ask(const HttpCall& call, std::stop_token stop) = 0;
};

/// Connects nowhere yet. Failure: as `make_http_client`.
base::Result<std::unique_ptr<BlockingHttp>> make_blocking_http(
    base::net::HttpClientOptions options);

}  // namespace fenceline::client
