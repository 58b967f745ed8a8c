#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace fenceline::fencing {

/// Unseeded.
inline std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>{}(key); }

/// A key with its hash, which is computed once for shard, table and idle marks. Does not own the
/// text.
struct HashedKey {
  explicit HashedKey(std::string_view key) : text(key), hash(hash_of(key)) {}
  std::string_view text;
  std::size_t hash;
  friend bool operator==(const HashedKey& left, const HashedKey& right) {
    return left.hash == right.hash && left.text == right.text;
  }
};
struct HashOfKey {
  std::size_t operator()(const HashedKey& key) const { return key.hash; }
};

}  // namespace fenceline::fencing
