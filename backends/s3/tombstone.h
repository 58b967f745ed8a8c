#pragma once

// Tombstones (model d3): where the upstream keeps to conditions on PUT but not on DELETE, a deleted
// object becomes a small one that is marked as such. "Absent" is then a state that no older write
// waits for, and a deletion is a write like others. Reads hide them; lists cannot.

#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/http/send.h"
#include "backends/s3/s3_upstream.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/stamp.h"

namespace fenceline::backends::s3 {

/// The content of a new tombstone: 53 bytes with 128 random bits, so that its entity tag is none
/// that any object has had. May be called on every core.
std::string new_tombstone();

/// The head of its PUT, not signed yet; `if_match`: in the form that the upstream takes. Pure.
http::Outgoing tombstone_head(const S3Options& options, const ResourceRequest& request,
                              const base::Stamp& stamp, std::string_view if_match);

/// True for an answer that shows one.
bool shows_tombstone(const base::net::ResponseHead& head);

/// True for a read whose answer may be about a tombstone and not show that: its status leaves out
/// the metadata (304, 400, 412, 416), or it reads what is beside the content, such as tags; only
/// where the route has tombstones. Pure.
bool may_show_less(const S3Options& options, const ResourceRequest& request, int status);
bool reads_beside(const S3Options& options, const ResourceRequest& request);

/// Looks at the object that a request names, in the version that it names. What is not shown to us
/// (an object under a key of a client) is no tombstone.
/// Failure: 404 `NoSuchKey` for a tombstone; as `look_at_version`.
base::Awaitable<base::Result<void>> check_for_tombstone(SharedS3 upstream, ResourceRequest request);

/// 404 `NoSuchKey`.
base::Error no_such_key();

/// What a write finds out about the object that has to be there for it: the source of a copy, or
/// the object whose metadata it changes. Plain data.
struct Needed {
  std::string source_etag = {};  ///< Of the source of a copy, where it is seen; else empty.
};

/// Looks for that object, on a route with tombstones; elsewhere nothing is asked.
/// Failure: 404 `NoSuchKey` for a tombstone; as `copy_source_upstream` and `look_at_version`.
base::Awaitable<base::Result<Needed>> look_at_needed(SharedS3 upstream, ResourceRequest request);

/// After a copy that succeeded with `reply`: looks whether its source has become a tombstone that
/// was copied, as can be where the upstream does not keep to a condition on the source.
/// Success: `reply`, or 500 `InternalError` in its place. A source that cannot be seen is believed.
base::Awaitable<base::Result<base::Reply>> check_what_was_copied(SharedS3 upstream,
                                                                 ResourceRequest request,
                                                                 base::Reply reply);

}  // namespace fenceline::backends::s3
