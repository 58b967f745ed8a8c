#pragma once

#include <cstdint>
#include <string_view>

namespace fenceline::testing {

/// The system calls that can be made to fail, each with its relatives: `open` is also `openat` and
/// `openat2`, `pwrite` is `pwrite64`, `rename` is `renameat` and `renameat2`.
enum class Call : std::uint8_t {
  kOpen,
  kWrite,
  kPwrite,
  kFsync,
  kFdatasync,
  kRename,
  kLink,
  kFtruncate,
  kUnlink,
  kMkdir,
  kSetxattr,
};
inline constexpr std::size_t kCalls = 11;

inline constexpr std::string_view kCallNames[kCalls] = {
    "open", "write",     "pwrite", "fsync", "fdatasync", "rename",
    "link", "ftruncate", "unlink", "mkdir", "setxattr"};

}  // namespace fenceline::testing
