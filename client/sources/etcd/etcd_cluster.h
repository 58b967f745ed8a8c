#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/source_url.h"
#include "client/stop_event.h"

namespace fenceline::client {

/// The gRPC status codes that decide something here.
enum class EtcdCode : std::uint8_t {
  kOk = 0,
  kInvalid = 3,
  kNotFound = 5,
  kForbidden = 7,
  kExhausted = 8,
  kPrecondition = 9,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

struct EtcdAnswer {
  EtcdCode code = EtcdCode::kOk;  ///< Others than the above come as their number, too.
  std::string message;            ///< The server's, if the code is not kOk.
  boost::json::object body;
  /// The request was sent before, and that answer was lost: it may have been done already.
  bool repeated = false;
};

struct EtcdOptions {
  std::vector<SourceHost> members;  ///< At least one.
  bool tls = false;
  std::string ca_file;
  std::string user;  ///< Empty: no authentication.
  std::string password;
};

/// The members of a cluster, asked over their JSON gateway one after another.
class EtcdCluster {
 public:
  EtcdCluster() = default;
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  virtual ~EtcdCluster() = default;

  /// Posts to `path`, such as `/v3/kv/range`. Only for requests that may be done twice.
  ///
  /// Does: begins at the member that worked last; goes on to the next where one cannot be reached,
  /// does not answer or has no leader, within `limit`. Logs in first, and again when the token was
  /// forgotten.
  /// Success: what etcd said, also an error that is not about reaching it. Failure:
  /// `kUpstreamFailed`, `kUpstreamTimeout` (`applied` is `kUnknown` unless nothing was sent),
  /// `kUnauthorized`, `kClientGone`.
  /// Concurrency: one call at a time.
  virtual base::Result<EtcdAnswer> call(std::string_view path, const boost::json::object& body,
                                        base::Milliseconds limit, std::stop_token stop) = 0;

  /// The address of the member that was asked last.
  [[nodiscard]] virtual std::string address() const = 0;
};

/// Connects nowhere yet. Failure: as `make_blocking_http`.
base::Result<std::unique_ptr<EtcdCluster>> make_etcd_cluster(const EtcdOptions& options);

}  // namespace fenceline::client
