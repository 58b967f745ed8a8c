#include "proxy/admin_order.h"

#include <fmt/format.h>

#include <utility>

#include "proxy/fence_order.h"
#include "proxy/target.h"

namespace fenceline::proxy {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Result;

Result<base::FenceKey> key_from(std::string_view raw_key) {
  auto decoded = percent_decode(raw_key, "fence key");
  if (!decoded) {
    return pass_on(decoded.error());
  }
  return base::FenceKey::parse(std::move(*decoded));
}

Awaitable<Result<std::string>> read_order_body(Request request) {
  if (auto allowed = check_order_head(request.head); !allowed) {
    co_return pass_on(allowed.error());
  }
  std::string text;
  while (true) {
    auto piece = co_await request.body.read();
    if (!piece) {
      co_return pass_on(piece.error());
    }
    if (piece->empty()) {
      co_return text;
    }
    if (text.size() + piece->size() > kMaxOrderBytes) {
      co_return base::fail(ErrorKind::kBodyTooLarge,
                           fmt::format("An order has at most {} bytes.", kMaxOrderBytes));
    }
    text += *piece;
  }
}

}  // namespace fenceline::proxy
