#include "proxy/audit.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/log.h"
#include "proxy/shell_text.h"

namespace fenceline::proxy {

void Audit::rejected(const Exchange& exchange, const base::Error& error, base::Token highest,
                     bool enforced) {
  const Request& request = exchange.request;
  Rejection entry;
  entry.time = std::chrono::system_clock::now();
  entry.route = exchange.route->name;
  entry.key = exchange.key ? exchange.key->text() : std::string();
  entry.reason = error.kind;
  entry.presented = exchange.token;
  entry.highest = highest;
  entry.holder = exchange.holder;
  entry.peer = std::string(request.peer);
  entry.method = std::string(request.head.method_text);
  entry.resource = std::string(exchange.captures.resource_name);
  entry.request_id = std::string(request.request_id);
  entry.enforced = enforced;

  exchange.route->metrics.rejected(error.kind, enforced);
  // Empty where there was none: 0 would look like a token.
  const std::string presented = entry.presented.exists() ? entry.presented.text() : std::string();
  const std::string mark = highest.exists() ? highest.text() : std::string();
  base::log(base::LogLevel::kWarning, "rejected",
            enforced ? "the fence refused a request" : "the fence would have refused a request",
            {{"reason", name_of(error.kind)},
             {"key", entry.key},
             {"presented", presented},
             {"highest", mark},
             {"holder", entry.holder},
             {"peer", entry.peer},
             {"route", entry.route},
             {"method", entry.method},
             {"resource", entry.resource},
             {"request", entry.request_id}});
  rejections_.add(std::move(entry));
  if (error.kind == base::ErrorKind::kStaleToken && highest.exists()) {
    watch_source(exchange, highest);
  }
}

void Audit::watch_source(const Exchange& exchange, base::Token highest) {
  const std::string& key = exchange.key->text();
  const auto suspicion =
      source_watch_.refused(key, {exchange.token, highest, exchange.holder}, clock_.now());
  if (!suspicion) {
    return;
  }
  exchange.route->metrics.suspected_source_reset();
  const std::string presented = suspicion->presented.text();
  const std::string mark = highest.text();
  const std::string command =
      fmt::format("fenceline fences reset {} --to {} --from {} --reason '…'", shell_quoted(key),
                  presented, mark);
  base::log(base::LogLevel::kWarning, "source_reset_suspected",
            "rising tokens are refused and nobody holds the mark: the token source may have been "
            "reset; if it was, run the command, with the token of the present lease",
            {{"key", key},
             {"presented", presented},
             {"highest", mark},
             {"holder", exchange.holder},
             {"route", exchange.route->name},
             {"command", command}});
}

void Audit::failed(const Exchange& exchange, const base::Error& error) {
  const bool ours = error.kind == base::ErrorKind::kStorageFailed ||
                    error.kind == base::ErrorKind::kInsufficientStorage ||
                    error.kind == base::ErrorKind::kInternal;
  if (!ours) {
    return;
  }
  const Request& request = exchange.request;
  base::log(base::LogLevel::kError, "request_failed", error.detail,
            {{"reason", name_of(error.kind)},
             {"applied", to_string(error.applied)},
             {"route", exchange.route == nullptr ? std::string_view() : exchange.route->name},
             {"method", request.head.method_text},
             {"resource", exchange.captures.resource_name},
             {"request", request.request_id}});
}

void Audit::took_over(const Exchange& exchange, base::Token previous) {
  const Request& request = exchange.request;
  exchange.route->metrics.took_over();
  const std::string token = exchange.token.text();
  const std::string before = previous.text();
  base::log(base::LogLevel::kInfo, "takeover", "a higher token was admitted",
            {{"key", exchange.key->text()},
             {"token", token},
             {"previous", before},
             {"holder", exchange.holder},
             {"peer", request.peer},
             {"route", exchange.route->name},
             {"request", request.request_id}});
}

}  // namespace fenceline::proxy
