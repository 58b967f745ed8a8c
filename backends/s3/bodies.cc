#include "backends/s3/bodies.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::s3 {

using base::Awaitable;
using base::Result;

Awaitable<Result<std::string_view>> TextBody::read() {
  return Awaitable<Result<std::string_view>>::ready(std::exchange(text_, std::string_view()));
}

Awaitable<Result<std::string_view>> BoundedBody::read() {
  if (body_.declared_bytes()) {
    co_return co_await body_.read();
  }
  auto piece = co_await body_.read();
  if (piece) {
    seen_bytes_ += piece->size();
  }
  if (seen_bytes_ > max_bytes_) {
    auto refused = base::fail(
        base::ErrorKind::kLengthRequired,
        fmt::format("a body whose length was not declared is taken up to {} bytes; send "
                    "Content-Length or x-amz-decoded-content-length, or upload it in parts",
                    max_bytes_));
    refused.value().code = "MissingContentLength";
    co_return refused;
  }
  co_return piece;
}

}  // namespace fenceline::backends::s3
