#include "tests/support/power_loss_vfs.h"

#include <fstream>
#include <new>
#include <stdexcept>

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

}  // namespace

/// Ours, followed in memory by the real one's.
struct PowerLossVfs::File {
  sqlite3_file base;
  PowerLossVfs* owner;
  std::string* path;  ///< Null for a temporary file, which nobody misses.

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  Image& image() { return owner->images_[*path]; }
};

PowerLossVfs::File* PowerLossVfs::file_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}

PowerLossVfs::PowerLossVfs(bool shared_memory)
    : real_(sqlite3_vfs_find(nullptr)), shared_memory_(shared_memory) {
  vfs_ = *real_;
  vfs_.zName = "power-loss";
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
  vfs_.pNext = nullptr;
  vfs_.xOpen = &PowerLossVfs::open;
  vfs_.xDelete = &PowerLossVfs::remove;
  // The struct is copied whole, so our pointer travels where the real one keeps a constant of its
  // own: the functions that need that are called with the real struct.
  vfs_.pAppData = this;
  if (sqlite3_vfs_register(&vfs_, 1) != SQLITE_OK) {
    throw std::runtime_error("sqlite3_vfs_register");
  }
}

PowerLossVfs::~PowerLossVfs() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void PowerLossVfs::fail(Fault fault, int nth, int times) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  countdown_ = nth;
  times_ = times;
  struck_ = false;
}

bool PowerLossVfs::struck() const {
  const std::scoped_lock lock(mutex_);
  return struck_;
}

bool PowerLossVfs::fails(Call call) {
  const bool concerned = (fault_ == Fault::kDiskFull && call == Call::kWrite) ||
                         (fault_ == Fault::kSyncFails && call == Call::kSync) ||
                         fault_ == Fault::kIoError;
  if (!concerned || --countdown_ > 0 || times_ == 0) {
    return false;
  }
  --times_;
  struck_ = true;
  return true;
}

void PowerLossVfs::leave_what_is_durable(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  const std::scoped_lock lock(mutex_);
  // A name that is used again is another file.
  std::erase_if(images_,
                [&](const auto& file) { return fs::path(file.first).parent_path() == to; });
  for (const auto& [path, image] : images_) {
    if (fs::path(path).parent_path() == from) {
      std::ofstream(to / fs::path(path).filename(), std::ios::binary) << image.durable;
    }
  }
}

/// A file that is seen for the first time is durable as it is: it was renamed to this name.
void PowerLossVfs::load(File& file) {
  if (images_.contains(*file.path)) {
    return;
  }
  sqlite3_int64 size = 0;
  file.real()->pMethods->xFileSize(file.real(), &size);
  std::string content(static_cast<std::size_t>(size), '\0');
  if (size > 0) {
    file.real()->pMethods->xRead(file.real(), content.data(), static_cast<int>(size), 0);
  }
  images_[*file.path].durable = content;
}

int PowerLossVfs::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags,
                       int* out) {
  auto* const self = static_cast<PowerLossVfs*>(vfs->pAppData);
  auto* const file = new (opened) File{{nullptr}, self, nullptr};
  const int code = self->real_->xOpen(self->real_, name, file->real(), flags, out);
  if (code != SQLITE_OK) {
    return code;
  }
  static const sqlite3_io_methods kMethods = {
      2,
      [](sqlite3_file* f) {
        delete file_of(f)->path;
        return file_of(f)->real()->pMethods->xClose(file_of(f)->real());
      },
      [](sqlite3_file* f, void* data, int size, sqlite3_int64 offset) {
        return file_of(f)->real()->pMethods->xRead(file_of(f)->real(), data, size, offset);
      },
      &PowerLossVfs::write,
      &PowerLossVfs::truncate,
      &PowerLossVfs::sync,
      [](sqlite3_file* f, sqlite3_int64* size) {
        return file_of(f)->real()->pMethods->xFileSize(file_of(f)->real(), size);
      },
      [](sqlite3_file* f, int lock) {
        return file_of(f)->real()->pMethods->xLock(file_of(f)->real(), lock);
      },
      [](sqlite3_file* f, int lock) {
        return file_of(f)->real()->pMethods->xUnlock(file_of(f)->real(), lock);
      },
      [](sqlite3_file* f, int* reserved) {
        return file_of(f)->real()->pMethods->xCheckReservedLock(file_of(f)->real(), reserved);
      },
      [](sqlite3_file* f, int operation, void* argument) {
        return file_of(f)->real()->pMethods->xFileControl(file_of(f)->real(), operation, argument);
      },
      [](sqlite3_file* f) { return file_of(f)->real()->pMethods->xSectorSize(file_of(f)->real()); },
      [](sqlite3_file* f) {
        return file_of(f)->real()->pMethods->xDeviceCharacteristics(file_of(f)->real());
      },
      [](sqlite3_file* f, int page, int size, int extend, void volatile** memory) {
        return file_of(f)->real()->pMethods->xShmMap(file_of(f)->real(), page, size, extend,
                                                     memory);
      },
      [](sqlite3_file* f, int offset, int count, int lock) {
        return file_of(f)->real()->pMethods->xShmLock(file_of(f)->real(), offset, count, lock);
      },
      [](sqlite3_file* f) { file_of(f)->real()->pMethods->xShmBarrier(file_of(f)->real()); },
      [](sqlite3_file* f, int remove) {
        return file_of(f)->real()->pMethods->xShmUnmap(file_of(f)->real(), remove);
      },
      nullptr,
      nullptr};
  // Version 1: no shared memory. Who promises to need none is held to it.
  static const sqlite3_io_methods kWithoutMemory = [] {
    sqlite3_io_methods methods = kMethods;
    methods.iVersion = 1;
    return methods;
  }();
  file->base.pMethods = self->shared_memory_ ? &kMethods : &kWithoutMemory;
  if (name != nullptr) {
    const std::scoped_lock lock(self->mutex_);
    file->path = new std::string(name);
    self->load(*file);
  }
  return SQLITE_OK;
}

int PowerLossVfs::remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  auto* const self = static_cast<PowerLossVfs*>(vfs->pAppData);
  {
    const std::scoped_lock lock(self->mutex_);
    self->images_.erase(name);
  }
  return self->real_->xDelete(self->real_, name, sync_folder);
}

int PowerLossVfs::write(sqlite3_file* opened, const void* data, int size, sqlite3_int64 offset) {
  File& file = *file_of(opened);
  const std::scoped_lock lock(file.owner->mutex_);
  const bool failing = file.owner->fails(Call::kWrite);
  const int written = failing ? size / 2 : size;
  const int code = file.real()->pMethods->xWrite(file.real(), data, written, offset);
  if (file.path != nullptr) {
    file.image().pending.push_back(Change{
        offset, std::string(static_cast<const char*>(data), static_cast<std::size_t>(written)),
        false});
  }
  if (failing) {
    return file.owner->fault_ == Fault::kDiskFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  return code;
}

int PowerLossVfs::truncate(sqlite3_file* opened, sqlite3_int64 size) {
  File& file = *file_of(opened);
  const std::scoped_lock lock(file.owner->mutex_);
  if (file.owner->fails(Call::kTruncate)) {
    return SQLITE_IOERR_TRUNCATE;
  }
  if (file.path != nullptr) {
    file.image().pending.push_back(Change{size, {}, true});
  }
  return file.real()->pMethods->xTruncate(file.real(), size);
}

int PowerLossVfs::sync(sqlite3_file* opened, int /*flags*/) {
  File& file = *file_of(opened);
  const std::scoped_lock lock(file.owner->mutex_);
  const bool failing = file.owner->fails(Call::kSync);
  if (file.path != nullptr) {
    Image& image = file.image();
    for (const Change& change : failing ? std::vector<Change>() : image.pending) {
      const auto offset = static_cast<std::size_t>(change.offset);
      if (change.truncates) {
        image.durable.resize(offset);
        continue;
      }
      if (image.durable.size() < offset + change.bytes.size()) {
        image.durable.resize(offset + change.bytes.size());
      }
      image.durable.replace(offset, change.bytes.size(), change.bytes);
    }
    image.pending.clear();
  }
  return failing ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

}  // namespace fenceline::testing
