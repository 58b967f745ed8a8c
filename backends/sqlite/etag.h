#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace fenceline::backends::sqlite {

/// Makes opaque tags that never repeat: 64 random bits of this opening, and a counter. So a tag
/// that a restored backup knows is not given again either. Thread-safe.
class TagSource {
 public:
  /// `nonce`: random, and of no other opening.
  explicit TagSource(std::uint64_t nonce);

  std::string fresh();

 private:
  std::string nonce_;
  std::atomic<std::uint64_t> counter_ = 0;
};

/// The opaque tag of a document whose table keeps none: a SHA-256 of its type and content. Equal
/// for equal documents, so it is a strong validator, but it comes back when the content does.
std::string tag_of_content(std::string_view type, std::string_view content);

/// True if `tag` can be sent between quotes (RFC 9110, 8.8.3); others write the column too.
bool is_opaque_tag(std::string_view tag);

/// `tag` as sent in `ETag`.
std::string entity_tag(std::string_view tag);

}  // namespace fenceline::backends::sqlite
