#pragma once

// What an S3 request is: the one table that the fence, the permissions and the upstream go by
// (docs/s3.md; read out of the S3 model of botocore). What is not in it is refused.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// What an operation does to the data that a fence protects.
enum class Effect : std::uint8_t {
  kRead,    ///< Changes nothing.
  kStage,   ///< Changes what nobody sees yet: multipart uploads before their completion.
  kCommit,  ///< Changes what an object is: content, metadata, existence.
  kBucket,  ///< Makes or removes a bucket, or changes its configuration.
};

/// Which keys it names.
enum class Keys : std::uint8_t {
  kNone,    ///< The service or a bucket.
  kObject,  ///< The object of the path.
  kInBody,  ///< Those of a DeleteObjects document.
};

/// Where in the service a request points.
enum class Level : std::uint8_t { kService, kBucket, kObject };

/// One row of the table. Static.
struct Operation {
  std::string_view name = {};  ///< As S3 calls it: `PutObject`. Unique.
  /// `GET`, `HEAD`, `PUT`, `POST` or `DELETE`.
  std::string_view method = {};
  Level level = Level::kObject;
  Effect effect = Effect::kRead;
  Keys keys = Keys::kNone;
  /// The names of the query that make it this operation, sorted; all must be there.
  std::span<const std::string_view> markers = {};
  /// Further names it takes, beside those that all take.
  std::span<const std::string_view> parameters = {};
  /// A field that must be there (`x-amz-copy-source`) or, where empty, must not.
  std::string_view field = {};
  /// Known and refused on a fenced route, always: what could take a fence away (lifecycle,
  /// replication, policy, versioning), or is not supported. The sentence says why; empty: taken.
  std::string_view refused = {};
  /// What the names of the fields begin with that it does not take, also where a presigner moved
  /// them into the query: they open a side door. `x-amz-acl: private` is what is without it.
  std::span<const std::string_view> refused_fields = {};
};

/// All rows, for the test that walks them and for docs.
std::span<const Operation> operations();

/// Finds the operation of a request.
/// Does: compares query names exactly, case-sensitively, after decoding them once. `x-id` is only a
/// label and never decides; parameters of a presigned signature are taken everywhere. `level` comes
/// from the path.
/// Success: the row, whose `refused` the caller looks at. Failure: `kMethodUnknown` with the code
/// `NotImplemented` for what is not in the table, naming the query parameter or method, and for
/// fields that make it something else at some servers (`X-HTTP-Method-Override`,
/// `X-Object-Manifest`), and for `refused_fields`; `kMalformedRequest` with `InvalidArgument` for
/// sub-resources that contradict each other, a name twice, `uploadId` without its partner, a
/// parameter that the operation does not have, a value where there is none or none where there must
/// be one. Pure.
base::Result<const Operation*> classify(const base::RequestHead& head, Level level);

}  // namespace fenceline::backends::s3
