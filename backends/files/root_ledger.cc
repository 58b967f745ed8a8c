#include "backends/files/root_ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "backends/files/paths.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::UniqueFd;

constexpr const char* kFileName = "ledger";
constexpr const char* kUnfinishedName = "ledger";  // in the temporary directory

Error problem(int code, std::string_view what, std::string_view root) {
  return base::error_from_errno(-code, fmt::format("{} \"{}\"", what, root));
}

/// Enough to tell two ledgers apart; what is in the file may be anything.
std::string short_id(std::string_view identity) {
  constexpr std::size_t kShown = 8;
  const std::string_view start = identity.substr(0, kShown);
  const bool plain = std::ranges::all_of(start, [](char c) { return c > ' ' && c <= '~'; });
  return start.size() == kShown && plain ? std::string(start) : "with an unreadable id";
}

Error other_ledger(const std::string& root, std::string_view known, std::string_view identity) {
  return {ErrorKind::kStorageFailed,
          fmt::format("the files of \"{0}\" were fenced by the ledger {1}, whose marks the ledger "
                      "{2} of this server does not have: writers that were shut out would pass. "
                      "Restore the ledger that this root was used with, or, to start with no marks "
                      "on purpose, remove {0}/{3}/{4}",
                      root, short_id(known), short_id(identity), kPrivateName, kFileName)};
}

Result<void> write_all(Syscalls& calls, int fd, std::string_view text, const std::string& root) {
  while (!text.empty()) {
    const ssize_t written =
        uninterrupted([&] { return calls.write(fd, text.data(), text.size()); });
    if (written <= 0) {
      const int code = written < 0 ? static_cast<int>(written) : -EIO;
      return tl::unexpected(problem(code, "cannot write down the ledger of", root));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// The name of the file, and that of the private directory, which may be new as well.
Result<void> sync_names(Syscalls& calls, const PrivateDirectories& directories,
                        const std::string& root) {
  for (const int directory : {directories.own, directories.root}) {
    if (const int code = calls.fsync(directory); code < 0) {
      return tl::unexpected(problem(code, "cannot make durable the ledger's id in", root));
    }
  }
  return {};
}

}  // namespace

Result<bool> check_ledger(Syscalls& calls, const PrivateDirectories& directories,
                          const std::string& root, const std::string& identity) {
  // Not blocking: somebody may have put a pipe there.
  const UniqueFd fd(uninterrupted(
      [&] { return calls.open_beneath(directories.own, kFileName, O_RDONLY | O_NONBLOCK); }));
  if (fd.get() == -ENOENT) {
    return false;
  }
  if (!fd.valid()) {
    return tl::unexpected(problem(fd.get(), "cannot read .fenceline/ledger in", root));
  }
  std::array<char, 256> text{};
  const ssize_t size =
      uninterrupted([&] { return calls.pread(fd.get(), text.data(), text.size(), 0); });
  if (size < 0) {
    return tl::unexpected(
        problem(static_cast<int>(size), "cannot read .fenceline/ledger in", root));
  }
  std::string_view known(text.data(), static_cast<std::size_t>(size));
  if (known.ends_with('\n')) {
    known.remove_suffix(1);
  }
  if (known != identity) {
    return tl::unexpected(other_ledger(root, known, identity));
  }
  // Whoever wrote it may have been killed before its name was durable.
  if (auto synced = sync_names(calls, directories, root); !synced) {
    return tl::unexpected(std::move(synced.error()));
  }
  return true;
}

Result<void> remember_ledger(Syscalls& calls, const PrivateDirectories& directories,
                             const std::string& root, const std::string& identity) {
  const UniqueFd fd(
      uninterrupted([&] { return calls.create(directories.temporary, kUnfinishedName); }));
  if (!fd.valid()) {
    return tl::unexpected(problem(fd.get(), "cannot write down the ledger of", root));
  }
  auto done = write_all(calls, fd.get(), identity + "\n", root).and_then([&]() -> Result<void> {
    if (const int code = calls.fsync(fd.get()); code < 0) {
      return tl::unexpected(problem(code, "cannot make durable the ledger's id in", root));
    }
    const int code =
        calls.rename(directories.temporary, kUnfinishedName, directories.own, kFileName);
    if (code < 0) {
      return tl::unexpected(problem(code, "cannot write down the ledger of", root));
    }
    return sync_names(calls, directories, root);
  });
  if (!done) {
    calls.unlink(directories.temporary, kUnfinishedName);
    calls.unlink(directories.own, kFileName);
  }
  return done;
}

Result<void> refuse_nested_root(const std::string& root) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  const fs::path resolved = error ? absolute : fs::weakly_canonical(absolute, error);
  if (error) {
    return tl::unexpected(problem(-error.value(), "cannot follow the path", root));
  }
  for (fs::path above = resolved.parent_path();; above = above.parent_path()) {
    const fs::path lock = above / kPrivateName / "lock";
    struct stat status {};
    // The private directory of another user is there, but cannot be looked into.
    if (::lstat(lock.c_str(), &status) == 0 || errno == EACCES) {
      return base::fail(
          ErrorKind::kStorageFailed,
          fmt::format("\"{}\" lies inside the root \"{}\" of a fenceline, which has {}: the same "
                      "files would be behind two fences. Give this route a directory outside of "
                      "it; if nobody serves \"{}\" any more, remove its .fenceline directory",
                      root, above.string(), lock.string(), above.string()));
    }
    if (above == above.parent_path()) {
      return {};
    }
  }
}

}  // namespace fenceline::backends::files
