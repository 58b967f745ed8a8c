// A disk whose power can be cut, as one file in a FUSE file system: a loop device over that file
// gives it to a real file system, and this process then sees every write and every flush in the
// order in which the kernel gives them to a device.
//
//   cut_disk IMAGE FOLDER SEED
//
// Shows IMAGE as FOLDER/disk and says "ready". A number N on standard input cuts the power N writes
// and flushes later; then it says "cut …" and every request fails with EIO, as a disk that is gone.
// When FOLDER is unmounted it writes what a disk would still hold back to IMAGE and says "saved".

#define FUSE_USE_VERSION 31
#include <fcntl.h>
#include <fmt/format.h>
#include <fuse3/fuse.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/cut_disk/volatile_image.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kName = "/disk";

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

class CutDisk {
 public:
  CutDisk(std::vector<char> durable, std::uint64_t seed)
      : image_(std::move(durable)), random_(seed) {}

  [[nodiscard]] std::size_t size() const { return image_.size(); }

  int read(char* data, std::size_t bytes, std::size_t offset) const {
    if (is_cut_ || offset > image_.size()) {
      return -EIO;
    }
    const std::string_view found = image_.read(offset, bytes);
    std::ranges::copy(found, data);
    return static_cast<int>(found.size());
  }

  int write(std::string_view data, std::size_t offset) {
    if (!may_go_on() || offset + data.size() > image_.size()) {
      return -EIO;
    }
    ++writes_;
    image_.write(offset, data);
    return static_cast<int>(data.size());
  }

  int flush() {
    if (!may_go_on()) {
      return -EIO;
    }
    ++flushes_;
    image_.flush();
    return 0;
  }

  /// The durable content. An image that was never cut was unmounted in peace: all of it.
  std::string_view content() {
    if (!is_cut_) {
      image_.flush();
    }
    return image_.read(0, image_.size());
  }

 private:
  /// Counts an operation towards the cut; false from then on.
  bool may_go_on() {
    listen();
    if (!is_cut_ && left_ && (*left_)-- == 0) {
      is_cut_ = true;
      const VolatileImage::Cut cut = image_.cut(random_);
      say(
          fmt::format("cut after {} writes and {} flushes: {} unflushed writes, {} of {} blocks "
                      "kept",
                      writes_, flushes_, cut.writes, cut.kept_blocks, cut.blocks));
    }
    return !is_cut_;
  }

  void listen() {
    char text[32] = {};
    if (::read(STDIN_FILENO, text, sizeof(text) - 1) > 0) {
      left_ = std::strtoull(text, nullptr, 10);
    }
  }

  VolatileImage image_;
  std::mt19937_64 random_;
  std::optional<std::uint64_t> left_;  ///< Operations up to the cut.
  std::size_t writes_ = 0;
  std::size_t flushes_ = 0;
  bool is_cut_ = false;
};

CutDisk& disk() { return *static_cast<CutDisk*>(::fuse_get_context()->private_data); }

int get_attributes(const char* path, struct stat* status, fuse_file_info* /*file*/) {
  *status = {};
  status->st_nlink = 1;
  if (std::string_view(path) == "/") {
    status->st_mode = S_IFDIR | 0700;
  } else if (path == kName) {
    status->st_mode = S_IFREG | 0600;
    status->st_size = static_cast<off_t>(disk().size());
  } else {
    return -ENOENT;
  }
  return 0;
}

int open_disk(const char* /*path*/, fuse_file_info* file) {
  // No page cache between the loop device and us: it would hide and delay writes.
  file->direct_io = 1;
  return 0;
}

fuse_operations operations() {
  fuse_operations all{};
  all.getattr = get_attributes;
  all.open = open_disk;
  all.read = [](const char*, char* data, std::size_t bytes, off_t offset, fuse_file_info*) {
    return disk().read(data, bytes, static_cast<std::size_t>(offset));
  };
  all.write = [](const char*, const char* data, std::size_t bytes, off_t offset, fuse_file_info*) {
    return disk().write({data, bytes}, static_cast<std::size_t>(offset));
  };
  all.fsync = [](const char*, int, fuse_file_info*) { return disk().flush(); };
  return all;
}

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<char> content(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())));
  file.seekg(0);
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

int run(char* program, const char* image, char* folder, std::uint64_t seed) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  CutDisk disk(read_file(image), seed);
  const fuse_operations all = operations();
  fuse_args args = FUSE_ARGS_INIT(1, &program);
  fuse* session = ::fuse_new(&args, &all, sizeof(all), &disk);
  if (session == nullptr || ::fuse_mount(session, folder) != 0) {
    return EXIT_FAILURE;
  }
  say("ready");
  // One request at a time: their order is the order of the disk.
  ::fuse_loop(session);
  ::fuse_unmount(session);
  ::fuse_destroy(session);
  ::fuse_opt_free_args(&args);
  std::ofstream file(image, std::ios::binary | std::ios::trunc);
  file << disk.content() << std::flush;
  if (!file) {
    return EXIT_FAILURE;
  }
  say("saved");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace fenceline::testing

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: {} IMAGE FOLDER SEED\n", argv[0]);
    return 2;
  }
  return fenceline::testing::run(argv[0], argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
}
