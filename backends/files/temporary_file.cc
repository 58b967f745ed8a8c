#include "backends/files/temporary_file.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include "backends/files/errors.h"

namespace fenceline::backends::files {
namespace {

// Freeing the blocks of a file this large may take the disk so long that no network thread should.
constexpr std::uint64_t kLargeBytes = 16ULL << 20;

base::Error failed(int code, std::string_view what) {
  if (code == -EMFILE || code == -ENFILE) {
    return error_of(code, Use::kPut, what);
  }
  return base::error_from_errno(-code, what);
}

}  // namespace

base::Result<std::shared_ptr<TemporaryFile>> TemporaryFile::create(std::shared_ptr<Store> store) {
  std::string name = store->fresh_nonce();
  const int fd = uninterrupted(
      [&] { return store->calls.create(store->directory.temporary.get(), name.c_str()); });
  if (fd < 0) {
    return tl::unexpected(failed(fd, "make a temporary file"));
  }
  return std::make_shared<TemporaryFile>(std::move(store), std::move(name), base::UniqueFd(fd));
}

TemporaryFile::TemporaryFile(std::shared_ptr<Store> store, std::string name, base::UniqueFd fd)
    : store_(std::move(store)), name_(std::move(name)), fd_(std::move(fd)) {}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) {
    return;
  }
  // What cannot be removed now is swept at the next start.
  uninterrupted(
      [&] { return store_->calls.unlink(store_->directory.temporary.get(), name_.c_str()); });
  if (size_bytes_ >= kLargeBytes) {
    auto fd = std::make_shared<base::UniqueFd>(std::move(fd_));
    store_->pool.post([fd] { fd->reset(); });
  }
}

base::Result<void> TemporaryFile::append(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written =
        uninterrupted([&] { return store_->calls.write(fd_.get(), piece.data(), piece.size()); });
    if (written < 0) {
      return tl::unexpected(failed(static_cast<int>(written), "write the body"));
    }
    if (written == 0) {
      return tl::unexpected(failed(-EIO, "write the body"));
    }
    size_bytes_ += static_cast<std::uint64_t>(written);
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::Result<void> TemporaryFile::describe(std::string_view attribute) {
  const int code = uninterrupted([&] {
    return store_->calls.set_xattr(fd_.get(), kAttributeName, attribute.data(), attribute.size());
  });
  if (code < 0) {
    return tl::unexpected(failed(code, "keep content type and stamp with the file"));
  }
  return {};
}

base::Result<void> TemporaryFile::sync() {
  const int code = store_->timed_sync(fd_.get(), SyncedObject::kFile);
  if (code == 0) {
    return {};
  }
  return tl::unexpected(store_->service.fail(code, "a new file"));
}

base::Result<std::string> TemporaryFile::etag() {
  struct stat status {};
  if (const int code = store_->calls.stat(fd_.get(), status); code < 0) {
    return tl::unexpected(failed(code, "look at the temporary file"));
  }
  return etag_of(name_, status);
}

}  // namespace fenceline::backends::files
