#include "backends/sqlite/health.h"

#include <fmt/format.h>

namespace fenceline::backends::sqlite {

void Health::fail(const base::SqliteFailure& failure, const std::string& path) {
  const bool moved = failure.code == SQLITE_READONLY_DBMOVED;
  const std::string message = fmt::format(
      "the database {} takes no writes until restart: {}; {}", path, failure.text,
      moved ? "put the file back where it was, then restart"
            : "check the disk and the database (PRAGMA integrity_check on a copy), then restart");
  {
    const std::scoped_lock lock(mutex_);
    if (failed_) {
      return;
    }
    message_ = message;
    failed_ = true;
  }
  if (on_failure_) {
    on_failure_(message);
  }
}

std::optional<std::string> Health::reason() const {
  if (!failed_) {
    return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  return message_;
}

base::Result<void> Health::check(const DatabaseName& database) const {
  if (!failed_) {
    return {};
  }
  return base::fail(base::ErrorKind::kStorageFailed,
                    fmt::format("The database {} has failed and takes no writes until the server "
                                "has been restarted. Tell its operator.",
                                database.file()));
}

}  // namespace fenceline::backends::sqlite
