#include "tests/support/small_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace fenceline::testing {
namespace {

/// Makes this process root of namespaces of its own, where it may mount. False with errno if the
/// system does not allow it.
bool enter_own_namespaces() {
  const std::string user = fmt::format("0 {} 1", ::geteuid());
  const std::string group = fmt::format("0 {} 1", ::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return false;
  }
  std::ofstream("/proc/self/uid_map") << user;
  // Files made without a group that is known here would be refused; the kernel wants this order.
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/gid_map") << group;
  return true;
}

bool mount_at(const std::string& path, std::size_t bytes) {
  const std::string options = fmt::format("size={}", bytes);
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

}  // namespace

SmallDisk::SmallDisk(std::string path, std::size_t bytes) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
  bool mounted = mount_at(path_, bytes);
  if (!mounted && errno == EPERM && enter_own_namespaces()) {
    mounted = mount_at(path_, bytes);
  }
  if (!mounted) {
    throw std::runtime_error(fmt::format(
        "cannot mount a small tmpfs on {}: {}; run the tests as root (in a container: with "
        "CAP_SYS_ADMIN), or allow users their own namespaces (kernel.unprivileged_userns_clone=1)",
        path_, std::generic_category().message(errno)));
  }
}

SmallDisk::~SmallDisk() { ::umount2(path_.c_str(), MNT_DETACH); }

void SmallDisk::fill() const {
  const base::UniqueFd fd(
      ::open(at("filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string block(4096, 'x');
  while (::write(fd.get(), block.data(), block.size()) > 0) {
  }
  struct statfs status {};
  if (errno != ENOSPC || ::statfs(path_.c_str(), &status) != 0 || status.f_bfree != 0) {
    throw std::runtime_error(path_ + " could not be filled");
  }
}

void SmallDisk::make_room() const { std::filesystem::remove(at("filler")); }

}  // namespace fenceline::testing
