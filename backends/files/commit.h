#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/files/store.h"
#include "backends/files/temporary_file.h"
#include "base/conditions.h"

namespace fenceline::backends::files {

/// A write that is ready to be done: everything its commit needs, owned.
struct ReadyWrite {
  std::shared_ptr<Store> store;
  std::string name;
  base::Conditions conditions;
  std::shared_ptr<TemporaryFile> file;  ///< The new content; none: the file is to be deleted.
  std::string etag;                     ///< Of the new content.
};

/// The staged write whose commit does `write`, as `StagedWrite` says: on the caller's thread with
/// `SyncMode::kNone`, on the pool with `SyncMode::kFull`.
/// Failures of its commit besides those of the conditions and of the name: a rename or unlink that
/// failed is looked at afterwards, `applied` is `kNo` if it left everything as it was and
/// `kUnknown` otherwise; a failed fsync of the directory is `kStorageFailed` with `kUnknown`, and
/// the backend is out of service.
std::unique_ptr<StagedWrite> make_staged_write(std::shared_ptr<ReadyWrite> write);

}  // namespace fenceline::backends::files
