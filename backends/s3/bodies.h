#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// A body that is a text of ours, or empty. The text outlives it.
class TextBody final : public base::BodySource {
 public:
  explicit TextBody(std::string_view text) : text_(text), bytes_(text.size()) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override { return bytes_; }
  base::Awaitable<base::Result<std::string_view>> read() override;

 private:
  std::string_view text_;
  std::uint64_t bytes_;
};

/// A body that, if its length was not declared, fails with `kLengthRequired` beyond `max_bytes`:
/// many S3 servers take no body without a length, so it has to be held to its end. `body` outlives
/// it.
class BoundedBody final : public base::BodySource {
 public:
  BoundedBody(base::BodySource& body, std::size_t max_bytes) : body_(body), max_bytes_(max_bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return body_.declared_bytes();
  }
  base::Awaitable<base::Result<std::string_view>> read() override;
  void limit_idle(base::Milliseconds limit) override { body_.limit_idle(limit); }

 private:
  base::BodySource& body_;
  std::size_t max_bytes_;
  std::size_t seen_bytes_ = 0;
};

}  // namespace fenceline::backends::s3
