// The attribute beside a file: whatever is decoded is exactly what `encode` writes, so that a value
// of somebody else's is never half believed.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "backends/files/metadata.h"
#include "base/conditions.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

namespace files = backends::files;

void check_attribute(std::string_view text) {
  const auto metadata = files::decode(text);
  if (!metadata) {
    return;
  }
  check(files::encode(*metadata) == text, "what is decoded is what encode writes", text);
  check(!metadata->nonce.empty(), "without a nonce the entity tag would be a guess", text);
  check(std::ranges::all_of(metadata->request_id, [](char c) { return c > 0x20 && c < 0x7f; }),
        "a request id is visible ASCII", text);
  // Any time and size: a file may bear what it likes.
  struct stat status {};
  std::memcpy(&status.st_mtim.tv_sec, text.data(), std::min(text.size(), sizeof(std::int64_t)));
  const std::string etag = files::etag_of(metadata->nonce, status);
  check(base::entity_tag_length(etag) == etag.size() && base::match_strongly(etag, etag),
        "its entity tag is a strong one", etag);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_attribute(fenceline::fuzz::as_text(data, size));
  return 0;
}
