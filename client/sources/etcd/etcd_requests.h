#pragma once

// What is sent to etcd's JSON gateway and how its answers read; pure. Keys and values are base64,
// 64-bit numbers are strings, what is zero is left out.

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fence_key.h"

namespace fenceline::client {

/// Where those who want a key stand in line: each has `queue` + its lease in hexadecimal digits.
struct EtcdNames {
  std::string queue;      ///< Ends with a slash; no slash of the key is in it.
  std::string queue_end;  ///< The first name behind all in the queue.
  std::string own;
};

EtcdNames make_etcd_names(std::string_view prefix, const base::FenceKey& key, std::int64_t lease);

/// The lease of an attempt on a key: the same when it is repeated, so that it is found again.
std::int64_t etcd_lease_of(std::string_view attempt, const base::FenceKey& key);

/// 16 hexadecimal digits, and back; nothing if it is something else.
std::string etcd_lease_text(std::int64_t lease);
std::optional<std::int64_t> parse_etcd_lease(std::string_view text);

/// A key as etcd has it.
struct EtcdEntry {
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t lease = 0;
};

/// `{"ID": …}`, and `TTL` in seconds if it is not 0.
boost::json::object etcd_lease_request(std::int64_t lease, std::int64_t ttl_s = 0);

/// Puts the own name if it is not there; gives it and the first of the queue.
boost::json::object etcd_enter_request(const EtcdNames& names, std::int64_t lease,
                                       std::string_view holder);

/// If the own name still has this revision: gives the one that stands before it.
boost::json::object etcd_ahead_request(const EtcdNames& names, std::int64_t revision);

/// If the own name still has this revision: deletes it.
boost::json::object etcd_leave_request(const EtcdNames& names, std::int64_t revision);

/// The first of the queue.
boost::json::object etcd_first_request(const EtcdNames& names);

boost::json::object etcd_own_request(const EtcdNames& names);

/// The number of this name; 0 if it is not there or none.
std::int64_t etcd_number(const boost::json::object& object, std::string_view name);

bool etcd_succeeded(const boost::json::object& answer);

/// The entries of a range.
std::vector<EtcdEntry> etcd_entries(const boost::json::object& answer);

/// The entries of the ranges in a transaction's answer, in their order.
std::vector<std::vector<EtcdEntry>> etcd_ranges(const boost::json::object& answer);

}  // namespace fenceline::client
