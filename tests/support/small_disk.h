#pragma once

#include <cstddef>
#include <string>

namespace fenceline::testing {

/// A file system of a fixed size (tmpfs), mounted for the life of this object. Needs root, or a
/// system that lets users make namespaces of their own: then this process enters one, and must not
/// have other threads yet.
class SmallDisk {
 public:
  /// Mounts it over the folder `path`, which is made. Throws `std::runtime_error` with the reason
  /// and what to do if it cannot.
  SmallDisk(std::string path, std::size_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file until nothing more fits: not one block is free afterwards.
  void fill() const;

  /// Removes that file.
  void make_room() const;

 private:
  std::string path_;
};

}  // namespace fenceline::testing
