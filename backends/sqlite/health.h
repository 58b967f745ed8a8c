#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "backends/sqlite/trouble.h"
#include "base/error.h"
#include "base/sqlite_connection.h"

namespace fenceline::backends::sqlite {

/// Whether a database takes writes. Once it does not, that stays so until restart. Thread-safe.
class Health {
 public:
  /// `on_failure` is called once, by the first `fail`, without a lock; may be empty.
  explicit Health(std::function<void(const std::string&)> on_failure)
      : on_failure_(std::move(on_failure)) {}

  /// Takes the database out of service for writes because of `failure` of `path`.
  void fail(const base::SqliteFailure& failure, const std::string& path);

  /// Nothing while in service; otherwise a sentence for the operator.
  [[nodiscard]] std::optional<std::string> reason() const;

  /// Success while in service; otherwise `kStorageFailed`, for a client.
  [[nodiscard]] base::Result<void> check(const DatabaseName& database) const;

 private:
  const std::function<void(const std::string&)> on_failure_;
  std::atomic<bool> failed_ = false;  ///< Set after `message_`.
  mutable std::mutex mutex_;
  std::string message_;
};

}  // namespace fenceline::backends::sqlite
