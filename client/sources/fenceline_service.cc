#include "client/sources/fenceline_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "client/blocking_http.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;

constexpr Milliseconds kCall{10'000};
constexpr std::size_t kPage = 1'000;

/// The bearer token: of `?token-file=`, else of the environment; empty if there is none.
Result<std::string> bearer_token(SourceUrl& url) {
  const auto file = url.take("token-file");
  if (!file) {
    const char* const value =
        std::getenv("FENCELINE_LEASE_TOKEN");  // NOLINT(concurrency-mt-unsafe)
    return std::string(value == nullptr ? "" : value);
  }
  std::ifstream in(*file);
  std::string token;
  if (!std::getline(in, token) || token.empty()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The token-file '{}' of the source cannot be read, or its first "
                                  "line is empty.",
                                  *file));
  }
  return token;
}

Result<Milliseconds> window_of(SourceUrl& url) {
  const auto text = url.take("poll");
  if (!text) {
    return LeaseServiceTarget().window;
  }
  int seconds = 0;
  const char* const end = text->data() + text->size();
  const auto [last, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc() || last != end || seconds < 1 || seconds > 3'600) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "The option 'poll' of the source is a number of seconds from 1 to 3600.");
  }
  return Milliseconds(std::chrono::seconds(seconds));
}

}  // namespace

Result<LeaseServiceTarget> find_lease_service(SourceUrl url) {
  if (url.hosts.size() != 1 || url.user) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "A fenceline source has one host and no user, as fenceline://host:8080; its "
                      "bearer token comes from FENCELINE_LEASE_TOKEN or ?token-file=.");
  }
  LeaseServiceTarget target;
  const SourceHost& host = url.hosts.front();
  target.service.address = host.host.find(':') == std::string::npos
                               ? fmt::format("{}:{}", host.host, host.port)
                               : fmt::format("[{}]:{}", host.host, host.port);
  if (url.path.size() > 1) {
    target.service.path = url.path.substr(0, url.path.find_last_not_of('/') + 1);
  }
  auto token = bearer_token(url);
  if (!token) {
    return base::pass_on(token.error());
  }
  target.service.bearer_token = std::move(*token);
  auto window = window_of(url);
  if (!window) {
    return base::pass_on(window.error());
  }
  target.window = *window;
  target.client.host = host.host;
  target.client.port = host.port;
  target.client.tls = url.scheme == "fencelines";
  // Each call has its deadline.
  target.client.first_byte = std::chrono::hours(2);
  if (auto ca = url.take("ca")) {
    target.client.tls_ca_file = std::move(*ca);
  }
  if (auto left = url.check_all_taken(); !left) {
    return base::pass_on(left.error());
  }
  return target;
}

Result<std::vector<ListedLease>> list_leases(const LeaseServiceTarget& target,
                                             const std::string& prefix, std::size_t limit) {
  auto http = make_blocking_http(target.client);
  if (!http) {
    return base::pass_on(http.error());
  }
  std::size_t left = limit == 0 ? std::numeric_limits<std::size_t>::max() : limit;
  std::vector<ListedLease> all;
  std::string after;
  do {
    const auto answer =
        (*http)->ask(list_call(target.service, prefix, after, std::min(left, kPage), kCall), {});
    if (!answer) {
      return tl::unexpected<base::Error>(answer.error());
    }
    auto page = read_list(target.service, *answer, after);
    if (!page) {
      return base::pass_on(page.error());
    }
    left -= std::min(left, page->size());
    std::ranges::move(*page, std::back_inserter(all));
  } while (left > 0 && !after.empty());
  return all;
}

}  // namespace fenceline::client
