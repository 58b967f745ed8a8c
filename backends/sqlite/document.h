#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/sqlite/connection.h"
#include "backends/sqlite/document_table.h"
#include "base/conditions.h"
#include "base/stamp.h"

namespace fenceline::backends::sqlite {

/// A document as it is in its table.
struct Document {
  std::string etag;  ///< As sent.
  std::optional<std::int64_t> modified_s;
  std::string type;  ///< Empty if none is kept.
  std::uint64_t size_bytes = 0;
  std::optional<std::string> content;  ///< Only if it was asked for, and is small.

  [[nodiscard]] base::ResourceState state() const {
    return {.exists = true, .etag = etag, .last_modified_s = modified_s};
  }
};

/// What a lookup is for.
enum class Wanted : std::uint8_t {
  kExistence,  ///< The tag is left out if it would have to be computed.
  kState,
  kContent,
};

/// Looks up the document `key`, in the transaction that is open.
SqliteResult<std::optional<Document>> find_document(Connection& connection,
                                                    const DocumentTable& table,
                                                    std::string_view key, Wanted wanted);

/// The content of the document `key`, which is there.
SqliteResult<std::string> content_of(Connection& connection, const DocumentTable& table,
                                     std::string_view key);

/// What the last write of ours kept with it.
struct KeptStamp {
  bool exists = false;  ///< The document.
  std::optional<base::Stamp> stamp;
};
SqliteResult<KeptStamp> find_kept_stamp(Connection& connection, const DocumentTable& table,
                                        std::string_view key);

}  // namespace fenceline::backends::sqlite
