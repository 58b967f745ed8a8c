#include "proxy/open_roots.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"

namespace fenceline::proxy {
namespace {

using base::Result;
using SharedBackend = std::shared_ptr<backends::Backend>;

constexpr std::chrono::milliseconds kRetry{10};
constexpr int kRetries = 200;

}  // namespace

Result<std::unique_ptr<backends::Backend>> OpenRoots::open_files(const std::string& root,
                                                                 backends::SyncMode sync) {
  backends::FilesOptions options{.root = root, .pool = pool_};
  options.sync = sync;
  options.ledger_identity = ledger_identity_;
  options.on_failure = [root](const std::string& message) {
    base::log(base::LogLevel::kError, "out_of_service",
              "routes on this root take no writes until the server is restarted",
              {{"root", root}, {"reason", message}});
  };
  const auto seconds = [this, &root](const char* object) {
    return registry_.histogram("fenceline_files_fsync_seconds",
                               "Time of one fsync of a files backend.",
                               {{"root", root}, {"object", object}}, base::seconds_bounds());
  };
  options.on_sync = [file = seconds("file"), directory = seconds("directory")](
                        backends::SyncedObject object, double took) {
    (object == backends::SyncedObject::kFile ? file : directory).observe(took);
  };
  return backends::open_files_backend(std::move(options));
}

Result<SharedBackend> OpenRoots::open(const std::string& root, const std::string& canonical,
                                      backends::SyncMode sync) {
  const auto found = known_.find(canonical);
  if (found != known_.end()) {
    if (SharedBackend open = found->second.backend.lock()) {
      if (found->second.sync != sync) {
        return base::fail(base::ErrorKind::kStorageFailed,
                          fmt::format("the files root \"{}\" is open with another `sync`; restart "
                                      "the server",
                                      root));
      }
      return open;
    }
  }
  auto opened = open_files(root, sync);
  for (int i = 0; !opened && found != known_.end() && i < kRetries; ++i) {
    std::this_thread::sleep_for(kRetry);
    opened = open_files(root, sync);
  }
  if (!opened) {
    return tl::unexpected(std::move(opened).error());
  }
  SharedBackend shared = std::move(*opened);
  known_[canonical] = {shared, sync};
  return shared;
}

}  // namespace fenceline::proxy
