#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::backends::files {

/// Remembers that an fsync failed. Afterwards the kernel may call pages clean that never reached
/// the disk, so nothing that is written later can be trusted until a restart. Thread-safe.
class ServiceState {
 public:
  /// `on_failure` is called once, by the first `fail`, without a lock; may be empty.
  explicit ServiceState(std::function<void(const std::string&)> on_failure);

  /// Takes the backend out of service for writes, for good, because an fsync gave `code`
  /// (`-errno`). The first message stays. `what` names what was synced: "the body".
  /// Success: the error for the request, `kStorageFailed` whatever the errno (a full disk, too, has
  /// cost pages that nobody can name), `applied: kNo`.
  base::Error fail(int code, std::string_view what);

  /// Nothing while in service; otherwise the message.
  [[nodiscard]] std::optional<std::string> reason() const;

  /// Success while in service; otherwise `kStorageFailed` with the message, `applied: kNo`.
  [[nodiscard]] base::Result<void> check() const;

 private:
  std::function<void(const std::string&)> on_failure_;
  std::atomic<bool> failed_ = false;  ///< Set after `message_`; most checks end here.
  mutable std::mutex mutex_;
  std::string message_;
};

}  // namespace fenceline::backends::files
