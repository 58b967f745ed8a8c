#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/metrics.h"

namespace fenceline::proxy {

/// How many bytes all requests together may have staged but not committed. Thread-safe.
class StagedBytes {
 public:
  /// `limit_bytes`: above it, further staging is refused. `gauge` shows the current value.
  StagedBytes(std::uint64_t limit_bytes, base::Gauge gauge);

  /// With a limit of its own, over the same bytes as `other`: those of all who count with it.
  StagedBytes(std::uint64_t limit_bytes, const StagedBytes& other);

  /// Adds `bytes`, unless that would exceed the limit: then nothing changes and it returns false.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  std::uint64_t limit_bytes_;
  std::shared_ptr<std::atomic<std::uint64_t>> used_;
  base::Gauge gauge_;
};

/// A request body on its way to a backend: enforces the route's limit (`kBodyTooLarge`) and the
/// limit on staged bytes (`kOverloaded`). Destroying it gives the staged bytes back, so it lives as
/// long as what was staged from it.
class MeteredBody final : public base::BodySource {
 public:
  /// `from` and `staged` must outlive this.
  MeteredBody(base::BodySource& from, std::uint64_t max_body_bytes, StagedBytes& staged);
  ~MeteredBody() override;

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override;
  base::Awaitable<base::Result<std::string_view>> read() override;
  void limit_idle(base::Milliseconds limit) override { from_.limit_idle(limit); }

 private:
  base::Awaitable<base::Result<std::string_view>> wait_for(
      base::Awaitable<base::Result<std::string_view>> piece);
  base::Result<std::string_view> count(base::Result<std::string_view> piece);

  base::BodySource& from_;
  std::uint64_t max_body_bytes_;
  StagedBytes& staged_;
  std::uint64_t passed_bytes_ = 0;
};

}  // namespace fenceline::proxy
