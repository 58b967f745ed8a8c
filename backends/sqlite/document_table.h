#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/sqlite/connection.h"
#include "backends/sqlite/sqlite_backend.h"
#include "base/error.h"
#include "base/stamp.h"

namespace fenceline::backends::sqlite {

/// What a table has besides the keys and the values.
struct TableShape {
  bool content_type = true;
  bool etag = true;
  bool modified = true;
  bool stamp = true;
  bool text_values = false;  ///< The value column is declared as text.
};

/// The SQL on one table of documents. Plain data; thread-safe.
///
/// Every SELECT of one document gives the columns of `Column`, NULL for what the table lacks.
struct DocumentTable {
  enum Column : int { kEtag, kModified, kType, kSize, kToken, kRequestId, kSmallValue };

  /// Values up to this size come with the rest; larger ones are looked up where they are sent.
  static constexpr std::int64_t kSmallBytes = 16 * 1024;

  TableShape shape;
  std::string find;    ///< ?1 key, ?2 `kSmallBytes`: the columns above.
  std::string value;   ///< ?1 key: the value, as a blob.
  std::string insert;  ///< ?1 key, ?2 value, ?3 type, ?4 etag, ?5 modified, ?6 token, ?7 request.
  std::string update;  ///< The same.
  std::string remove;  ///< ?1 key.
  std::string list;    ///< ?1 above this key, ?2 from, ?3 below: key, size, modified; sorted.
};

/// Makes the table if it is missing, in the writer's transaction of its own, or checks the one that
/// is there.
/// Failure: `kStorageFailed` with a sentence that names the file, the table, the column, the reason
/// and the fix; those of `cannot_open`.
base::Result<DocumentTable> open_document_table(Connection& writer, const SqliteOptions& options,
                                                const std::string& path);

}  // namespace fenceline::backends::sqlite
