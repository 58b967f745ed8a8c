#include "backends/sqlite/body.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::sqlite {
namespace {

base::Error too_large(std::size_t max_bytes) {
  return {base::ErrorKind::kBodyTooLarge,
          fmt::format("The body has more than {} bytes, the limit of this route", max_bytes)};
}

}  // namespace

base::Awaitable<base::Result<std::string>> collect(base::BodySource& body, std::size_t max_bytes) {
  std::string content;
  const auto declared = body.declared_bytes();
  if (declared && *declared > max_bytes) {
    co_return tl::unexpected(too_large(max_bytes));
  }
  content.reserve(static_cast<std::size_t>(declared.value_or(0)));
  for (;;) {
    const auto piece = co_await body.read();
    if (!piece) {
      co_return tl::unexpected(piece.error());
    }
    if (piece->empty()) {
      co_return content;
    }
    if (piece->size() > max_bytes - content.size()) {
      co_return tl::unexpected(too_large(max_bytes));
    }
    content.append(*piece);
  }
}

base::Awaitable<base::Result<void>> discard(base::BodySource& body) {
  for (;;) {
    const auto piece = co_await body.read();
    if (!piece) {
      co_return tl::unexpected(piece.error());
    }
    if (piece->empty()) {
      co_return base::Result<void>();
    }
  }
}

}  // namespace fenceline::backends::sqlite
