#include "tests/support/lease_calls.h"

#include <memory>
#include <utility>

#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

// Shared, so that an answer that comes after the test gave up finds it alive.
template <typename T, typename Start>
base::Result<T> answer_of(const Start& start) {
  const auto answer = std::make_shared<Arrivals<base::Result<T>>>();
  start([answer](base::Result<T> result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

}  // namespace

fencing::Lease lease_of(const std::string& id, const std::vector<std::string>& keys,
                        const std::string& holder) {
  fencing::Lease lease;
  lease.id = id;
  for (const std::string& key : keys) {
    lease.keys.push_back(key_of(key));
  }
  lease.holder = holder;
  lease.request_id = "request-" + id;
  lease.ttl = std::chrono::seconds(10);
  return lease;
}

fencing::Lease with_token(fencing::Lease lease, std::int64_t token) {
  lease.token = base::Token::of(token);
  return lease;
}

base::Result<base::Token> grant_now(fencing::LeaseStore& store, const fencing::GrantOrder& order) {
  return answer_of<base::Token>([&](auto done) { store.grant(order, std::move(done)); });
}

base::Result<base::Token> end_now(fencing::LeaseStore& store, const fencing::EndOrder& order) {
  return answer_of<base::Token>([&](auto done) { store.end_leases(order, std::move(done)); });
}

base::Result<void> change_ttl_now(fencing::LeaseStore& store, const std::string& id,
                                  base::Milliseconds ttl) {
  return answer_of<void>([&](auto done) { store.change_ttl(id, ttl, std::move(done)); });
}

base::Result<fencing::LeaseRecords> leases_now(fencing::LeaseStore& store) {
  return answer_of<fencing::LeaseRecords>([&](auto done) { store.list_leases(std::move(done)); });
}

}  // namespace fenceline::testing
