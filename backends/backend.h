#pragma once

// What stands behind a route. A backend decides nothing about tokens (design, 8): the pipeline
// calls `read` and `stage`, then `commit`, at the moments the protocol gives.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "base/once.h"
#include "base/stamp.h"
#include "base/timer_wheel.h"
#include "base/token.h"

namespace fenceline::backends {

namespace s3 {
struct S3Request;
}

/// How far the fence holds (design, 4), weakest first.
enum class Guarantee : std::uint8_t {
  kNone,     ///< The route does not fence.
  kDetect,   ///< Stale writes are seen, but some writes can pass.
  kBounded,  ///< Strict but for one named assumption.
  kStrict,   ///< S1 to S4 of the design.
};

/// `none`, `detect`, `bounded` or `strict`.
std::string_view to_string(Guarantee guarantee);

/// What a backend guarantees for one kind of write: "PUT", "DELETE", "POST".
struct OperationGuarantee {
  std::string operation;
  Guarantee guarantee = Guarantee::kNone;
  std::string how;  ///< A sentence for the operator: by which means, or why not more.
};

/// What a backend can do, from a probe where it is somebody else's server.
struct Capabilities {
  Guarantee guarantee = Guarantee::kNone;
  std::string assumption;  ///< One sentence for the operator; empty when strict.
  /// Only where the kinds of writes differ; `guarantee` is then the weakest of them.
  std::vector<OperationGuarantee> operations = {};
  /// How long after its connection was closed a write of unknown outcome may still take effect;
  /// nothing: only an operator can tell (`settle: manual`). Used for writes with an intent that
  /// cannot be revoked.
  std::optional<base::Milliseconds> settle_after = {};
};

/// One request for one resource. Plain data; lives until the request has been answered.
struct ResourceRequest {
  const base::RequestHead& head;
  /// Canonical name: decoded once, no empty and no dot segments, no leading or trailing slash.
  /// Empty for the root of the route.
  std::string_view name;
  /// True if the client's path ended in `/`: a directory is meant, never a file.
  bool names_directory = false;
  /// What the wildcards of the route's pattern took from the path, decoded, one value a name.
  std::span<const std::string> part_names = {};
  std::span<const std::string_view> part_values = {};
  /// What came with a read whose method has content (a POST that reads, SEARCH, REPORT). Null where
  /// nothing is to be read; `stage` takes its body apart from this.
  base::BodySource* body = nullptr;
  std::string_view peer = {};  ///< "address:port" of the client.
  bool over_tls = false;       ///< The client's connection is encrypted.
  /// True if whatever lies below `name` has the fence of this request, or there is none to keep.
  /// False: the write must not reach below its own resource.
  bool fence_covers_below = false;
  /// The time-outs of the core that runs the request. Null only where a test drives a backend that
  /// waits for nobody.
  base::TimerWheel* timers = nullptr;
  /// What an S3 request is; only for the S3 backend.
  const s3::S3Request* s3 = nullptr;
};

/// What must be on record, durably, before a write is committed whose effect may come after this
/// process has ended (model d2, d3, d6).
struct WriteIntent {
  /// What `Backend::revoke` needs to find the write again; visible ASCII, at most 2 KiB.
  std::string data;
  /// True: it stands for all writes of one token with the same data, so a holder that writes again
  /// and again pays once. False: for this write alone.
  bool shared = false;
};

/// What could be done about a write of an older token whose outcome is unknown.
enum class Revocation : std::uint8_t {
  kUnknown,  ///< This store has no means to tell; `Capabilities::settle_after` decides.
  /// It waits for a state that the resource is not in now. It takes no effect unless somebody
  /// brings that state back, so it stays on record, and every newer write says how it bears on it.
  kDormant,
  kRevoked,  ///< From now on it takes no effect (perhaps it has had it).
};

/// How a staged write bears on an older write of unknown outcome (model d3, burned preconditions).
enum class Bearing : std::uint8_t {
  kNone,  ///< Whether or not it is committed, the older one is as able to take effect as before.
  /// From its success on the older one cannot take effect, whatever state it has waited for.
  kReplaces,
  /// Its success brings, or could bring, the state back that the older one waits for.
  kRevives,
};

/// Who wrote a resource last.
struct LastWrite {
  bool exists = false;
  /// `Stamp::request_id`; empty if that is not known: somebody else wrote it, or the store keeps no
  /// stamps.
  std::string request_id = {};
};

/// What `Backend::find_stamp` says, as that.
base::Result<LastWrite> as_last_write(base::Result<std::optional<base::Stamp>> stamp);

struct StagedPart;

/// A write that has no visible effect yet. Destroying it uncommitted leaves no trace.
class StagedWrite {
 public:
  StagedWrite() = default;
  StagedWrite(const StagedWrite&) = delete;
  StagedWrite& operator=(const StagedWrite&) = delete;
  virtual ~StagedWrite() = default;

  /// Makes the write visible and durable.
  /// Does: evaluates `If-Match`, `If-None-Match`, `If-Unmodified-Since` against the resource, then
  /// the one atomic effect, then makes it durable, in one step with regard to every other commit
  /// of this backend on the same resource. Call at most once.
  /// Success: the effect is durable; the answer for the client.
  /// Failure: `applied` is `kNo` when nothing changed (`kPreconditionFailed`, `kNotFound`,
  /// `kNameConflict`, `kConstraintFailed`, `kForbiddenName`, `kInsufficientStorage`,
  /// `kStorageFailed`, `kOverloaded`, `kMalformedRequest`, `kUpstreamFailed`; `kStaleToken` from a
  /// store that keeps marks itself, with `Error::store_mark`, and from one where somebody newer has
  /// revoked the write), `kUnknown` when the effect may or may not last, or may still come
  /// (`kStorageFailed`, `kUpstreamFailed`, `kUpstreamTimeout`). Concurrency: runs on the caller's
  /// core, but may work on another thread. The caller keeps this object alive until the outcome is
  /// there; there is no cancelling.
  virtual base::Awaitable<base::Result<base::Reply>> commit() = 0;

  /// As `commit`, but once for all requests with the same key: the answer is kept in the same
  /// transaction as the effect, and given again instead of a second effect. Only where
  /// `Backend::commits_once`.
  /// Failure, besides those of `commit`: `kIdempotencyReused`; `kOverloaded` where no more can be
  /// kept; `kBodyTooLarge` if the answer is too large to be kept, then there is no effect.
  virtual base::Awaitable<base::Result<base::Reply>> commit_once(base::Once /*once*/) {
    return base::Awaitable<base::Result<base::Reply>>::ready(
        base::fail(base::ErrorKind::kInternal, "this store keeps no answers"));
  }

  /// What has to be on record before `commit` is called; nothing for a write that cannot outlive
  /// this process. Constant for one staged write.
  [[nodiscard]] virtual std::optional<WriteIntent> intent() const { return std::nullopt; }

  /// How it bears on an older write of unknown outcome, whose `WriteIntent::data` this is, perhaps
  /// from another backend. Asked before `commit`, when the permit is held: no older write begins
  /// any more. Where the answer is `kReplaces` the older one need not be revoked first, and where
  /// it is `kRevives` this one is not committed. Pure.
  [[nodiscard]] virtual Bearing bearing_on(std::string_view /*data*/) const {
    return Bearing::kNone;
  }

  /// Of a request that is several writes, each of another resource, with an intent and an outcome
  /// of its own: those, in the order in which they are committed, one after the other; at least
  /// one. Then nobody calls `commit`, `commit_once` and `intent` of this one, and `bearing_on` is
  /// that of all of them together. Empty for every other write. Constant but for their outcomes.
  [[nodiscard]] virtual std::span<StagedPart> parts() { return {}; }
};

/// One of several writes of a request. Plain data.
struct StagedPart {
  std::size_t named = 0;  ///< Which of the resources that the request names, in its order.
  std::unique_ptr<StagedWrite> write = {};
  /// Of `commit`; or of `stage` already, where that failed for this one alone: then there is no
  /// write.
  std::optional<base::Result<base::Reply>> outcome = {};
};

/// One store behind a route. Used by all cores at once.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// What it can guarantee. Thread-safe. Constant after construction, but for somebody else's
  /// server that was probed again.
  [[nodiscard]] virtual Capabilities capabilities() const = 0;

  /// True if `method` reads, false if it writes. Unknown methods are writes. Pure.
  [[nodiscard]] virtual bool is_read(const base::RequestHead& head) const = 0;

  /// The methods it takes, for `Allow`: "GET, HEAD, PUT, DELETE". Constant.
  [[nodiscard]] virtual std::string_view allowed_methods() const = 0;

  /// Reads a resource.
  /// Does: evaluates conditional and range headers, opens the content. What the answer shows was
  /// the state at one moment during the call.
  /// Success: the answer, also 304; its body is streamed after the call.
  /// Failure: `kNotFound`, `kPreconditionFailed`, `kRangeNotSatisfiable`, `kForbiddenName`,
  /// `kStorageFailed`, and those of an upstream; `applied` is `kNo`.
  /// Concurrency: thread-safe; `request` must outlive the call.
  virtual base::Awaitable<base::Result<base::Reply>> read(ResourceRequest request) = 0;

  /// The read of a request that carries a token, called when its permit is held. A store that keeps
  /// marks itself raises the one of `stamp.key` to `stamp.token` in the same step, durably.
  /// Failure: as `read`; `kStaleToken` as `StagedWrite::commit`.
  virtual base::Awaitable<base::Result<base::Reply>> fenced_read(ResourceRequest request,
                                                                 base::Stamp /*stamp*/) {
    return read(request);
  }

  /// Makes sure that a write of an older token whose outcome is unknown takes no effect any more.
  /// Does: `data` is that of its `WriteIntent`, perhaps from before a restart. Called while a newer
  /// permit of the same key is held, so no older write begins meanwhile. Idempotent.
  /// Success: what it came to. `kDormant` holds for a state that was read during the call. Failure:
  /// `kUpstreamFailed`, `kUpstreamTimeout`: not known yet, try again later.
  virtual base::Awaitable<base::Result<Revocation>> revoke(std::string_view /*data*/,
                                                           base::TimerWheel& /*timers*/) {
    return base::Awaitable<base::Result<Revocation>>::ready(Revocation::kUnknown);
  }

  /// Sets the mark that the store itself keeps for `key` to `to` (none: forgets it), after an
  /// operator's reset in the ledger. Nothing to do for a store that keeps none.
  /// Success: durable. Failure: `kStorageFailed`; the mark is as it was.
  virtual base::Awaitable<base::Result<void>> reset_mark(std::string /*key*/, base::Token /*to*/) {
    return base::Awaitable<base::Result<void>>::ready({});
  }

  /// Takes a write's body to where nobody sees it.
  /// Does: reads `body` to its end; holds no lock meanwhile, so a stalled upload blocks nobody.
  /// Success: a staged write that keeps `stamp` with its content.
  /// Failure: those of `body`, and `kInsufficientStorage`, `kStorageFailed`, `kForbiddenName`,
  /// `kNameConflict`, `kMethodNotAllowed`; nothing is left behind.
  /// Concurrency: thread-safe; `request` and `body` must outlive the call and, for the request, the
  /// staged write.
  virtual base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage(ResourceRequest request,
                                                                            base::BodySource& body,
                                                                            base::Stamp stamp) = 0;

  /// Whether its writes have `commit_once`. Constant.
  [[nodiscard]] virtual bool commits_once() const { return false; }

  /// Looks up the stamp that the last write kept with the resource.
  /// Success: the stamp (without its key, which the caller knows); nothing if the content was not
  /// written through us. Failure: `kNotFound`, `kForbiddenName`, `kStorageFailed`. Thread-safe;
  /// may block for one metadata lookup.
  virtual base::Result<std::optional<base::Stamp>> find_stamp(std::string_view name) = 0;

  /// False if `find_stamp` finds none by the name alone, whoever wrote the resource. Constant.
  [[nodiscard]] virtual bool shows_stamps() const { return true; }

  /// Who wrote the resource of `request` last. By default what `find_stamp` says.
  /// Failure: `kForbiddenName`, `kStorageFailed`, those of an upstream. `request` outlives the
  /// call.
  virtual base::Awaitable<base::Result<LastWrite>> last_write(ResourceRequest request);

  /// Nothing while writes are taken; otherwise why not, for `/readyz` and the admin API.
  [[nodiscard]] virtual std::optional<std::string> out_of_service() const = 0;

  /// Nothing while the place that was named at the opening still leads to the store that is open;
  /// otherwise a sentence for `/readyz`: it was deleted, moved or replaced behind our back. Reads
  /// and writes are not affected by what this says. Thread-safe; may block for a metadata lookup.
  [[nodiscard]] virtual std::optional<std::string> displaced() const { return std::nullopt; }
};

}  // namespace fenceline::backends
