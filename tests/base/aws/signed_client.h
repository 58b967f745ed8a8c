#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/aws/verify.h"

namespace fenceline::base::aws {

inline constexpr std::string_view kTestSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
/// 2013-05-24T00:00:00Z.
inline constexpr SystemTime kTestNow{std::chrono::seconds(1'369'353'600)};

/// Knows the access key `AKID` and no other.
class OneKey final : public KeyTable {
 public:
  [[nodiscard]] std::optional<std::string_view> secret_of(
      std::string_view access_key) const override {
    return access_key == "AKID" ? std::optional(kTestSecret) : std::nullopt;
  }
};

/// A request that a client signs and that a test may change, before or after.
class SignedClient {
 public:
  std::string method = "PUT";
  std::string path = "/media/a%20b//c";
  std::string query = "versionId=1&x-id=PutObject";
  std::deque<std::pair<std::string, std::string>> fields = {{"Host", "127.0.0.1:9000"}};
  std::string region = "eu-central-1";
  std::string hash = std::string(kUnsignedPayload);
  SystemTime time = kTestNow;

  void add(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
  }

  /// The value of the first field of this name, which must be there.
  std::string& value_of(std::string_view name);

  /// Adds the fields that a client adds.
  void sign(std::string_view session = {});

  /// Puts a signature over all fields into the query.
  void presign(std::string_view expires = "3600", std::string_view session = {});

  /// What `verify` says, where `fencing-token` must be signed.
  [[nodiscard]] Result<std::optional<Verified>> ask(SystemTime now = kTestNow) const;
};

/// Expects that `verify` refuses, with this code and a reason.
void expect_refused(const SignedClient& client, ErrorKind kind, std::string_view code,
                    SystemTime now = kTestNow);

}  // namespace fenceline::base::aws
