#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/files/metadata.h"
#include "backends/files/store.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {

/// A staged body: a file in the private directory that nobody sees. Removed when it is destroyed,
/// unless it was moved away. Used by one thread at a time.
class TemporaryFile {
 public:
  /// Makes an empty one with a name that was never used.
  /// Failure: `kInsufficientStorage`, `kOverloaded`, `kStorageFailed`; nothing is left behind.
  static base::Result<std::shared_ptr<TemporaryFile>> create(std::shared_ptr<Store> store);

  TemporaryFile(std::shared_ptr<Store> store, std::string name, base::UniqueFd fd);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Appends all of `piece`. Failure: `kInsufficientStorage`, `kStorageFailed`.
  base::Result<void> append(std::string_view piece);

  /// Keeps an encoded `Metadata`, whose nonce is `name()`, with the file, in one call. Failure:
  /// likewise.
  base::Result<void> describe(std::string_view attribute);

  /// Forces content and metadata to the disk; blocks.
  /// Failure: `kStorageFailed`, and the backend is out of service: see `ServiceState`.
  base::Result<void> sync();

  /// The entity tag that a reader will see once the file has its name. To be called after the last
  /// `append`.
  base::Result<std::string> etag();

  [[nodiscard]] const std::string& name() const { return name_; }

  /// It has got another name, so destroying this removes nothing.
  void moved_away() { name_.clear(); }

 private:
  std::shared_ptr<Store> store_;
  std::string name_;  ///< In the private directory; empty when it is not there any more.
  base::UniqueFd fd_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace fenceline::backends::files
