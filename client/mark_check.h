#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"

namespace fenceline::client {

/// The highest token that a fenceline server knows for a key.
/// `url`: its admin listener (`http://127.0.0.1:8081`, with the bearer token of
/// FENCELINE_ADMIN_TOKEN), where the fence has the name of the lease; or a resource of a route
/// (`http://127.0.0.1:8080/exports/42/x`), which is asked by HEAD with `token`, as any read with a
/// token: older holders are fenced by it.
/// Success: the mark; nothing if there is none yet. Failure: of the network; `kMalformedRequest`
/// for a URL that is none, or for what does not answer as fenceline.
base::Result<std::optional<base::Token>> ask_for_mark(std::string_view url,
                                                      const base::FenceKey& key, base::Token token);

/// Whether `url` is one that `ask_for_mark` can ask. Pure. Failure: `kMalformedRequest`.
base::Result<void> check_mark_url(std::string_view url);

/// Why a fresh token below the mark is useless, and what to do. Pure.
std::string explain_lost_memory(const base::FenceKey& key, base::Token token, base::Token mark);

}  // namespace fenceline::client
