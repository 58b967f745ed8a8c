#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/token.h"
#include "fencing/lease/lease_change.h"
#include "fencing/lease/lease_store.h"
#include "fencing/mark.h"

namespace fenceline::fencing {

/// A lease store's contents in memory, for the ledger in memory. One thread at a time.
class MemoryLeases {
 public:
  using Marks = std::map<std::string, Mark>;

  /// Carries one change out, as `LeaseStore` says; raises marks in `marks`.
  base::Result<base::Token> apply(LeaseChange change, Marks& marks);

  [[nodiscard]] LeaseRecords all() const;

 private:
  base::Result<base::Token> grant(GrantOrder order, Marks& marks);
  base::Result<base::Token> end(const EndOrder& order, Marks& marks);
  void change_ttl(const TtlOrder& order);

  void drop(const std::vector<std::string>& ids, const std::vector<base::FenceKey>& delays_over);
  /// Takes the token after the sequence and the marks of `keys`, and raises them to it.
  base::Result<base::Token> take_token(const std::vector<base::FenceKey>& keys,
                                       const std::string& holder, Marks& marks);
  [[nodiscard]] bool conflicts(const GrantOrder& order) const;

  base::Token sequence_;
  std::map<std::string, Lease> leases_;
  std::map<base::FenceKey, std::string> owners_;  ///< The id of the lease that has the key.
  std::map<base::FenceKey, base::Milliseconds> delays_;
};

}  // namespace fenceline::fencing
