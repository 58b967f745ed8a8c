#pragma once

// What is kept beside the content of a file: one extended attribute, written in one call.

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/files/syscalls.h"
#include "base/error.h"
#include "base/token.h"

namespace fenceline::backends::files {

inline constexpr const char* kAttributeName = "user.fenceline";

/// No value of ours is longer; a longer one was written by somebody else.
inline constexpr std::size_t kMaxAttributeBytes = 512;

/// The attribute's content. Text, separated by single blanks, content type last and maybe empty:
/// `1 <token> <nonce> <request id> <content type>`; the leading 1 is the format's version.
struct Metadata {
  base::Token token;         ///< No token on a write without a fence.
  std::string nonce;         ///< Never repeats: the basis of the entity tag.
  std::string request_id;    ///< Visible ASCII, at most 64 bytes.
  std::string content_type;  ///< As sent with the PUT; empty if none was.
};

/// The attribute's value.
std::string encode(const Metadata& metadata);

/// Nothing if `text` is not exactly what `encode` writes: a file with a foreign attribute is served
/// like one without. Pure.
std::optional<Metadata> decode(std::string_view text);

/// A file at one moment.
struct FileState {
  struct stat status {};
  std::optional<Metadata> metadata;
  std::string etag;
};

/// Looks at an open file.
/// Success: its state; a file without our attribute is a success too.
/// Failure: `kStorageFailed`: without the attribute's nonce the entity tag would be a guess.
base::Result<FileState> inspect(Syscalls& calls, int fd);

/// The same for a caller that knows the status already.
base::Result<FileState> inspect(Syscalls& calls, int fd, const struct stat& status);

/// The entity tag of a file with our attribute: strong, since the nonce never repeats, and changed
/// by an edit in place, which changes modification time or size. Pure.
std::string etag_of(const Metadata& metadata, const struct stat& status);

/// The entity tag of a file that others put there, from inode, times and size. Weak while
/// `now_ns` is less than two seconds after its last change (or before it): another change could
/// then leave all of these as they are. Pure.
std::string foreign_etag(const struct stat& status, std::int64_t now_ns);

}  // namespace fenceline::backends::files
