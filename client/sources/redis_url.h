#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fence_key.h"
#include "client/redis/peer.h"
#include "client/source_url.h"

namespace fenceline::client {

/// What the URLs of both kinds of Redis sources say.
struct RedisUrl {
  std::vector<redis::PeerOptions> servers;
  std::string prefix;  ///< In front of every name that a source uses.
};

/// Reads `[user:password@]host:port[,…][/database][?prefix=…&ca=…]`. `scheme_with_tls` is the
/// scheme that asks for TLS, the only one that takes `ca`; reads that file. Failure:
/// `kMalformedRequest` with the thing, the reason, the fix; never the password.
base::Result<RedisUrl> read_redis_url(SourceUrl url, std::string_view scheme_with_tls,
                                      std::string_view default_prefix);

/// The names of what is kept for a key. The braces keep them together in whatever cuts a key space
/// into slots.
std::string lock_name(std::string_view prefix, const base::FenceKey& key);
std::string token_name(std::string_view prefix, const base::FenceKey& key);

}  // namespace fenceline::client
