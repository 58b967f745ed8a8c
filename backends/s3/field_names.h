#pragma once

// Names of fields that an S3 server could read as other ones than we do. All of it is pure.

#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// The metadata that a write keeps with the object: which one it was.
inline constexpr std::string_view kTokenField = "x-amz-meta-fencing-token";
inline constexpr std::string_view kRequestField = "x-amz-meta-fencing-request";
/// The metadata that makes an object a tombstone (tombstone.h).
inline constexpr std::string_view kTombstoneField = "x-amz-meta-fencing-tombstone";

/// Looks at the names of all fields, before anything is decided by one of them.
/// Does: takes names of letters, digits and `-`, and what follows `x-amz-meta-` as it is.
/// Failure: `kMalformedRequest` with `InvalidRequest` and the name: for other names, since S3
/// servers take `_` for `-` (`x_amz_copy_source`); and for those that radosgw reads as `x-amz-…`
/// (`x-goog-meta-…`, `x-rgw-…`).
base::Result<void> check_field_names(const base::RequestHead& head);

/// True for the metadata that only we write, also where only a server would read it as that
/// (`x-amz-meta-fencing_token`).
bool is_stamp(std::string_view name);

}  // namespace fenceline::backends::s3
