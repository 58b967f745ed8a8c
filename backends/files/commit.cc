#include "backends/files/commit.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/files/errors.h"
#include "backends/files/metadata.h"
#include "backends/files/paths.h"

namespace fenceline::backends::files {
namespace {

using base::Applied;
using base::Error;
using base::ErrorKind;
using base::Reply;
using base::Result;

// A change that everybody sees but that may not be durable yet.
struct Change {
  SharedFd directory;
  std::uint64_t inode = 0;  // Of the directory; 0 when nobody will sync it.
  int status = 0;
};

// Asked before the effect: a failure must not come between the effect and its fsync.
Result<std::uint64_t> inode_of(Store& store, const SharedFd& directory) {
  struct stat status {};
  if (!store.durable()) {
    return 0;
  }
  if (const int code = store.calls.stat(directory->get(), status); code < 0) {
    return tl::unexpected(base::error_from_errno(-code, "look at the directory"));
  }
  return status.st_ino;
}

const char* leaf_of(const ReadyWrite& write) {
  return write.name.c_str() + (write.name.size() - split(write.name).leaf.size());
}

Result<void> check_conditions(const ReadyWrite& write, const SharedFd& parent,
                              const std::optional<struct stat>& found) {
  base::ResourceState state;
  state.exists = found.has_value();
  FileState file;
  // The tag is looked up only where it counts.
  if (found && !write.conditions.only_existence()) {
    Store& store = *write.store;
    const base::UniqueFd fd(uninterrupted([&] {
      return store.calls.open_beneath(parent->get(), leaf_of(write), O_RDONLY | O_NONBLOCK);
    }));
    if (!fd.valid()) {
      return tl::unexpected(error_of(fd.get(), Use::kPut, write.name));
    }
    auto inspected = inspect(store.calls, fd.get(), file);
    if (!inspected) {
      return inspected;
    }
    state.etag = file.etag;
    state.last_modified_s = file.status.st_mtim.tv_sec;
  }
  if (write.conditions.evaluate(state) == base::Verdict::kProceed) {
    return {};
  }
  return base::fail(ErrorKind::kPreconditionFailed,
                    fmt::format("\"{}\" {}; read it again and decide anew", write.name,
                                found ? "is not in the state that the request asks for"
                                      : "does not exist, but the request asks for a state of it"));
}

// What a failed rename or unlink really did: some file systems fail after the fact.
Error settled_failure(ReadyWrite& write, int code, bool happened) {
  Error error = error_of(code, write.file ? Use::kPut : Use::kDelete, write.name);
  if (code == -ENOENT) {
    error = {ErrorKind::kStorageFailed,
             fmt::format("\"{}\" or its directory vanished while it was being written; somebody "
                         "else changes the tree",
                         write.name)};
  }
  error.applied = happened ? Applied::kUnknown : Applied::kNo;
  return error;
}

// False only if the file is still under its temporary name.
bool may_have_moved(ReadyWrite& write) {
  struct stat status {};
  Store& store = *write.store;
  return store.calls.stat_at(store.directory.temporary.get(), write.file->name().c_str(), status) !=
         0;
}

Result<Change> rename_into_place(ReadyWrite& write, SharedFd parent, bool replaces) {
  if (!parent) {
    auto made = make_parents(*write.store, write.name);
    if (!made) {
      return tl::unexpected(std::move(made.error()));
    }
    parent = *std::move(made);
  }
  Store& store = *write.store;
  const auto inode = inode_of(store, parent);
  if (!inode) {
    return tl::unexpected(inode.error());
  }
  const int code = store.calls.rename(store.directory.temporary.get(), write.file->name().c_str(),
                                      parent->get(), leaf_of(write));
  if (code < 0) {
    return tl::unexpected(settled_failure(write, code, may_have_moved(write)));
  }
  write.file->moved_away();
  return Change{std::move(parent), *inode, replaces ? 204 : 201};
}

Result<Change> remove(ReadyWrite& write, SharedFd parent) {
  Store& store = *write.store;
  const auto inode = inode_of(store, parent);
  if (!inode) {
    return tl::unexpected(inode.error());
  }
  const int code = store.calls.unlink(parent->get(), leaf_of(write));
  if (code < 0) {
    struct stat status {};
    const bool there = store.calls.stat_at(parent->get(), leaf_of(write), status) == 0;
    return tl::unexpected(settled_failure(write, code, !there));
  }
  return Change{std::move(parent), *inode, 204};
}

// Everything up to the visible effect, in one step with regard to other commits on the resource.
Result<Change> apply(ReadyWrite& write) {
  Store& store = *write.store;
  const std::scoped_lock lock(store.stripe(write.name));
  if (auto serving = store.service.check(); !serving) {
    return tl::unexpected(std::move(serving.error()));
  }
  const Use use = write.file ? Use::kPut : Use::kDelete;
  auto parent = find_parent(store, write.name, use);
  if (!parent) {
    return tl::unexpected(std::move(parent.error()));
  }
  std::optional<struct stat> found;
  if (*parent) {
    auto looked = find_file(store, (*parent)->get(), leaf_of(write), use);
    if (!looked) {
      return tl::unexpected(std::move(looked.error()));
    }
    found = *looked;
  }
  // Conditions count only where the answer without them would be a success (RFC 9110, 13.2.1).
  if (!write.file && !found) {
    return tl::unexpected(not_found(write.name));
  }
  if (auto allowed = check_conditions(write, *parent, found); !allowed) {
    return tl::unexpected(std::move(allowed.error()));
  }
  return write.file ? rename_into_place(write, *std::move(parent), found.has_value())
                    : remove(write, *std::move(parent));
}

Reply reply_to(const ReadyWrite& write, int status) {
  Reply reply;
  reply.status = status;
  if (write.file) {
    reply.add("ETag", write.etag);
  }
  return reply;
}

Error not_durable(const ReadyWrite& write, int code) {
  Error error = write.store->service.fail(code, "a directory");
  error.applied = Applied::kUnknown;
  return error;
}

// Runs on a pool thread. The stripe is free again while the fsync is awaited: whoever overtakes us
// on the same name waits for the same directory.
void apply_durably(const std::shared_ptr<ReadyWrite>& write,
                   const base::Done<Result<Reply>>& done) {
  auto change = apply(*write);
  if (!change) {
    // Before the caller hears of it, so that nothing is left when it does.
    write->file.reset();
    done(tl::unexpected(std::move(change.error())));
    return;
  }
  write->store->directory_sync.sync(change->inode, std::move(change->directory),
                                    [write, done, answer = change->status](int code) {
                                      if (code < 0) {
                                        done(tl::unexpected(not_durable(*write, code)));
                                      } else {
                                        done(reply_to(*write, answer));
                                      }
                                    });
}

base::Awaitable<Result<Reply>> commit_on_pool(std::shared_ptr<ReadyWrite> write) {
  auto start = [write = std::move(write)](base::Done<Result<Reply>> done) {
    base::WorkerPool& pool = write->store->pool;
    pool.post([write, done = std::move(done)] { apply_durably(write, done); });
  };
  return base::from_callback<Result<Reply>>(std::move(start));
}

class FilesWrite final : public StagedWrite {
 public:
  explicit FilesWrite(std::shared_ptr<ReadyWrite> write) : write_(std::move(write)) {}

  base::Awaitable<Result<Reply>> commit() override {
    using Outcome = base::Awaitable<Result<Reply>>;
    if (write_->store->durable()) {
      return commit_on_pool(write_);
    }
    auto change = apply(*write_);
    return Outcome::ready(change ? Result<Reply>(reply_to(*write_, change->status))
                                 : tl::unexpected(std::move(change.error())));
  }

 private:
  std::shared_ptr<ReadyWrite> write_;
};

}  // namespace

std::unique_ptr<StagedWrite> make_staged_write(std::shared_ptr<ReadyWrite> write) {
  return std::make_unique<FilesWrite>(std::move(write));
}

}  // namespace fenceline::backends::files
