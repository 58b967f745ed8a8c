#include "proxy/linger.h"

#include <array>
#include <vector>

namespace fenceline::proxy {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{16} * 1024;

}  // namespace

base::Awaitable<void> close_after_answer(Transport& transport, base::Milliseconds limit,
                                         std::uint64_t limit_bytes) {
  transport.start_deadline(limit);
  co_await transport.shutdown_write();
  std::vector<char> scratch(kScratchBytes);
  std::uint64_t dropped_bytes = 0;
  while (dropped_bytes <= limit_bytes) {
    const auto count = co_await transport.discard_some(scratch);
    if (!count || *count == 0) {
      break;
    }
    dropped_bytes += *count;
  }
  transport.stop_deadline();
  transport.close();
}

}  // namespace fenceline::proxy
