#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::backends::sqlite {

/// The right of one fenceline to a database: a `flock` on `<path>.lock` beside it. Other programs
/// may use the database meanwhile; a second fenceline may not, since its gate would know nothing of
/// ours. The lock ends with the process, however it ends; the file stays, because removing it would
/// let two processes lock two files of one name.
class DatabaseLock {
 public:
  /// Takes it for the database at `path` without waiting. Failure: `kStorageFailed`: held (by which
  /// process), or the folder cannot be written.
  static base::Result<DatabaseLock> take(const std::string& path);

 private:
  explicit DatabaseLock(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
};

}  // namespace fenceline::backends::sqlite
