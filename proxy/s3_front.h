#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/aws/verify.h"
#include "base/error.h"
#include "base/http.h"
#include "base/token.h"
#include "proxy/s3_exchange.h"
#include "proxy/s3_paths.h"

namespace fenceline::proxy {

/// One who may call an S3 route.
struct S3Client {
  std::string access_key;
  std::string secret_key;
  bool may_write = true;
};

struct S3FrontOptions {
  std::vector<S3Client> clients;  ///< Access keys are unique.
  bool anonymous = false;         ///< Requests without any signature are taken, too.
  /// The fields that carry a token or a holder, in lower case: they count only where they are
  /// signed.
  std::vector<std::string> must_sign;
  bool fenced = true;
  std::function<base::aws::SystemTime()> now;  ///< For the age of a signature only.
};

/// What stands before the fence on an S3 route: who calls, and for what. Immutable; thread-safe.
class S3Front {
 public:
  S3Front(S3Paths paths, S3FrontOptions options);
  ~S3Front();
  S3Front(const S3Front&) = delete;
  S3Front& operator=(const S3Front&) = delete;

  [[nodiscard]] const S3Paths& paths() const { return paths_; }

  /// Looks at the names of the fields, verifies the signature, finds the operation, looks whether
  /// this client may do it, decodes the key and opens the body, of which nothing is read. Success:
  /// `into` is filled. Failure: `kForbidden`, `kMalformedRequest`, `kMethodUnknown`, each with its
  /// S3 code: those of `check_field_names`, `verify`, `classify`, `decode_key` and `open_body`, and
  /// `AccessDenied` for an anonymous request or one that this key may not make. `head` and `raw`
  /// outlive `into`.
  base::Result<void> arrive(const base::RequestHead& head, S3Place place, base::BodySource& raw,
                            S3Exchange& into) const;

 private:
  class Keys;

  [[nodiscard]] base::Result<void> check_access(const S3Exchange& exchange) const;

  S3Paths paths_;
  S3FrontOptions options_;
  std::unique_ptr<Keys> keys_;
};

/// The token of a request: of a field (`from_field`), or of the session token `fence-<n>`.
/// Success: the token, or nothing. Failure: `kMalformedToken`: two that differ, or a session token
/// of another form. Pure.
base::Result<std::optional<base::Token>> s3_token(std::optional<base::Token> from_field,
                                                  const base::RequestHead& head,
                                                  const S3Exchange& exchange);

}  // namespace fenceline::proxy
