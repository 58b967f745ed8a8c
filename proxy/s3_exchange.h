#pragma once

#include <memory>
#include <optional>

#include "backends/s3/s3_backend.h"
#include "base/aws/verified_body.h"
#include "base/aws/verify.h"
#include "proxy/metered_body.h"

namespace fenceline::proxy {

/// What is known about a request on an S3 route, beside what every request has. Stays where it was
/// made: the body looks at `verified`, the backend at `request`.
struct S3Exchange {
  backends::s3::S3Request request;
  std::optional<base::aws::Verified> verified;  ///< Nothing: an anonymous request.
  std::unique_ptr<base::aws::VerifiedBody> body;
  /// `body`, where it is read before the fence is asked: what was read counts as staged as long as
  /// this is there.
  std::unique_ptr<MeteredBody> document;

  /// True if the keys stand in the body, which has to be read before the fence can be asked.
  [[nodiscard]] bool keys_are_in_body() const {
    return request.operation->keys == backends::s3::Keys::kInBody;
  }
};

}  // namespace fenceline::proxy
