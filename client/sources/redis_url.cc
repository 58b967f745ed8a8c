#include "client/sources/redis_url.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;

constexpr std::size_t kMaxPrefixBytes = 256;

tl::unexpected<base::Error> wrong(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

Result<std::uint32_t> read_database(std::string_view path) {
  std::uint32_t database = 0;
  if (path.empty() || path == "/") {
    return database;
  }
  const char* const end = path.data() + path.size();
  const auto [last, error] = std::from_chars(path.data() + 1, end, database);
  if (error != std::errc() || last != end) {
    return wrong("The path of a Redis URL is a database number, as in redis://host:6379/2.");
  }
  return database;
}

Result<void> read_user(SourceUrl& url, redis::PeerOptions& server) {
  if (url.user && !url.password) {
    return wrong(
        "The source's URL has a user without a password: write user:password@, or :password@ for "
        "the default user.");
  }
  server.user = std::move(url.user).value_or("");
  server.password = std::move(url.password);
  return {};
}

Result<std::shared_ptr<redis::Tls>> read_tls(SourceUrl& url, std::string_view scheme_with_tls) {
  const auto ca = url.take("ca");
  if (url.scheme == scheme_with_tls) {
    return redis::make_tls(ca.value_or(""));
  }
  if (ca) {
    return wrong(fmt::format("The option 'ca' is for TLS: write {}://.", scheme_with_tls));
  }
  return nullptr;
}

}  // namespace

Result<RedisUrl> read_redis_url(SourceUrl url, std::string_view scheme_with_tls,
                                std::string_view default_prefix) {
  RedisUrl read;
  redis::PeerOptions server;
  auto database = read_database(url.path);
  if (!database) {
    return base::pass_on(database.error());
  }
  server.database = *database;
  if (auto user = read_user(url, server); !user) {
    return base::pass_on(user.error());
  }
  auto tls = read_tls(url, scheme_with_tls);
  if (!tls) {
    return base::pass_on(tls.error());
  }
  server.tls = std::move(*tls);
  read.prefix = url.take("prefix").value_or(std::string(default_prefix));
  if (read.prefix.size() > kMaxPrefixBytes || !base::is_printable(read.prefix)) {
    return wrong(fmt::format("The option 'prefix' is at most {} printable ASCII characters.",
                             kMaxPrefixBytes));
  }
  if (auto taken = url.check_all_taken(); !taken) {
    return base::pass_on(taken.error());
  }
  for (SourceHost& host : url.hosts) {
    server.host = std::move(host.host);
    server.port = host.port;
    read.servers.push_back(server);
  }
  return read;
}

std::string lock_name(std::string_view prefix, const base::FenceKey& key) {
  return fmt::format("{}{{{}}}:lock", prefix, key.text());
}

std::string token_name(std::string_view prefix, const base::FenceKey& key) {
  return fmt::format("{}{{{}}}:token", prefix, key.text());
}

}  // namespace fenceline::client
