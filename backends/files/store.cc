#include "backends/files/store.h"

#include <utility>

#include "base/digits.h"

namespace fenceline::backends::files {

namespace {

std::string nonce_text(std::uint64_t nonce) {
  std::string text;
  base::append_hex(text, nonce, 16);
  return text + '-';
}

}  // namespace

Store::Store(const FilesOptions& options, RootDirectory opened, std::uint64_t nonce)
    : calls(options.syscalls != nullptr ? *options.syscalls : real_syscalls()),
      pool(options.pool),
      sync(options.sync),
      timed_sync{calls, options.on_sync},
      directory(std::move(opened)),
      service(options.on_failure),
      directory_sync(
          [timed = timed_sync](int fd) { return timed(fd, SyncedObject::kDirectory); },
          [&threads = pool](std::function<void()> work) { threads.post(std::move(work)); }),
      nonce_(nonce_text(nonce)) {}

std::string Store::fresh_nonce() {
  std::string nonce;
  nonce.reserve(nonce_.size() + 16);
  nonce = nonce_;
  base::append_hex(nonce, counter_.fetch_add(1, std::memory_order_relaxed));
  return nonce;
}

std::mutex& Store::stripe(std::string_view name) {
  return stripes_.at(std::hash<std::string_view>()(name) % kStripes);
}

}  // namespace fenceline::backends::files
