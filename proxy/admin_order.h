#pragma once

// What every order to the admin API needs: a key in the path, a body that is an order.

#include <string>
#include <string_view>

#include "base/async.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "proxy/handler.h"

namespace fenceline::proxy {

/// The key whose percent-encoded form is `raw_key`. Failure: `kMalformedRequest`. Pure.
base::Result<base::FenceKey> key_from(std::string_view raw_key);

/// Checks the head (`check_order_head`) and reads the body, up to `kMaxOrderBytes`.
/// Failure: `kMalformedRequest`, `kBodyTooLarge`, and those of the body. Concurrency: a coroutine
/// of the core that runs `request`.
base::Awaitable<base::Result<std::string>> read_order_body(Request request);

}  // namespace fenceline::proxy
