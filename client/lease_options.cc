#include "client/lease_options.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/request_id.h"
#include "client/mark_check.h"
#include "client/order_rules.h"

namespace fenceline::client {
namespace {

constexpr const char* kDefaultSource = "fenceline://127.0.0.1:8080";

/// Who asks, as this machine knows it: `user@host:pid`, in the characters that a holder may have.
std::string who() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  const passwd* const entry = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  const std::string user = entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
  std::string name = fmt::format("{}@{}:{}", user, host.data(), ::getpid());
  std::ranges::replace_if(
      name, [](char c) { return c <= ' ' || c >= '\x7f'; }, '_');
  return name.substr(0, kMaxHolderBytes);
}

}  // namespace

std::string source_url(const LeaseOptions& options) {
  if (!options.source.empty()) {
    return options.source;
  }
  const char* const variable = std::getenv("FENCELINE_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  return variable == nullptr || *variable == '\0' ? kDefaultSource : variable;
}

base::Result<LeaseOrder> order_from(const LeaseOptions& options) {
  LeaseOrder order;
  for (const std::string& text : options.keys) {
    auto key = base::FenceKey::parse(text);
    if (!key) {
      return base::pass_on(key.error());
    }
    order.keys.push_back(std::move(*key));
  }
  std::ranges::sort(order.keys);
  order.holder = options.holder.empty() ? who() : options.holder;
  order.attempt = base::RequestIds().next().view();
  order.ttl = options.ttl;
  order.wait = options.wait;
  if (auto right = check_order(order); !right) {
    return base::pass_on(right.error());
  }
  if (!options.check_url.empty()) {
    if (auto right = check_mark_url(options.check_url); !right) {
      return base::pass_on(right.error());
    }
  }
  return order;
}

base::Result<std::unique_ptr<TokenSource>> open_source(const LeaseOptions& options,
                                                       const base::Clock& clock) {
  return make_source(source_url(options), clock);
}

std::vector<std::string> lease_environment(const Grant& grant, const std::string& holder) {
  std::string all;
  for (const base::FenceKey& key : grant.keys) {
    all += (all.empty() ? "" : "\n") + key.text();
  }
  return {"FENCING_TOKEN=" + grant.token.text(), "FENCING_KEY=" + grant.keys.front().text(),
          "FENCING_KEYS=" + all, "FENCING_LEASE=" + grant.lease, "FENCING_HOLDER=" + holder};
}

std::string problem_with_token(const LeaseOptions& options, const Grant& grant) {
  if (options.check_url.empty()) {
    return {};
  }
  for (const base::FenceKey& key : grant.keys) {
    const auto mark = ask_for_mark(options.check_url, key, grant.token);
    if (!mark) {
      fmt::print(stderr, "fenceline: the token was not checked: {}\n", mark.error().detail);
      return {};
    }
    if (*mark && **mark > grant.token) {
      return explain_lost_memory(key, grant.token, **mark);
    }
  }
  return {};
}

}  // namespace fenceline::client
