#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fenceline::backends::s3 {

/// S3 takes no more in one request.
inline constexpr std::size_t kMaxDeletions = 1000;
inline constexpr std::size_t kMaxDeleteDocumentBytes = 2UL * 1024 * 1024;

struct Deletion {
  std::string key;
  std::string version;  ///< Empty: the current one.
  std::string etag;     ///< Only delete if it has this one; empty: whatever it has.
};

struct DeleteDocument {
  std::vector<Deletion> deletions;  ///< At least one.
  bool quiet = false;
};

/// Reads the document of a DeleteObjects request: entities, CDATA and namespaces as XML 1.0 has
/// them; nothing is fetched, no entity is defined. Blanks belong to keys and versions. The same key
/// may be in several objects.
/// Failure: `kMalformedRequest` with `MalformedXML`: not XML (see `XmlReader`), another root or
/// namespace, no object, more than `kMaxDeletions`, an object without a key or with two, an empty
/// version or ETag, an element that is not known (also the further conditions of directory
/// buckets), a key that `check_key` refuses, more than `kMaxDeleteDocumentBytes`. Pure.
base::Result<DeleteDocument> parse_delete_document(std::string_view xml);

/// Writes it again, in our own form: what goes upstream is what was read, not what was sent.
std::string write_delete_document(const DeleteDocument& document);

}  // namespace fenceline::backends::s3
