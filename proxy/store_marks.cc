#include "proxy/store_marks.h"

#include <fmt/format.h>

#include <set>

namespace fenceline::proxy {

base::Awaitable<base::Result<void>> reset_in_stores(const RouteTable& routes, std::string key,
                                                    base::Token to) {
  std::set<const backends::Backend*> asked;
  for (const Route& route : routes.routes()) {
    if (!asked.insert(route.backend.get()).second) {
      continue;
    }
    auto done = co_await route.backend->reset_mark(key, to);
    if (!done) {
      base::Error& error = done.error();
      error.applied = base::Applied::kUnknown;
      error.detail = fmt::format(
          "The ledger has the new mark, but the store of route {} keeps its own and could not be "
          "set: {} Repeat the reset.",
          route.name, error.detail);
      co_return base::pass_on(error);
    }
  }
  co_return base::Result<void>();
}

}  // namespace fenceline::proxy
