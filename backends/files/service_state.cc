#include "backends/files/service_state.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::files {

ServiceState::ServiceState(std::function<void(const std::string&)> on_failure)
    : on_failure_(std::move(on_failure)) {}

base::Error ServiceState::fail(int code, std::string_view what) {
  base::Error error = base::error_from_errno(-code, fmt::format("fsync of {} failed", what));
  error.kind = base::ErrorKind::kStorageFailed;
  const std::string message = fmt::format(
      "{}; nothing written since can be trusted: check the disk, then restart", error.detail);
  {
    const std::scoped_lock lock(mutex_);
    if (failed_) {
      return error;
    }
    message_ = message;
    failed_ = true;
  }
  if (on_failure_) {
    on_failure_(message);
  }
  return error;
}

std::optional<std::string> ServiceState::reason() const {
  if (!failed_) {
    return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  return message_;
}

base::Result<void> ServiceState::check() const {
  if (auto message = reason()) {
    return base::fail(base::ErrorKind::kStorageFailed, *std::move(message));
  }
  return {};
}

}  // namespace fenceline::backends::files
