#pragma once

// From a failed system call on a resource to an error with a sentence.

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace fenceline::backends::files {

/// What a request wanted with the name; the same errno means different things.
enum class Use : std::uint8_t { kRead, kPut, kDelete };

/// The error for `-errno` (negative) of a call on the resource `name`; `applied` is `kNo`.
/// ELOOP and EXDEV (symlink, mount point), EACCES and special files become `kForbiddenName`; a file
/// as a parent is `kNameConflict` for a PUT and `kNotFound` for others; a directory in the way is
/// `kNameConflict`; a name too long is `kTargetTooLong`; no free descriptors are `kOverloaded`; a
/// full disk is `kInsufficientStorage`; the rest is `kStorageFailed`. Pure.
base::Error error_of(int code, Use use, std::string_view name);

/// The error for a name that is a symlink, a special file or on another file system.
base::Error forbidden(std::string_view name);

/// The error for a name that is a directory where a file is meant.
base::Error is_directory(std::string_view name);

/// The error for a resource that is not there.
base::Error not_found(std::string_view name);

}  // namespace fenceline::backends::files
