#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "tests/client/source_contract.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

struct SharedServer {
  std::string name;
  std::unique_ptr<SourceServer> server;
};

SharedServer& shared_server() {
  static SharedServer shared;
  return shared;
}

std::string unique_name() {
  static std::atomic<int> count = 0;
  return fmt::format("{}-{}", ::getpid(), count.fetch_add(1));
}

}  // namespace

void SourceContract::TearDownTestSuite() { shared_server() = {}; }

SourceContract::SourceContract() {
  SharedServer& shared = shared_server();
  if (shared.server == nullptr || shared.name != GetParam().name) {
    shared = {};
    shared = {GetParam().name, GetParam().make()};
  }
}

SourceServer& SourceContract::server() { return *shared_server().server; }

SourceContract::Source SourceContract::open() const {
  auto source = client::make_source(shared_server().server->url(), clock_);
  if (!source) {
    throw std::runtime_error(source.error().detail);
  }
  return std::move(*source);
}

base::FenceKey SourceContract::key(const std::string& name) {
  return base::FenceKey::parse(fmt::format("contract/{}/{}", name, unique_name())).value();
}

client::LeaseOrder SourceContract::order(const base::FenceKey& key,
                                         const std::string& holder) const {
  client::LeaseOrder order;
  order.keys = {key};
  order.holder = holder;
  order.attempt = fmt::format("attempt-{}-{}", unique_name(), now().time_since_epoch().count());
  order.ttl = kLong;
  return order;
}

client::LeaseOrder SourceContract::short_order(const base::FenceKey& key,
                                               const std::string& holder) const {
  client::LeaseOrder short_one = order(key, holder);
  short_one.ttl = Milliseconds(shared_server().server->shortest_ttl_ms());
  return short_one;
}

client::LeaseOrder SourceContract::waiting(client::LeaseOrder order) {
  order.wait = kLong;
  return order;
}

base::Milliseconds SourceContract::shortest_ttl() {
  return Milliseconds(server().shortest_ttl_ms());
}

client::Grant SourceContract::must_acquire(client::TokenSource& source,
                                           const client::LeaseOrder& order) {
  auto grant = source.acquire(order, {});
  if (!grant) {
    throw std::runtime_error(fmt::format("acquire for {}: {}: {}", order.holder,
                                         base::name_of(grant.error().kind), grant.error().detail));
  }
  return std::move(*grant);
}

void SourceContract::wait_until_free(client::TokenSource& source, const base::FenceKey& key,
                                     Milliseconds timeout) {
  wait_until(
      "nobody to hold the key",
      [&] {
        const auto held = source.show(key);
        return held && !held->has_value();
      },
      timeout);
}

void SourceContract::let_pass(Milliseconds time) const {
  const base::MonotonicTime end = now() + time;
  wait_until("time to pass", [&] { return now() >= end; });
}

bool SourceContract::is_free_for_others(const base::FenceKey& key, Milliseconds timeout) const {
  const Source other = open();
  client::LeaseOrder mine = order(key, "another");
  mine.wait = timeout;
  const auto grant = other->acquire(mine, {});
  return grant && other->release(*grant);
}

base::Result<client::Grant> SourceContract::renew_through(client::TokenSource& source,
                                                          const client::Grant& grant) {
  base::Result<client::Grant> renewed = grant;
  wait_until("the source to answer a renewal", [&] {
    renewed = source.renew(grant, {});
    return renewed || renewed.error().kind == base::ErrorKind::kLeaseEnded;
  });
  return renewed;
}

}  // namespace fenceline::testing
