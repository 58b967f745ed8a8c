#include "tests/campaign/power_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

constexpr std::size_t kBytes = 32 << 20;

std::runtime_error error_of(std::string_view what) {
  return std::runtime_error(fmt::format(
      "{}: {}. Power cuts need root (in a container: --privileged), /dev/fuse, loop devices and "
      "ext4; there is no weaker form",
      what, std::generic_category().message(errno)));
}

/// Runs a program to its end; throws with what it said if it ends with more than `allowed`.
void run(std::vector<std::string> arguments, const std::string& log, int allowed) {
  const std::string name = arguments.front();
  ChildProcess child(std::move(arguments), log);
  const int code = child.wait();
  if (code > allowed) {
    throw std::runtime_error(fmt::format("{} ended with {}: {}", name, code, child.output()));
  }
}

/// A loop device over `file`; it is given back when nobody uses it any more.
std::pair<base::UniqueFd, std::string> attach_loop(const std::string& file) {
  const base::UniqueFd backing(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  const base::UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!backing.valid() || !control.valid()) {
    throw error_of("cannot open " + (backing.valid() ? "/dev/loop-control" : file));
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string path = fmt::format("/dev/loop{}", ::ioctl(control.get(), LOOP_CTL_GET_FREE));
    base::UniqueFd loop(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!loop.valid()) {
      throw error_of("cannot open " + path);
    }
    loop_config config{};
    config.fd = static_cast<unsigned>(backing.get());
    config.block_size = 4096;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(loop.get(), LOOP_CONFIGURE, &config) == 0) {
      return {std::move(loop), path};
    }
    // Somebody else was faster: the next one.
    if (errno != EBUSY) {
      throw error_of("cannot attach " + path);
    }
  }
  throw std::runtime_error("no loop device is free");
}

void enter_own_mount_namespace() {
  static thread_local bool entered = false;
  if (!entered && (::unshare(CLONE_NEWNS) != 0 ||
                   ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)) {
    throw error_of("cannot enter a mount namespace");
  }
  entered = true;
}

}  // namespace

PowerDisk::PowerDisk(std::string folder, std::uint64_t seed)
    : folder_(std::move(folder)), mount_(folder_ + "/disk"), seed_(seed) {
  enter_own_mount_namespace();
  std::filesystem::create_directories(mount_);
  std::filesystem::create_directories(under("fuse"));
  std::ofstream(under("image")).flush();
  std::filesystem::resize_file(under("image"), kBytes);
  run({"mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0", under("image")},
      under("mkfs.log"), 0);
  mount();
}

PowerDisk::~PowerDisk() {
  ::umount2(mount_.c_str(), MNT_DETACH);
  disk_.reset();
  ::umount2(under("fuse").c_str(), MNT_DETACH);
}

void PowerDisk::mount() {
  disk_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{FENCELINE_CUT_DISK, under("image"), under("fuse"),
                               std::to_string(seed_++)},
      under("cut_disk.log"), ChildProcess::Input::kFed);
  wait_until("the disk to be there; it said: " + disk_->output(),
             [&] { return disk_->output().starts_with("ready\n"); });
  const auto [loop, device] = attach_loop(under("fuse/disk"));
  if (::mount(device.c_str(), mount_.c_str(), "ext4", MS_NOATIME, "noauto_da_alloc") != 0) {
    throw error_of("cannot mount " + device);
  }
}

void PowerDisk::cut_after(std::size_t operations) {
  disk_->feed(std::to_string(operations) + "\n");
}

bool PowerDisk::is_cut() const { return disk_->output().find("\ncut ") != std::string::npos; }

bool PowerDisk::keep_power() {
  cut_after(std::numeric_limits<std::size_t>::max());
  // The disk listens at each operation, so after this flush it has heard.
  const base::UniqueFd root(::open(mount_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::syncfs(root.get());
  return !is_cut();
}

std::string PowerDisk::unmount() {
  // Busy for a moment while the kernel ends what the server had begun.
  wait_until("the file system to be unmounted",
             [&] { return ::umount2(mount_.c_str(), 0) == 0 || errno == EINVAL; });
  wait_until("the loop device to be given back",
             [&] { return ::umount2(under("fuse").c_str(), 0) == 0 || errno == EINVAL; });
  if (const int code = disk_->wait(); code != 0 || !disk_->output().ends_with("saved\n")) {
    throw std::runtime_error(fmt::format("the disk ended with {}: {}", code, disk_->output()));
  }
  const std::string said = disk_->output();
  const std::size_t at = said.find("\ncut ");
  return at == std::string::npos ? "" : said.substr(at + 1, said.find('\n', at + 1) - at - 1);
}

std::string PowerDisk::power_cycle() {
  std::string cut = unmount();
  run({"e2fsck", "-p", "-f", under("image")}, under("e2fsck.log"), 1);
  mount();
  return cut;
}

}  // namespace fenceline::testing
