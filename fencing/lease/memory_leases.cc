#include "fencing/lease/memory_leases.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace fenceline::fencing {

base::Result<base::Token> MemoryLeases::apply(LeaseChange change, Marks& marks) {
  return std::visit(
      [this, &marks](auto& order) -> base::Result<base::Token> {
        using Order = std::decay_t<decltype(order)>;
        if constexpr (std::is_same_v<Order, GrantOrder>) {
          return grant(std::move(order), marks);
        } else if constexpr (std::is_same_v<Order, EndOrder>) {
          return end(order, marks);
        } else {
          change_ttl(order);
          return base::Token();
        }
      },
      change);
}

base::Result<base::Token> MemoryLeases::grant(GrantOrder order, Marks& marks) {
  if (conflicts(order)) {
    return tl::unexpected(granted_twice());
  }
  auto token = take_token(order.lease.keys, order.lease.holder, order.above, marks);
  if (!token) {
    return token;
  }
  drop(order.ended, order.delays_over);
  order.lease.token = *token;
  for (const base::FenceKey& key : order.lease.keys) {
    owners_[key] = order.lease.id;
  }
  leases_[order.lease.id] = std::move(order.lease);
  return token;
}

base::Result<base::Token> MemoryLeases::end(const EndOrder& order, Marks& marks) {
  base::Result<base::Token> token;
  if (!order.fenced.empty()) {
    token = take_token(order.fenced, {}, order.above, marks);
    if (!token) {
      return token;
    }
  }
  drop(order.ids, order.delays_over);
  for (const LockDelay& delay : order.delays) {
    delays_[delay.key] = delay.delay;
  }
  return token;
}

void MemoryLeases::change_ttl(const TtlOrder& order) {
  if (const auto found = leases_.find(order.id); found != leases_.end()) {
    found->second.ttl = order.ttl;
  }
}

void MemoryLeases::drop(const std::vector<std::string>& ids,
                        const std::vector<base::FenceKey>& delays_over) {
  for (const std::string& id : ids) {
    const auto found = leases_.find(id);
    if (found == leases_.end()) {
      continue;
    }
    for (const base::FenceKey& key : found->second.keys) {
      owners_.erase(key);
    }
    leases_.erase(found);
  }
  for (const base::FenceKey& key : delays_over) {
    delays_.erase(key);
  }
}

base::Result<base::Token> MemoryLeases::take_token(const std::vector<base::FenceKey>& keys,
                                                   const std::string& holder, base::Token above,
                                                   Marks& marks) {
  base::Token highest = std::max(sequence_, above);
  for (const base::FenceKey& key : keys) {
    if (const auto found = marks.find(key.text()); found != marks.end()) {
      highest = std::max(highest, found->second.token);
    }
  }
  auto token = token_after(highest);
  if (token) {
    sequence_ = sequence_after(sequence_, *token);
    for (const base::FenceKey& key : keys) {
      marks[key.text()] = Mark{*token, holder};
    }
  }
  return token;
}

bool MemoryLeases::conflicts(const GrantOrder& order) const {
  const auto stays = [&order](const std::string& id) {
    return std::ranges::find(order.ended, id) == order.ended.end();
  };
  return (leases_.contains(order.lease.id) && stays(order.lease.id)) ||
         std::ranges::any_of(order.lease.keys, [this, &stays](const base::FenceKey& key) {
           const auto owner = owners_.find(key);
           return owner != owners_.end() && stays(owner->second);
         });
}

LeaseRecords MemoryLeases::all() const {
  LeaseRecords records;
  for (const auto& [id, lease] : leases_) {
    records.leases.push_back(lease);
  }
  for (const auto& [key, delay] : delays_) {
    records.delays.push_back({key, delay});
  }
  return records;
}

}  // namespace fenceline::fencing
