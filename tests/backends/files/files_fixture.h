#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backends/files/files_backend.h"
#include "base/worker_pool.h"
#include "tests/backends/files/fault_syscalls.h"
#include "tests/support/backend_driver.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// A root on disk with a backend in front whose system calls can fail.
class FilesBackendTest : public ::testing::Test {
 protected:
  void open(backends::SyncMode sync = backends::SyncMode::kFull) {
    close();
    auto opened = try_open(sync);
    ASSERT_TRUE(opened) << opened.error().detail;
    backend_ = *std::move(opened);
  }

  base::Result<std::unique_ptr<backends::Backend>> try_open(
      backends::SyncMode sync = backends::SyncMode::kFull) {
    if (!pool_) {
      pool_.emplace(2);
    }
    return backends::open_files_backend({.root = root().string(),
                                         .pool = *pool_,
                                         .sync = sync,
                                         .ledger_identity = ledger_identity_,
                                         .on_failure =
                                             [this](const std::string& message) {
                                               const std::scoped_lock lock(mutex_);
                                               alarms_.push_back(message);
                                             },
                                         .syscalls = &calls_});
  }

  /// From the next opening on.
  void use_ledger(std::string identity) { ledger_identity_ = std::move(identity); }

  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "root"; }
  [[nodiscard]] std::filesystem::path outside() const { return folder_.path() / "outside"; }

  backends::Backend& backend() { return *backend_; }

  /// Like the end of the process: the lock is free afterwards.
  void close() {
    backend_.reset();
    pool_.reset();
  }

  FaultSyscalls& calls() { return calls_; }

  std::vector<std::string> alarms() {
    const std::scoped_lock lock(mutex_);
    return alarms_;
  }

  /// The names in the private directory for staged bodies.
  [[nodiscard]] std::size_t leftovers() const {
    const std::filesystem::directory_iterator files(root() / ".fenceline/tmp");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    content << stream.rdbuf();
    return content.str();
  }

  static void write(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }

 private:
  TempFolder folder_;
  std::optional<base::WorkerPool> pool_;
  FaultSyscalls calls_;
  std::string ledger_identity_;
  std::mutex mutex_;
  std::vector<std::string> alarms_;
  std::unique_ptr<backends::Backend> backend_;
};

}  // namespace fenceline::testing
