#include "tests/contract/backend_contract.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "backends/files/files_backend.h"
#include "base/worker_pool.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

class FilesFixture final : public BackendFixture {
 public:
  explicit FilesFixture(backends::SyncMode sync) {
    auto opened =
        backends::open_files_backend({.root = folder_.at("root"), .pool = pool_, .sync = sync});
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    backend_ = *std::move(opened);
  }

  backends::Backend& backend() override { return *backend_; }

  bool is_free_of_leftovers() override {
    return std::filesystem::is_empty(folder_.path() / "root/.fenceline/tmp");
  }

 private:
  TempFolder folder_;
  base::WorkerPool pool_{3};
  std::unique_ptr<backends::Backend> backend_;
};

std::unique_ptr<BackendFixture> durable_files() {
  return std::make_unique<FilesFixture>(backends::SyncMode::kFull);
}

std::unique_ptr<BackendFixture> fast_files() {
  return std::make_unique<FilesFixture>(backends::SyncMode::kNone);
}

INSTANTIATE_TEST_SUITE_P(Files, BackendContract,
                         ::testing::Values(BackendCase{"sync_full", durable_files},
                                           BackendCase{"sync_none", fast_files}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace fenceline::testing
