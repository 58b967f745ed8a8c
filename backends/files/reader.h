#pragma once

#include <cstddef>
#include <string>

#include "backends/backend.h"
#include "backends/files/paths.h"
#include "backends/files/store.h"

namespace fenceline::backends::files {

/// Content up to this size is copied into the answer, which then goes out in one send; larger
/// content is sent from the file (facts, performance 5).
inline constexpr std::size_t kInlineBytes = 16 * 1024;

/// Answers a GET or HEAD of an open file: 200, 206 or 304, or the error of a condition or range.
/// What is sent is the version that was opened: a commit gives the name another file, and never
/// changes this one.
/// Failure: `kPreconditionFailed`, `kRangeNotSatisfiable` (with its `Content-Range`),
/// `kStorageFailed`, `kMalformedRequest` for broken conditions.
base::Result<base::Reply> read_file(Store& store, const base::RequestHead& head,
                                    OpenedResource opened, const std::string& name);

}  // namespace fenceline::backends::files
