#include "client/sources/etcd/etcd_requests.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <charconv>

#include "base/aws/sigv4.h"
#include "base/base64.h"

namespace fenceline::client {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

constexpr std::size_t kLeaseDigits = 16;
constexpr int kHex = 16;

std::string base64(std::string_view bytes) {
  std::string text;
  base::append_base64(text, bytes);
  return text;
}

/// Without slashes, so that no key's queue lies in another's.
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '/' || c == '%') {
      text += c == '/' ? "%2F" : "%25";
    } else {
      text += c;
    }
  }
  return text;
}

object first_of(const EtcdNames& names, std::string_view order) {
  return {{"key", base64(names.queue)},
          {"range_end", base64(names.queue_end)},
          {"sort_target", "CREATE"},
          {"sort_order", order},
          {"limit", "1"}};
}

object range(object request) { return {{"request_range", std::move(request)}}; }

object if_created_at(const EtcdNames& names, std::int64_t revision, array success, array failure) {
  array compare;
  compare.push_back(object{{"key", base64(names.own)},
                           {"target", "CREATE"},
                           {"create_revision", std::to_string(revision)},
                           {"result", "EQUAL"}});
  return {{"compare", std::move(compare)},
          {"success", std::move(success)},
          {"failure", std::move(failure)}};
}

}  // namespace

EtcdNames make_etcd_names(std::string_view prefix, const base::FenceKey& key, std::int64_t lease) {
  const std::string name = fmt::format("{}{}", prefix, escaped(key.text()));
  return {.queue = name + '/',
          .queue_end = name + static_cast<char>('/' + 1),
          .own = name + '/' + etcd_lease_text(lease)};
}

std::int64_t etcd_lease_of(std::string_view attempt, const base::FenceKey& key) {
  const std::string digest = base::aws::sha256_hex(fmt::format("{}\n{}", attempt, key.text()));
  std::uint64_t number = 0;
  std::from_chars(digest.data(), digest.data() + kLeaseDigits, number, kHex);
  // Positive, and never 0, for which etcd would choose one.
  return static_cast<std::int64_t>(number >> 1U | 1U);
}

std::string etcd_lease_text(std::int64_t lease) { return fmt::format("{:016x}", lease); }

std::optional<std::int64_t> parse_etcd_lease(std::string_view text) {
  std::int64_t lease = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, lease, kHex);
  if (text.size() != kLeaseDigits || error != std::errc() || last != end || lease <= 0) {
    return std::nullopt;
  }
  return lease;
}

object etcd_lease_request(std::int64_t lease, std::int64_t ttl_s) {
  object request{{"ID", std::to_string(lease)}};
  if (ttl_s != 0) {
    request["TTL"] = std::to_string(ttl_s);
  }
  return request;
}

object etcd_enter_request(const EtcdNames& names, std::int64_t lease, std::string_view holder) {
  const object own{{"key", base64(names.own)}};
  object put = own;
  put["value"] = base64(holder);
  put["lease"] = std::to_string(lease);
  array success;
  success.push_back(object{{"request_put", std::move(put)}});
  success.push_back(range(own));
  success.push_back(range(first_of(names, "ASCEND")));
  array failure;
  failure.push_back(range(own));
  failure.push_back(range(first_of(names, "ASCEND")));
  return if_created_at(names, 0, std::move(success), std::move(failure));
}

object etcd_ahead_request(const EtcdNames& names, std::int64_t revision) {
  object ahead = first_of(names, "DESCEND");
  ahead["max_create_revision"] = std::to_string(revision - 1);
  array success;
  success.push_back(range(std::move(ahead)));
  return if_created_at(names, revision, std::move(success), {});
}

object etcd_leave_request(const EtcdNames& names, std::int64_t revision) {
  array success;
  success.push_back(object{{"request_delete_range", object{{"key", base64(names.own)}}}});
  return if_created_at(names, revision, std::move(success), {});
}

object etcd_first_request(const EtcdNames& names) { return first_of(names, "ASCEND"); }

object etcd_own_request(const EtcdNames& names) { return {{"key", base64(names.own)}}; }

std::int64_t etcd_number(const object& parent, std::string_view name) {
  const value* const found = parent.if_contains(name);
  if (found == nullptr) {
    return 0;
  }
  if (found->is_int64()) {
    return found->get_int64();
  }
  std::int64_t number = 0;
  if (found->is_string()) {
    const auto& text = found->get_string();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

bool etcd_succeeded(const object& answer) {
  const value* const found = answer.if_contains("succeeded");
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::vector<EtcdEntry> etcd_entries(const object& answer) {
  std::vector<EtcdEntry> entries;
  const value* const list = answer.if_contains("kvs");
  if (list == nullptr || !list->is_array()) {
    return entries;
  }
  for (const value& each : list->get_array()) {
    if (const object* const entry = each.if_object()) {
      const value* const text = entry->if_contains("value");
      const bool has_value = text != nullptr && text->is_string();
      entries.push_back(
          {.value = has_value ? base::decode_base64(text->get_string().c_str()).value_or("") : "",
           .create_revision = etcd_number(*entry, "create_revision"),
           .lease = etcd_number(*entry, "lease")});
    }
  }
  return entries;
}

std::vector<std::vector<EtcdEntry>> etcd_ranges(const object& answer) {
  std::vector<std::vector<EtcdEntry>> ranges;
  const value* const list = answer.if_contains("responses");
  if (list == nullptr || !list->is_array()) {
    return ranges;
  }
  for (const value& each : list->get_array()) {
    const object* const response = each.if_object();
    const value* const found = response ? response->if_contains("response_range") : nullptr;
    if (found != nullptr && found->is_object()) {
      ranges.push_back(etcd_entries(found->get_object()));
    }
  }
  return ranges;
}

}  // namespace fenceline::client
