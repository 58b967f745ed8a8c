#pragma once

// What is kept beside the content of a file: one extended attribute, written in one call.

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/files/packed.h"
#include "backends/files/syscalls.h"
#include "base/error.h"
#include "base/token.h"

namespace fenceline::backends::files {

inline constexpr const char* kAttributeName = "user.fenceline";

/// No value of ours is longer; a longer one was written by somebody else.
inline constexpr std::size_t kMaxAttributeBytes = 512;

/// What the attribute says. Views into whatever holds it.
struct Metadata {
  base::Token token;              ///< No token on a write without a fence.
  PackedId nonce;                 ///< Never repeats: the basis of the entity tag.
  PackedId request_id;            ///< Visible ASCII, at most 64 bytes.
  std::string_view content_type;  ///< As sent with the PUT; empty if none was.
};

/// The attribute's value: a 2, the format's version, the token (0: none), nonce and request id,
/// packed, and the content type, maybe empty. Short, because ext4 keeps 60 bytes of it in an inode
/// of 256; a longer one gets a block of its own, for each file.
std::string encode(const Metadata& metadata);

/// Views into `value`; nothing if that is neither what `encode` writes nor the first format, the
/// text `1 <token> <nonce> <request id> <content type>`: a file with a foreign attribute is served
/// like one without. Pure.
std::optional<Metadata> decode(std::string_view value);

/// A file at one moment. Stays where it was filled.
struct FileState {
  FileState() {}  // NOLINT: leaves `attribute` as it is, half a KiB for every read.
  FileState(const FileState&) = delete;
  FileState& operator=(const FileState&) = delete;

  struct stat status {};
  std::optional<Metadata> metadata;  ///< Views into `attribute`.
  std::string etag;
  std::array<char, kMaxAttributeBytes> attribute;
};

/// Looks at an open file.
/// Success: `file` is its state; a file without our attribute is a success too.
/// Failure: `kStorageFailed`: without the attribute's nonce the entity tag would be a guess.
base::Result<void> inspect(Syscalls& calls, int fd, FileState& file);

/// The same for a caller that knows the status already.
base::Result<void> inspect(Syscalls& calls, int fd, const struct stat& status, FileState& file);

/// The entity tag of a file with our attribute: strong, since the nonce never repeats, and changed
/// by an edit in place, which changes modification time or size. Pure.
std::string etag_of(std::string_view nonce, const struct stat& status);

/// The entity tag of a file that others put there, from inode, times and size. Weak while
/// `now_ns` is less than two seconds after its last change (or before it): another change could
/// then leave all of these as they are. Pure.
std::string foreign_etag(const struct stat& status, std::int64_t now_ns);

}  // namespace fenceline::backends::files
