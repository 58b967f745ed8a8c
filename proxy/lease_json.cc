#include "proxy/lease_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

json::array keys_json(const std::vector<base::FenceKey>& keys) {
  json::array list;
  for (const base::FenceKey& key : keys) {
    list.push_back(json::string(key.text()));
  }
  return list;
}

/// Everything that anybody may see.
void add_lease(json::object& object, const fencing::LeaseView& view) {
  object["holder"] = view.lease.holder;
  object["token"] = view.lease.token.text();
  object["keys"] = keys_json(view.lease.keys);
  object["ttl_ms"] = view.lease.ttl.count();
  object["left_ms"] = view.left.count();
  object["lock_delay_ms"] = view.lease.lock_delay.count();
}

std::string text_of(const json::object& object) { return json::serialize(object) + "\n"; }

}  // namespace

std::string granted_json(const fencing::LeaseView& view) {
  json::object object{{"lease", view.lease.id}};
  add_lease(object, view);
  object["request_id"] = view.lease.request_id;
  return text_of(object);
}

std::string lease_key_json(const base::FenceKey& key, const fencing::LeaseKeyView& view) {
  json::object object{{"key", key.text()},
                      {"held", view.held.has_value()},
                      {"waiting", view.waiting},
                      {"lock_delay_left_ms", view.lock_delay_left.count()}};
  if (view.held) {
    add_lease(object, *view.held);
  }
  return text_of(object);
}

std::string leases_json(const std::vector<fencing::Lessor::Listed>& rows, std::size_t limit) {
  json::array leases;
  for (const fencing::Lessor::Listed& row : rows) {
    json::object lease{{"key", row.key.text()}};
    add_lease(lease, row.view);
    leases.push_back(std::move(lease));
  }
  json::object page{{"leases", std::move(leases)}};
  if (!rows.empty() && rows.size() == limit) {
    page["next"] = rows.back().key.text();
  }
  return text_of(page);
}

std::string revoked_json(const base::FenceKey& key, const fencing::Revoked& revoked) {
  return text_of(json::object{{"key", key.text()},
                              {"holder", revoked.lease.holder},
                              {"revoked", revoked.lease.token.text()},
                              {"token", revoked.token.text()},
                              {"keys", keys_json(revoked.lease.keys)}});
}

std::string keys_text(const std::vector<base::FenceKey>& keys) {
  return keys.size() == 1 ? keys.front().text() : json::serialize(keys_json(keys));
}

}  // namespace fenceline::proxy
