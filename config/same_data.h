#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace fenceline::config {

/// The absolute, canonical form of a path: of the part that exists, symbolic links are followed.
/// Never fails: what cannot be looked at is taken as it is written. Must not throw.
using ResolvePath = std::function<std::string(const std::string&)>;

/// Where the data of a route is, in a form that can be compared with those of other routes with the
/// same kind of backend: the canonical files root or database, the upstream as a URL, or the S3
/// endpoint with the bucket, if it has one. Calls `resolve` at most once.
std::string store_of(const Route& route, const ResolvePath& resolve);

/// The stores of all routes, in their order.
std::vector<std::string> stores_of(const std::vector<Route>& routes, const ResolvePath& resolve);

/// Why two routes must not be over these stores.
struct DataConflict {
  enum class Kind : std::uint8_t {
    kNested,   ///< One store is inside the other.
    kSetting,  ///< One store has two values of a setting.
    kFence,    ///< One resource would have two keys, or it is not proved that it has one.
  };
  Kind kind = Kind::kNested;
  std::string setting;  ///< The key, for `kSetting`: `files.sync`, `sqlite.marks`.
  std::string store;    ///< What they share, as seen from the second: `the files root "/srv"`.
};

/// Finds the first conflict between two routes; nothing if both may run. The stores are those of
/// `store_of`.
///
/// The same data under two fences is no fence: a write through one route is stale for the other and
/// nobody sees it. So files roots and the base paths of one upstream must not be nested, and two
/// routes share a root, a table of documents or an upstream only with keys that are provably the
/// same. Settings of the store itself are then the same too: `files.sync`, the `sqlite.marks` of
/// one database, the mapping of one table, the `s3.deletes` of one bucket. Likewise for buckets,
/// where a route to any bucket reaches each of them, and for an `http` route to the path of one.
/// What statements touch is not known: the operator's word counts. Pure.
std::optional<DataConflict> data_conflict(const Route& first, const std::string& first_store,
                                          const Route& second, const std::string& second_store);

/// `data_conflict` as a sentence for a configuration that has both; `first` is named in it. Pure.
std::optional<std::string> same_data_problem(const Route& first, const std::string& first_store,
                                             const Route& second, const std::string& second_store);

/// True if a write through one of the routes may change what the other one reads or writes: the
/// same files, table or upstream, or statements on the same database. Pure.
bool may_share_data(const Route& first, const std::string& first_store, const Route& second,
                    const std::string& second_store);

/// True if both backends are the same in all their settings; paths count as what they lead to.
/// Pure.
bool same_backend(const Route& first, const std::string& first_store, const Route& second,
                  const std::string& second_store);

/// True if `path` is `directory` or is below it. Both absolute and canonical. Pure.
bool is_inside(const std::string& path, const std::string& directory);

}  // namespace fenceline::config
