#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "base/aws/running_digest.h"
#include "base/http.h"

namespace fenceline::proxy {

/// A request body that makes a digest of what passes, so that a request which is sent again can be
/// told from another one.
class PrintedBody final : public base::BodySource {
 public:
  /// `from` must outlive this.
  explicit PrintedBody(base::BodySource& from)
      : from_(from), digest_(base::aws::DigestKind::kSha256) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return from_.declared_bytes();
  }
  base::Awaitable<base::Result<std::string_view>> read() override;
  void limit_idle(base::Milliseconds limit) override { from_.limit_idle(limit); }

  /// The print of the whole request: method, target, Content-Type, what else counts
  /// (`printed_fields`) and the body, which must have been read to its end. Call once.
  std::string print(const base::RequestHead& head, std::string_view more);

 private:
  base::Awaitable<base::Result<std::string_view>> wait_for(
      base::Awaitable<base::Result<std::string_view>> piece);
  base::Result<std::string_view> pass(base::Result<std::string_view> piece);

  base::BodySource& from_;
  base::aws::RunningDigest digest_;
};

}  // namespace fenceline::proxy
