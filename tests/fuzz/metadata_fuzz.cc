// The attribute beside a file: whatever is decoded is written back as it was, so that a value of
// somebody else's is never half believed; and the first format says the same after it.

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

struct Texts {
  explicit Texts(const files::Metadata& from)
      : nonce(from.nonce.text(nonce_space)), request_id(from.request_id.text(request_space)) {}

  files::PackedId::Space nonce_space{};
  files::PackedId::Space request_space{};
  std::string nonce;
  std::string request_id;
};

void check_attribute(std::string_view text) {
  const auto metadata = files::decode(text);
  if (!metadata) {
    return;
  }
  const Texts texts(*metadata);
  const std::string written = files::encode(*metadata);
  check(written == text || text.starts_with("1 "), "what is decoded is written back", text);
  const auto again = files::decode(written);
  check(again && again->token == metadata->token && Texts(*again).nonce == texts.nonce &&
            Texts(*again).request_id == texts.request_id &&
            again->content_type == metadata->content_type,
        "what is written back says the same", text);
  check(!texts.nonce.empty(), "without a nonce the entity tag would be a guess", text);
  check(std::ranges::all_of(texts.request_id, [](char c) { return c > 0x20 && c < 0x7f; }),
        "a request id is visible ASCII", text);
  // Any time and size: a file may bear what it likes.
  struct stat status {};
  std::memcpy(&status.st_mtim.tv_sec, text.data(), std::min(text.size(), sizeof(std::int64_t)));
  const std::string etag = files::etag_of(texts.nonce, status);
  check(base::entity_tag_length(etag) == etag.size() && base::match_strongly(etag, etag),
        "its entity tag is a strong one", etag);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_attribute(fenceline::fuzz::as_text(data, size));
  return 0;
}
