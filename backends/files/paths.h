#pragma once

// From resource names to open directories and files, never outside the root and never through a
// symlink.

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "backends/files/errors.h"
#include "backends/files/store.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {

/// The name at the top of the root that is ours alone.
inline constexpr std::string_view kPrivateName = ".fenceline";

/// Checks a name before any system call sees it.
/// Success: canonical, or empty for the root. Failure: `kForbiddenName` for the reserved name,
/// `kTargetTooLong` above 255 bytes in a segment or 4095 in all, `kMalformedRequest` for what the
/// router should have refused (an empty or dot segment, a NUL byte): two spellings of one file
/// would be two fence keys. Pure.
base::Result<void> check_name(std::string_view name);

/// A name cut at its last slash. Views into the name it was made from.
struct SplitName {
  std::string_view parent;  ///< Empty for the root.
  std::string_view leaf;    ///< Not empty; ends where the name ends.
};
SplitName split(std::string_view name);

/// Opens the content of a resource: a file or a directory, for reading; never blocks on a FIFO.
/// Failure: as `error_of` says for reads; `kForbiddenName` for everything else than the two.
struct OpenedResource {
  base::UniqueFd fd;
  struct stat status {};
};
base::Result<OpenedResource> open_resource(Store& store, const std::string& name);

/// Opens the directory that holds (or would hold) `name`, good for fsync.
/// Success: the directory; nothing if there is none. Failure: as `error_of` says for `use`.
base::Result<SharedFd> find_parent(Store& store, std::string_view name, Use use);

/// Makes the directories above `name` that are missing, each durable (in `SyncMode::kFull`) before
/// anyone can rely on it, and opens the last.
/// Failure: as `error_of` says for a PUT; directories made so far stay. A failed fsync is
/// `kStorageFailed` and takes the backend out of service.
base::Result<SharedFd> make_parents(Store& store, std::string_view name);

/// Looks at the file `leaf` in its open directory.
/// Success: its status; nothing if it is not there. Failure: `kNameConflict` if it is a directory,
/// `kForbiddenName` if it is anything else but a file of our file system.
base::Result<std::optional<struct stat>> find_file(Store& store, int parent, const char* leaf,
                                                   Use use);

}  // namespace fenceline::backends::files
