#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fenceline::testing {

/// A file system for SQLite that knows what a power loss would leave, and can fail.
///
/// While it lives it is SQLite's default VFS; files are kept by the real one. Beside each file it
/// keeps the content that has been synced. A failed sync loses what was written before it for good
/// unless it is written again: the next sync will say OK all the same, as Linux does.
/// One at a time; all databases that use it must be closed before it is destroyed. Thread-safe.
class PowerLossVfs {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kDiskFull,   ///< A write fails with SQLITE_FULL, half of it done.
    kIoError,    ///< A write, truncation or sync fails.
    kSyncFails,  ///< A sync fails.
  };

  /// With `shared_memory`, several connections may use one file in WAL mode; without it, a database
  /// that tries fails.
  explicit PowerLossVfs(bool shared_memory = false);
  ~PowerLossVfs();
  PowerLossVfs(const PowerLossVfs&) = delete;
  PowerLossVfs& operator=(const PowerLossVfs&) = delete;

  /// From now on the `nth` call (from 1) that `fault` concerns fails, `times` times in a row.
  void fail(Fault fault, int nth, int times);
  void heal() { fail(Fault::kNone, 0, 0); }

  /// True if the fault has struck since `fail`.
  [[nodiscard]] bool struck() const;

  /// Makes the folder `to` anew with what a power loss now would leave of the files in `from`.
  void leave_what_is_durable(const std::filesystem::path& from, const std::filesystem::path& to);

 private:
  struct Change {
    sqlite3_int64 offset = 0;
    std::string bytes;
    bool truncates = false;  ///< To the length `offset`.
  };
  struct Image {
    std::string durable;
    std::vector<Change> pending;
  };
  struct File;
  enum class Call : std::uint8_t { kWrite, kTruncate, kSync };

  static File* file_of(sqlite3_file* file);
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder);
  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset);
  static int truncate(sqlite3_file* file, sqlite3_int64 size);
  static int sync(sqlite3_file* file, int flags);

  // These two with `mutex_` held.
  [[nodiscard]] bool fails(Call call);
  void load(File& file);

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  const bool shared_memory_;
  mutable std::mutex mutex_;
  std::map<std::string, Image> images_;
  Fault fault_ = Fault::kNone;
  int countdown_ = 0;
  int times_ = 0;
  bool struck_ = false;
};

}  // namespace fenceline::testing
