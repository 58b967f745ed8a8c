#include "backends/sqlite/database_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fenceline::backends::sqlite {
namespace {

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(base::ErrorKind::kStorageFailed, std::move(detail));
}

/// What the holder wrote into it, for the message; may be empty.
std::string holder_of(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

void sign(int fd) {
  const std::string text = fmt::format("{}", ::getpid());
  // Only a help for whoever comes second.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) {
    return;
  }
}

}  // namespace

base::Result<DatabaseLock> DatabaseLock::take(const std::string& path) {
  const std::string lock_path = path + ".lock";
  base::UniqueFd fd(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!fd.valid()) {
    const int reason = errno;
    return refuse(
        fmt::format("The lock file {} of a database cannot be opened for writing: {}. Give this "
                    "user the right to write to its folder.",
                    lock_path, std::generic_category().message(reason)));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    sign(fd.get());
    return DatabaseLock(std::move(fd));
  }
  const int reason = errno;
  if (reason != EWOULDBLOCK) {
    return refuse(
        fmt::format("The lock file {} of a database cannot be locked: {}. Keep the database on a "
                    "local file system.",
                    lock_path, std::generic_category().message(reason)));
  }
  const std::string holder = holder_of(fd.get());
  return refuse(fmt::format(
      "The database {} is in use by another fenceline{}. Two of them would fence it apart: stop "
      "that process, or give this one a database of its own.",
      path, holder.empty() ? "" : fmt::format(" (process {})", holder)));
}

}  // namespace fenceline::backends::sqlite
