#include "client/lease_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/boottime_clock.h"
#include "client/sources/fenceline_service.h"

namespace fenceline::client {
namespace {

namespace json = boost::json;

using base::ErrorKind;
using Command = LeaseCommandOptions::Command;

int complain(const base::Error& error) {
  fmt::print(stderr, "fenceline lease: {}\n", error.detail);
  if (error.kind == ErrorKind::kLeaseHeld || error.kind == ErrorKind::kLeaseEnded) {
    return kExitLeaseRefused;
  }
  return error.kind == ErrorKind::kMalformedRequest ? kExitLeaseUsage : kExitLeaseFailed;
}

int complain(std::string detail) {
  return complain(base::Error{ErrorKind::kMalformedRequest, std::move(detail)});
}

std::string variable(const std::string& given, const char* name) {
  const char* const value = given.empty() ? std::getenv(name) : given.c_str();  // NOLINT
  return value == nullptr ? std::string() : value;
}

/// For `eval`: in single quotes, which only a single quote ends.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

json::object held_json(const std::string& key, const std::optional<HeldBy>& held) {
  json::object object{{"key", key}, {"held", held.has_value()}};
  if (held) {
    object["holder"] = held->holder;
    if (held->token.exists()) {
      object["token"] = held->token.text();
    }
    if (held->left) {
      object["left_ms"] = held->left->count();
    }
  }
  return object;
}

std::string held_text(const std::string& key, const std::optional<HeldBy>& held) {
  if (!held) {
    return key + ": free\n";
  }
  return fmt::format("{}: held by {}, token {}, {}\n", key,
                     held->holder.empty() ? "-" : held->holder,
                     held->token.exists() ? held->token.text() : "-",
                     held->left ? fmt::format("{} ms left", held->left->count()) : "time unknown");
}

class LeaseCommand {
 public:
  explicit LeaseCommand(const LeaseCommandOptions& options) : options_(options) {}

  int run() {
    if (options_.command == Command::kList) {
      return list();
    }
    auto source = open_source(options_.lease, clock_);
    if (!source) {
      return complain(source.error());
    }
    source_ = std::move(*source);
    switch (options_.command) {
      case Command::kAcquire:
        return acquire();
      case Command::kRenew:
        return renew();
      case Command::kRelease:
        return release();
      default:
        return show();
    }
  }

 private:
  int acquire() {
    auto order = order_from(options_.lease);
    if (!order) {
      return complain(order.error());
    }
    if (auto warnings = source_->warnings()) {
      for (const std::string& warning : *warnings) {
        fmt::print(stderr, "fenceline lease: warning: {}\n", warning);
      }
    }
    const auto grant = source_->acquire(*order, {});
    if (!grant) {
      return complain(grant.error());
    }
    if (const std::string problem = problem_with_token(options_.lease, *grant); !problem.empty()) {
      (void)source_->release(*grant);
      fmt::print(stderr, "fenceline lease: {}\n", problem);
      return kExitLeaseFailed;
    }
    if (options_.json) {
      print_json(*grant, order->holder);
    } else {
      for (const std::string& each : lease_environment(*grant, order->holder)) {
        const std::size_t equals = each.find('=');
        fmt::print("export {}={}\n", each.substr(0, equals), quoted(each.substr(equals + 1)));
      }
    }
    return kExitLeaseDone;
  }

  int renew() {
    auto grant = known_grant();
    if (!grant) {
      return complain(grant.error());
    }
    const auto renewed = source_->renew(*grant, {});
    if (!renewed) {
      return complain(renewed.error());
    }
    if (options_.json) {
      print_json(*renewed, options_.lease.holder);
    }
    return kExitLeaseDone;
  }

  int release() {
    auto grant = known_grant();
    if (!grant) {
      return complain(grant.error());
    }
    const auto released = source_->release(*grant);
    return released ? kExitLeaseDone : complain(released.error());
  }

  int show() {
    for (const std::string& text : options_.lease.keys) {
      auto key = base::FenceKey::parse(text);
      if (!key) {
        return complain(key.error());
      }
      const auto held = source_->show(*key);
      if (!held) {
        return complain(held.error());
      }
      fmt::print("{}", options_.json ? json::serialize(held_json(text, *held)) + "\n"
                                     : held_text(text, *held));
    }
    return kExitLeaseDone;
  }

  int list() {
    const std::string url = source_url(options_.lease);
    const std::string scheme = scheme_of(url);
    if (scheme != "fenceline" && scheme != "fencelines") {
      return complain(fmt::format(
          "A source of the kind '{}' cannot list its leases; 'fenceline lease show' asks for one.",
          scheme));
    }
    auto parsed = parse_source_url(url, 0);
    if (!parsed) {
      return complain(parsed.error());
    }
    auto target = find_lease_service(std::move(*parsed));
    if (!target) {
      return complain(target.error());
    }
    const auto leases = list_leases(*target, options_.prefix, options_.limit);
    if (!leases) {
      return complain(leases.error());
    }
    json::array rows;
    for (const ListedLease& lease : *leases) {
      if (options_.json) {
        rows.push_back(held_json(lease.key, lease.by));
      } else {
        fmt::print("{}", held_text(lease.key, lease.by));
      }
    }
    if (options_.json) {
      fmt::print("{}\n", json::serialize(json::object{{"leases", std::move(rows)}}));
    }
    return kExitLeaseDone;
  }

  /// The lease that the options and the environment describe.
  base::Result<Grant> known_grant() {
    LeaseOptions lease = options_.lease;
    if (lease.keys.empty()) {
      std::string keys = variable({}, "FENCING_KEYS");
      while (!keys.empty()) {
        const std::size_t end = keys.find('\n');
        lease.keys.push_back(keys.substr(0, end));
        keys.erase(0, end == std::string::npos ? end : end + 1);
      }
    }
    auto order = order_from(lease);
    if (!order) {
      return base::pass_on(order.error());
    }
    auto token = base::Token::parse(variable(options_.token, "FENCING_TOKEN"));
    Grant grant;
    grant.lease = variable(options_.id, "FENCING_LEASE");
    if (!token || grant.lease.empty()) {
      return base::fail(ErrorKind::kMalformedRequest,
                        "Which lease? Give --lease and --token, or set FENCING_LEASE and "
                        "FENCING_TOKEN, as 'fenceline lease acquire' printed them.");
    }
    grant.keys = std::move(order->keys);
    grant.token = *token;
    grant.ttl = order->ttl;
    grant.valid_until = clock_.now() + order->ttl;
    return grant;
  }

  void print_json(const Grant& grant, const std::string& holder) const {
    json::array keys;
    for (const base::FenceKey& key : grant.keys) {
      keys.emplace_back(key.text());
    }
    const auto left =
        std::chrono::duration_cast<base::Milliseconds>(grant.valid_until - clock_.now());
    json::object object{{"keys", std::move(keys)},
                        {"lease", grant.lease},
                        {"token", grant.token.text()},
                        {"ttl_ms", grant.ttl.count()},
                        {"valid_ms", std::max<std::int64_t>(left.count(), 0)}};
    if (!holder.empty()) {
      object["holder"] = holder;
    }
    fmt::print("{}\n", json::serialize(object));
  }

  const LeaseCommandOptions& options_;
  const base::BoottimeClock clock_;
  std::unique_ptr<TokenSource> source_;
};

}  // namespace

int run_lease_command(const LeaseCommandOptions& options) { return LeaseCommand(options).run(); }

}  // namespace fenceline::client
