#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::fencing {

/// The right to use one ledger file: a `flock` on `<path>.lock` beside it.
///
/// SQLite's own exclusive lock refuses a second process too, but says "database is locked" and not
/// who holds it; and it lives on the database file, where closing any other descriptor of that file
/// in this process drops it silently (POSIX record locks). Held until destroyed or until the
/// process ends, however it ends. The lock file stays behind: removing it would let two processes
/// lock two files of one name.
class LedgerLock {
 public:
  /// Takes the lock for the ledger at `path` without waiting.
  /// Failure: `kLedgerUnavailable`: held by another process (named by its id) or by another ledger
  /// of this one; the folder cannot be written.
  static base::Result<LedgerLock> take(const std::string& path);

 private:
  explicit LedgerLock(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
};

}  // namespace fenceline::fencing
