#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/child_process.h"

namespace fenceline::testing {

/// A journaled ext4 file system on a disk whose power can be cut (tests/faults/cut_disk): what was
/// not flushed to that disk may be lost then, in any combination. It is mounted with
/// `noauto_da_alloc`, so that the kernel does not stand in for an fsync before a rename that is
/// missing. Needs root, /dev/fuse and loop devices. The mounts are in a mount namespace that the
/// calling thread enters: they are gone, at the latest, when it and its children are.
class PowerDisk {
 public:
  /// Makes the file system and mounts it, with all it needs, under `folder`, which must exist.
  /// Throws `std::runtime_error` with the reason and what to do if it cannot.
  PowerDisk(std::string folder, std::uint64_t seed);
  ~PowerDisk();
  PowerDisk(const PowerDisk&) = delete;
  PowerDisk& operator=(const PowerDisk&) = delete;

  /// The path of `name` in the file system.
  [[nodiscard]] std::string at(const std::string& name) const { return mount_ + "/" + name; }

  /// The power goes `operations` writes and flushes of the disk later. From then on every access
  /// to it fails.
  void cut_after(std::size_t operations);

  [[nodiscard]] bool is_cut() const;

  /// Takes `cut_after` back. False if the power is gone already.
  bool keep_power();

  /// The power comes back: the file system is unmounted, repaired as at boot, and mounted with what
  /// is left. Nobody may have a file open in it. Returns what the disk says about the cut; empty if
  /// there was none. Throws if ext4 is damaged, which no legal cut can do.
  std::string power_cycle();

 private:
  void mount();
  std::string unmount();
  [[nodiscard]] std::string under(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  std::string mount_;
  std::uint64_t seed_;
  std::unique_ptr<ChildProcess> disk_;
};

}  // namespace fenceline::testing
