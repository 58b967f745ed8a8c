#include "backends/files/store.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::files {

Store::Store(const FilesOptions& options, RootDirectory opened, std::uint64_t nonce)
    : calls(options.syscalls != nullptr ? *options.syscalls : real_syscalls()),
      pool(options.pool),
      sync(options.sync),
      directory(std::move(opened)),
      service(options.on_failure),
      directory_sync(
          [&system = calls](int fd) { return system.fsync(fd); },
          [&threads = pool](std::function<void()> work) { threads.post(std::move(work)); }),
      nonce_(nonce) {}

std::string Store::fresh_nonce() {
  return fmt::format("{:016x}-{:x}", nonce_, counter_.fetch_add(1, std::memory_order_relaxed));
}

std::mutex& Store::stripe(std::string_view name) {
  return stripes_.at(std::hash<std::string_view>()(name) % kStripes);
}

}  // namespace fenceline::backends::files
