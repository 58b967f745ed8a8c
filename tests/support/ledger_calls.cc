#include "tests/support/ledger_calls.h"

#include <memory>

namespace fenceline::testing {
namespace {

using fencing::KeyedMark;
using fencing::Ledger;
using fencing::Mark;

// Shared, so that an answer that comes after the test gave up finds it alive.
template <typename T>
using Answer = std::shared_ptr<Arrivals<base::Result<T>>>;

template <typename T>
Answer<T> make_answer() {
  return std::make_shared<Arrivals<base::Result<T>>>();
}

}  // namespace

base::FenceKey key_of(std::string text) { return base::FenceKey::parse(std::move(text)).value(); }

Mark mark_of(std::int64_t token, std::string holder) {
  return Mark{base::Token::of(token), std::move(holder)};
}

base::Result<Mark> raise_now(Ledger& ledger, const std::string& key, const Mark& offered) {
  const auto answer = make_answer<Mark>();
  ledger.raise(key_of(key), offered, [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

base::Result<Mark> find_now(Ledger& ledger, const std::string& key) {
  const auto answer = make_answer<Mark>();
  ledger.find(key_of(key), [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

fencing::ResetOrder order_to(std::int64_t to, std::int64_t from) {
  fencing::ResetOrder order;
  order.to = base::Token::of(to);
  order.from = base::Token::of(from);
  order.reason = "the source was restored";
  return order;
}

base::Result<fencing::ResetOutcome> reset_now(Ledger& ledger, const std::string& key,
                                              const fencing::ResetOrder& order) {
  const auto answer = make_answer<fencing::ResetOutcome>();
  ledger.reset(key_of(key), order, [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

base::Result<std::vector<fencing::ResetRecord>> resets_now(Ledger& ledger, const std::string& key,
                                                           std::size_t limit) {
  const auto answer = make_answer<std::vector<fencing::ResetRecord>>();
  ledger.resets(key_of(key), limit, [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

fencing::Intent intent_of(const std::string& key, std::int64_t token, std::string data) {
  return fencing::Intent{key, base::Token::of(token), "orders", std::move(data)};
}

base::Result<void> put_now(Ledger& ledger, const fencing::Intent& put,
                           const std::vector<fencing::Intent>& drop) {
  const auto answer = make_answer<void>();
  ledger.put_intent(put, drop, [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

base::Result<void> drop_now(Ledger& ledger, const std::vector<fencing::Intent>& drop) {
  const auto answer = make_answer<void>();
  ledger.drop_intents(drop, [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

base::Result<std::vector<fencing::Intent>> intents_now(Ledger& ledger) {
  const auto answer = make_answer<std::vector<fencing::Intent>>();
  ledger.list_intents([answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

base::Result<std::vector<KeyedMark>> scan_now(Ledger& ledger, std::string prefix, std::string after,
                                              std::size_t limit) {
  const auto answer = make_answer<std::vector<KeyedMark>>();
  ledger.scan(std::move(prefix), std::move(after), limit,
              [answer](auto result) { answer->add(std::move(result)); });
  return answer->wait_for(1).front();
}

}  // namespace fenceline::testing
