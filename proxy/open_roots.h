#pragma once

#include <map>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/files/files_backend.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"

namespace fenceline::proxy {

/// The files roots that this process has open, each once: a root is locked against everybody, also
/// against ourselves, and opening it removes the temporary files of whoever had it. So the routes
/// of one configuration share it, and a new configuration takes it over with the uploads that run.
/// For one thread.
class OpenRoots {
 public:
  /// `ledger_identity`: see `FilesOptions`. `registry` (for the time of fsyncs) and `pool` outlive
  /// every backend.
  OpenRoots(std::string ledger_identity, base::MetricRegistry& registry, base::WorkerPool& pool)
      : ledger_identity_(std::move(ledger_identity)), registry_(registry), pool_(pool) {}

  /// The backend of a root.
  /// Does: gives the one that is open, if anybody still holds it; opens it otherwise. A root that
  /// this process has let go is tried for up to 2 s: an effect that has just ended may hold its
  /// lock for another moment. `canonical` tells roots apart, `root` is what the user wrote.
  /// Success: the backend; the root is released when its last holder lets go.
  /// Failure: as `open_files_backend`; `kStorageFailed` if it is open with another `sync`.
  base::Result<std::shared_ptr<backends::Backend>> open(const std::string& root,
                                                        const std::string& canonical,
                                                        backends::SyncMode sync);

 private:
  struct Known {
    std::weak_ptr<backends::Backend> backend;
    backends::SyncMode sync = backends::SyncMode::kFull;
  };

  base::Result<std::unique_ptr<backends::Backend>> open_files(const std::string& root,
                                                              backends::SyncMode sync);

  std::string ledger_identity_;
  base::MetricRegistry& registry_;
  base::WorkerPool& pool_;
  std::map<std::string, Known> known_;  ///< By canonical path, also those that were let go.
};

}  // namespace fenceline::proxy
