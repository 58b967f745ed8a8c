#include "backends/files/root_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "backends/files/metadata.h"
#include "backends/files/paths.h"
#include "backends/files/root_ledger.h"

namespace fenceline::backends::files {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::UniqueFd;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY;

Error problem(int code, std::string_view what, std::string_view path) {
  return base::error_from_errno(-code, fmt::format("{} \"{}\"", what, path));
}

tl::unexpected<Error> unsuitable(std::string detail) {
  return base::fail(ErrorKind::kStorageFailed, std::move(detail));
}

// Like `mkdir -p`, each new entry durable before the next is made.
Result<void> make_directories(const std::string& path, bool durable) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0755) == 0) {
      const auto slash = part.rfind('/');
      const std::string parent = slash == std::string::npos ? "." : part.substr(0, slash + 1);
      const UniqueFd fd(::open(parent.c_str(), kOpenDirectory | O_CLOEXEC));
      if (durable && (!fd.valid() || ::fsync(fd.get()) != 0)) {
        return tl::unexpected(problem(-errno, "cannot make durable the directory", parent));
      }
    } else if (errno != EEXIST) {
      return tl::unexpected(problem(-errno, "cannot make the directory", part));
    }
    if (end == std::string::npos) {
      return {};
    }
  }
}

// A directory of ours below `parent`, made if it is missing.
Result<UniqueFd> open_private(Syscalls& calls, int parent, const char* name,
                              const std::string& root) {
  if (::mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
    return tl::unexpected(problem(-errno, fmt::format("cannot make \"{}\" in", name), root));
  }
  UniqueFd fd(uninterrupted([&] { return calls.open_beneath(parent, name, kOpenDirectory); }));
  if (fd.get() == -ENOSYS) {
    return unsuitable("this kernel has no openat2; Linux 5.6 or newer is needed");
  }
  if (fd.get() == -EPERM) {
    return unsuitable(fmt::format(
        "openat2 is not allowed for \"{}\"; in a container, use a seccomp profile that knows it",
        root));
  }
  if (!fd.valid()) {
    return tl::unexpected(problem(
        fd.get(), fmt::format("\"{}\" must be a plain directory of the same file system in", name),
        root));
  }
  return fd;
}

Result<UniqueFd> take_lock(int directory, const std::string& root) {
  UniqueFd fd(::openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) {
    return tl::unexpected(problem(-errno, "cannot open the lock of", root));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const std::string path = fmt::format("{}/{}/lock", root, kPrivateName);
    return unsuitable(
        fmt::format("\"{0}\" is in use: another fenceline, or another route of this one, holds "
                    "\"{1}\". Stop it "
                    "(`fuser -v {1}` shows it) or give this route its own root",
                    root, path));
  }
  return fd;
}

Result<void> sweep(Syscalls& calls, int directory, const std::string& root) {
  struct CloseStream {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  const std::unique_ptr<DIR, CloseStream> stream(
      ::fdopendir(::openat(directory, ".", kOpenDirectory | O_CLOEXEC)));
  if (!stream) {
    return tl::unexpected(problem(-errno, "cannot read the temporary directory of", root));
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name(&entry->d_name[0]);
    if (name == "." || name == "..") {
      continue;
    }
    if (const int code = calls.unlink(directory, &entry->d_name[0]); code < 0) {
      return tl::unexpected(
          problem(code, fmt::format("cannot remove the temporary file \"{}\" of", name), root));
    }
  }
  return {};
}

Result<void> try_attributes(Syscalls& calls, int directory, const std::string& root) {
  constexpr const char* kProbe = "probe";
  const UniqueFd fd(uninterrupted([&] { return calls.create(directory, kProbe); }));
  if (!fd.valid()) {
    return tl::unexpected(problem(fd.get(), "cannot write in", root));
  }
  const std::string longest(kMaxAttributeBytes, 'x');
  const int code = calls.set_xattr(fd.get(), kAttributeName, longest.data(), longest.size());
  calls.unlink(directory, kProbe);
  if (code == -ENOTSUP) {
    return unsuitable(fmt::format(
        "the file system of \"{}\" keeps no extended attributes of users, which hold content types "
        "and stamps; use ext4, xfs or btrfs, or tmpfs on Linux 6.6 or newer",
        root));
  }
  if (code < 0) {
    return tl::unexpected(problem(code, "cannot set an extended attribute in", root));
  }
  return {};
}

// Two spellings of a name would be one file, but two fences.
Result<void> refuse_case_folding(int directory, const std::string& root) {
  int flags = 0;
  if (::ioctl(directory, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0) {
    return unsuitable(fmt::format(
        "\"{}\" takes names that differ only in case for the same file; use a directory without "
        "case folding (chattr -F)",
        root));
  }
  return {};
}

}  // namespace

Result<RootDirectory> open_root(Syscalls& calls, const std::string& path, bool durable,
                                const std::string& ledger_identity) {
  if (path.empty()) {
    return unsuitable("the root of a files route is empty; name a directory");
  }
  if (auto nested = refuse_nested_root(path); !nested) {
    return tl::unexpected(std::move(nested.error()));
  }
  if (auto made = make_directories(path, durable); !made) {
    return tl::unexpected(std::move(made.error()));
  }
  UniqueFd root(::open(path.c_str(), kOpenDirectory | O_CLOEXEC));
  struct stat status {};
  if (!root.valid() || ::fstat(root.get(), &status) != 0) {
    return tl::unexpected(problem(-errno, "cannot open the directory", path));
  }
  if (auto folding = refuse_case_folding(root.get(), path); !folding) {
    return tl::unexpected(std::move(folding.error()));
  }
  auto own = open_private(calls, root.get(), kPrivateName.data(), path);
  if (!own) {
    return tl::unexpected(std::move(own.error()));
  }
  auto lock = take_lock(own->get(), path);
  if (!lock) {
    return tl::unexpected(std::move(lock.error()));
  }
  auto temporary = open_private(calls, own->get(), "tmp", path);
  if (!temporary) {
    return tl::unexpected(std::move(temporary.error()));
  }
  // Before anything of an earlier process is touched.
  const PrivateDirectories directories{root.get(), own->get(), temporary->get()};
  Result<bool> known = true;
  if (!ledger_identity.empty()) {
    known = check_ledger(calls, directories, path, ledger_identity);
  }
  if (!known) {
    return tl::unexpected(std::move(known.error()));
  }
  auto ready = sweep(calls, temporary->get(), path).and_then([&] {
    return try_attributes(calls, temporary->get(), path);
  });
  if (ready && !*known) {
    ready = remember_ledger(calls, directories, path, ledger_identity);
  }
  if (!ready) {
    return tl::unexpected(std::move(ready.error()));
  }
  // What a killed process renamed or made is visible now, so it must last before anyone builds on
  // it.
  if (durable && ::syncfs(root.get()) != 0) {
    return tl::unexpected(problem(-errno, "cannot sync the file system of", path));
  }
  return RootDirectory{.root = std::make_shared<const UniqueFd>(std::move(root)),
                       .temporary = *std::move(temporary),
                       .lock = *std::move(lock),
                       .device = status.st_dev};
}

std::optional<std::string> displaced_root(const std::string& path, const RootDirectory& opened) {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) {
    return fmt::format(
        "the files root \"{}\" was deleted or moved while it was served ({}); put it back, or stop "
        "the server, see to the files, and start it",
        path, std::generic_category().message(errno));
  }
  struct stat then {};
  if (::fstat(opened.root->get(), &then) != 0 || now.st_dev != then.st_dev ||
      now.st_ino != then.st_ino) {
    return fmt::format(
        "the files root \"{}\" was replaced while it was served: the directory that was opened is "
        "still the one that is read and written; put it back, or restart the server",
        path);
  }
  return std::nullopt;
}

}  // namespace fenceline::backends::files
