#include "backends/files/paths.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <shared_mutex>
#include <utility>

namespace fenceline::backends::files {
namespace {

constexpr std::size_t kMaxSegmentBytes = 255;
constexpr std::size_t kMaxNameBytes = 4095;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY;

// With RESOLVE_BENEATH the kernel answers EAGAIN when a rename elsewhere raced the lookup.
constexpr int kMaxRaces = 64;

int open_beneath(Store& store, int dir, const char* path, int flags) {
  int code = -EAGAIN;
  for (int i = 0; i < kMaxRaces && code == -EAGAIN; ++i) {
    code = uninterrupted([&] { return store.calls.open_beneath(dir, path, flags); });
  }
  return code;
}

base::Result<void> check_segment(std::string_view segment) {
  if (segment.empty() || segment == "." || segment == "..") {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      "the name has an empty or a dot segment; write it without");
  }
  if (segment.size() > kMaxSegmentBytes) {
    return base::fail(base::ErrorKind::kTargetTooLong,
                      "a segment of the name is longer than 255 bytes");
  }
  return {};
}

SharedFd share(int fd) { return std::make_shared<const base::UniqueFd>(fd); }

}  // namespace

base::Result<void> check_name(std::string_view name) {
  if (name.size() > kMaxNameBytes) {
    return base::fail(base::ErrorKind::kTargetTooLong, "the name is longer than 4095 bytes");
  }
  if (name.find('\0') != std::string_view::npos) {
    return base::fail(base::ErrorKind::kMalformedRequest, "the name holds a NUL byte");
  }
  if (name == kPrivateName ||
      (name.starts_with(kPrivateName) && name[kPrivateName.size()] == '/')) {
    return base::fail(base::ErrorKind::kForbiddenName,
                      "the name \".fenceline\" is reserved; use another one");
  }
  for (std::size_t start = 0; !name.empty() && start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    if (auto checked = check_segment(name.substr(start, end - start)); !checked) {
      return checked;
    }
    start = end + 1;
  }
  return {};
}

SplitName split(std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos) {
    return {.parent = {}, .leaf = name};
  }
  return {.parent = name.substr(0, slash), .leaf = name.substr(slash + 1)};
}

base::Result<OpenedResource> open_resource(Store& store, const std::string& name) {
  const char* path = name.empty() ? "." : name.c_str();
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  const int fd =
      open_beneath(store, store.directory.root->get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return tl::unexpected(error_of(fd, Use::kRead, name));
  }
  OpenedResource opened{base::UniqueFd(fd)};
  if (const int code = store.calls.stat(fd, opened.status); code < 0) {
    return tl::unexpected(error_of(code, Use::kRead, name));
  }
  if (!S_ISREG(opened.status.st_mode) && !S_ISDIR(opened.status.st_mode)) {
    return tl::unexpected(forbidden(name));
  }
  return opened;
}

base::Result<SharedFd> find_parent(Store& store, std::string_view name, Use use) {
  const std::string parent(split(name).parent);
  if (parent.empty()) {
    return store.directory.root;
  }
  int fd = 0;
  {
    const std::shared_lock lock(store.making_directories);
    fd = open_beneath(store, store.directory.root->get(), parent.c_str(), kOpenDirectory);
  }
  if (fd == -ENOENT) {
    return SharedFd();
  }
  if (fd < 0) {
    return tl::unexpected(error_of(fd, use, name));
  }
  return share(fd);
}

base::Result<SharedFd> make_parents(Store& store, std::string_view name) {
  const std::unique_lock lock(store.making_directories);
  const std::string_view parent = split(name).parent;
  SharedFd current = store.directory.root;
  for (std::size_t start = 0; start < parent.size();) {
    const std::size_t end = std::min(parent.find('/', start), parent.size());
    const std::string segment(parent.substr(start, end - start));
    const int made =
        uninterrupted([&] { return store.calls.mkdir(current->get(), segment.c_str()); });
    if (made < 0 && made != -EEXIST) {
      return tl::unexpected(error_of(made, Use::kPut, name));
    }
    if (made == 0 && store.durable()) {
      if (const int code = store.timed_sync(current->get(), SyncedObject::kDirectory); code < 0) {
        return tl::unexpected(store.service.fail(code, "a directory"));
      }
    }
    const int fd = open_beneath(store, current->get(), segment.c_str(), kOpenDirectory);
    if (fd < 0) {
      return tl::unexpected(error_of(fd, Use::kPut, name));
    }
    current = share(fd);
    start = end + 1;
  }
  return current;
}

base::Result<std::optional<struct stat>> find_file(Store& store, int parent, const char* leaf,
                                                   Use use) {
  struct stat status {};
  const int code = store.calls.stat_at(parent, leaf, status);
  if (code == -ENOENT) {
    return std::nullopt;
  }
  if (code < 0) {
    return tl::unexpected(error_of(code, use, leaf));
  }
  if (S_ISDIR(status.st_mode)) {
    return tl::unexpected(is_directory(leaf));
  }
  if (!S_ISREG(status.st_mode) || status.st_dev != store.directory.device) {
    return tl::unexpected(forbidden(leaf));
  }
  return status;
}

}  // namespace fenceline::backends::files
