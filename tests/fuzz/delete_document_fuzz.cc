// Documents of DeleteObjects. What is read and written again says the same; a document that is
// refused is refused as one.

#include <string>

#include "backends/s3/delete_document.h"
#include "backends/s3/object_name.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using backends::s3::DeleteDocument;

bool same(const DeleteDocument& left, const DeleteDocument& right) {
  if (left.quiet != right.quiet || left.deletions.size() != right.deletions.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.deletions.size(); ++i) {
    const auto& [key, version, etag] = left.deletions[i];
    const auto& [other_key, other_version, other_etag] = right.deletions[i];
    if (key != other_key || version != other_version || etag != other_etag) {
      return false;
    }
  }
  return true;
}

void check_document(std::string_view xml) {
  const auto document = backends::s3::parse_delete_document(xml);
  if (!document) {
    check(document.error().kind == base::ErrorKind::kMalformedRequest &&
              document.error().code == "MalformedXML" && !document.error().detail.empty(),
          "a refusal is one of XML", xml);
    return;
  }
  check(!document->deletions.empty() && document->deletions.size() <= backends::s3::kMaxDeletions,
        "there is something to delete, and not too much", xml);
  for (const auto& deletion : document->deletions) {
    check(backends::s3::check_key(deletion.key).has_value(), "every key can be one", xml);
    const auto again = backends::s3::decode_key(backends::s3::encode_key(deletion.key));
    check(again && *again == deletion.key, "a key in a path is the same key", xml);
  }
  const std::string written = backends::s3::write_delete_document(*document);
  const auto again = backends::s3::parse_delete_document(written);
  check(again.has_value(), "what is written can be read", written);
  check(same(*document, *again), "what is read again says the same", xml);
  check(backends::s3::write_delete_document(*again) == written, "there is one form", xml);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_document(fenceline::fuzz::as_text(data, size));
  return 0;
}
