#pragma once

// The `s3` backend of a route, as it is configured: plain data, with the defaults. Secrets in here
// are never printed.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/problem.h"
#include "config/upstream_settings.h"

namespace fenceline::config {

/// Keys for the upstream that stand in the configuration.
struct S3StaticKeys {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  ///< Empty: none.

  friend bool operator==(const S3StaticKeys&, const S3StaticKeys&) = default;
};

/// Keys of one profile in a credentials file of the AWS tools.
struct S3KeysInFile {
  std::string file;  ///< `~/` in front is the home of the user.
  std::string profile = "default";

  friend bool operator==(const S3KeysInFile&, const S3KeysInFile&) = default;
};

/// Keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
struct S3KeysInEnvironment {
  friend bool operator==(const S3KeysInEnvironment&, const S3KeysInEnvironment&) = default;
};

/// Where the keys for the upstream are. Nothing here looks at the file or the environment:
/// `resolve_credentials` does (aws_credentials.h).
using S3Credentials = std::variant<S3StaticKeys, S3KeysInFile, S3KeysInEnvironment>;

enum class S3Access : std::uint8_t { kRead, kWrite };

/// One who may call a route, and how far.
struct S3Client {
  std::string access_key;  ///< 3 … 128 of letters, digits, `_`, `.` and `-`; unique on its route.
  std::string secret_key;  ///< Not empty.
  S3Access access = S3Access::kWrite;

  friend bool operator==(const S3Client&, const S3Client&) = default;
};

/// How the bucket is named to the upstream: in the path, or in front of the host.
enum class S3Addressing : std::uint8_t { kPath, kVirtual };

/// How a DELETE is made safe where the upstream does not keep to conditions on it.
enum class S3Deletes : std::uint8_t { kAuto, kTombstone };

/// Somebody else's S3 server. The base path of `upstream` is empty, `commit` is not `kMove`.
struct S3Backend : UpstreamSettings {
  /// The bucket there. Nothing if, and only if, the match of the route has `{bucket}`: any.
  std::optional<std::string> bucket;
  std::string region = "us-east-1";
  S3Addressing addressing = S3Addressing::kPath;
  /// Ours, for the upstream. Nothing: requests go unsigned.
  std::optional<S3Credentials> credentials;
  std::vector<S3Client> clients;  ///< At least one, unless `anonymous`.
  /// True: requests without a signature are taken, reads and writes; signed ones are verified
  /// still.
  bool anonymous = false;
  S3Deletes deletes = S3Deletes::kAuto;
  /// Where the probe writes its objects if there is no `bucket`; nothing then: nothing is probed.
  std::optional<std::string> probe_bucket;
  /// Bodies up to this are held whole until the fence has been checked; above, they stream.
  std::uint64_t hold_bytes = 1024 * std::uint64_t{1024};

  /// True if a probe at the start can find out what the upstream keeps to.
  [[nodiscard]] bool is_probed() const { return probe && (bucket || probe_bucket); }

  friend bool operator==(const S3Backend&, const S3Backend&) = default;
};

}  // namespace fenceline::config
