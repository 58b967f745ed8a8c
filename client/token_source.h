#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"

namespace fenceline::client {

/// One attempt to get a lease.
struct LeaseOrder {
  /// 1 … 64, sorted, none twice. Sources that lock one name at a time refuse several.
  std::vector<base::FenceKey> keys;
  std::string holder;   ///< For people: who holds it. 1 … 256 visible ASCII.
  std::string attempt;  ///< Random, new for each attempt, the same when it is repeated.
  base::Milliseconds ttl{0};
  base::Milliseconds wait{0};  ///< How long to wait for others; 0: not at all.
};

/// A lease as its holder sees it.
struct Grant {
  std::vector<base::FenceKey> keys;
  std::string lease;  ///< What the source knows it by; visible ASCII; an owner's secret.
  base::Token token;  ///< Strictly larger at each grant of the key.
  base::Milliseconds ttl{0};
  /// Until when it is surely held: `ttl` from before the request was sent, less what the source's
  /// clocks may drift. On a `BoottimeClock`.
  base::MonotonicTime valid_until;
};

/// What a source says about a key.
struct HeldBy {
  std::string holder;  ///< Empty if the source does not keep it.
  base::Token token;   ///< None if the source does not tell it.
  std::optional<base::Milliseconds> left;
};

/// Where leases and their tokens come from: one lock service.
///
/// Calls block, each at most for its own `wait` and some seconds for the network; they come back
/// within half a second when `stop` is requested (`kClientGone`). Not thread-safe: one call at a
/// time, from any thread.
///
/// Failures that all have: `kUpstreamFailed` and `kUpstreamTimeout` (the service cannot be reached
/// or does not answer: `applied` is `kUnknown` unless nothing was sent; a lease that may have been
/// taken is given back as far as possible, and expires else), `kUnauthorized`, `kMalformedRequest`
/// (what this source cannot do, what the key or ttl breaks), `kInternal`.
class TokenSource {
 public:
  TokenSource() = default;
  TokenSource(const TokenSource&) = delete;
  TokenSource& operator=(const TokenSource&) = delete;
  virtual ~TokenSource() = default;

  /// Takes a lease.
  /// Does: tries, and waits for others up to `order.wait`; first come, first served, where the
  /// source can. When it fails or is stopped, it leaves nothing behind that stands in others' way,
  /// as far as it can still reach the source.
  /// Success: the grant; nobody else holds the key, and no later grant has a token that is not
  /// larger. Failure: `kLeaseHeld` with who holds it, as far as the source knows.
  virtual base::Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) = 0;

  /// Extends the lease by its ttl.
  /// Success: the grant with a new `valid_until`; the token stays. Failure: `kLeaseEnded` if it is
  /// surely lost, also if nobody else has it yet; any other failure says nothing: it may be tried
  /// again until `valid_until`.
  virtual base::Result<Grant> renew(const Grant& grant, std::stop_token stop) = 0;

  /// Gives the lease back; only this one, never a successor's. Success: it is free. Failure:
  /// `kLeaseEnded` if it was not held any more.
  virtual base::Result<void> release(const Grant& grant) = 0;

  /// Who holds the key; nothing if nobody does.
  virtual base::Result<std::optional<HeldBy>> show(const base::FenceKey& key) = 0;

  /// Sentences about what in this service's setup can make its tokens fall or vanish (eviction, no
  /// persistence, …), each with the fix. Empty: nothing was found.
  virtual base::Result<std::vector<std::string>> warnings() = 0;

  /// What can be told about its kind: the scheme, such as `redis`.
  [[nodiscard]] virtual std::string_view scheme() const = 0;
};

/// A source by its URL.
///
/// `fenceline://host:port`, `fencelines://` (TLS) · `redis://[user:password@]host:port[/db]`,
/// `rediss://` · `redlock://a:port,b:port,c:port` · `etcd://[user:password@]a:port,b:port…`,
/// `etcds://` · `zookeeper://a:port,b:port[/chroot]` · `postgres://…` as libpq reads it. The query
/// holds options of the source (`?prefix=`, `?ca=`); one that it does not know is an error.
/// Success: connects nowhere yet. Failure: `kMalformedRequest` with the thing, the reason, the fix.
base::Result<std::unique_ptr<TokenSource>> make_source(std::string_view url,
                                                       const base::Clock& clock);

}  // namespace fenceline::client
