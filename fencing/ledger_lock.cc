#include "fencing/ledger_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace fenceline::fencing {
namespace {

/// What the holder wrote into its lock file; empty if it has not come that far.
std::string holder_of(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

/// Leaves our process id for the message of whoever comes second. Only a help: errors are ignored.
void sign(int fd) {
  const std::string text = fmt::format("{}", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) {
    return;
  }
}

}  // namespace

base::Result<LedgerLock> LedgerLock::take(const std::string& path) {
  const std::string lock_path = path + ".lock";
  base::UniqueFd fd(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!fd.valid()) {
    const int reason = errno;
    return base::fail(
        base::ErrorKind::kLedgerUnavailable,
        fmt::format("The ledger's lock file {} cannot be opened for writing: {}. Give this user "
                    "the right to write to its folder.",
                    lock_path, std::generic_category().message(reason)));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    sign(fd.get());
    return LedgerLock(std::move(fd));
  }
  if (errno != EWOULDBLOCK) {
    const int reason = errno;
    return base::fail(base::ErrorKind::kLedgerUnavailable,
                      fmt::format("The ledger's lock file {} cannot be locked: {}. Keep the "
                                  "ledger on a local file system.",
                                  lock_path, std::generic_category().message(reason)));
  }
  const std::string holder = holder_of(fd.get());
  std::string who = "another process";
  if (holder == fmt::format("{}", ::getpid())) {
    who = "this process already";
  } else if (!holder.empty()) {
    who += fmt::format(" (id {})", holder);
  }
  return base::fail(base::ErrorKind::kLedgerUnavailable,
                    fmt::format("The ledger {} is in use by {}. Stop that process, or give this "
                                "one a ledger of its own.",
                                path, who));
}

}  // namespace fenceline::fencing
