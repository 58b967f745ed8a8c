#include "backends/sqlite/document.h"

#include <utility>

#include "backends/sqlite/etag.h"

namespace fenceline::backends::sqlite {
namespace {

using Column = DocumentTable::Column;

constexpr std::int64_t kNoContent = -1;

// The row of `key`, or none.
SqliteResult<bool> look_up(Run& run, std::string_view key, std::int64_t up_to_bytes) {
  run->bind_text(1, key);
  run->bind_number(2, up_to_bytes);
  return run->step();
}

bool is_type(Run& run, Column column, int type) {
  return sqlite3_column_type(run->get(), column) == type;
}

bool is_header_text(std::string_view text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      return false;
    }
  }
  return true;
}

}  // namespace

SqliteResult<std::string> content_of(Connection& connection, const DocumentTable& table,
                                     std::string_view key) {
  auto run = connection.prepared(table.value);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  (*run)->bind_text(1, key);
  const auto row = (*run)->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return *row ? std::string((*run)->text(0)) : std::string();
}

SqliteResult<std::optional<Document>> find_document(Connection& connection,
                                                    const DocumentTable& table,
                                                    std::string_view key, Wanted wanted) {
  auto run = connection.prepared(table.find);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  const auto row =
      look_up(*run, key, wanted == Wanted::kContent ? DocumentTable::kSmallBytes : kNoContent);
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (!*row) {
    return std::optional<Document>();
  }
  Document document;
  document.size_bytes = static_cast<std::uint64_t>((*run)->number(Column::kSize));
  if (is_type(*run, Column::kType, SQLITE_TEXT) && is_header_text((*run)->text(Column::kType))) {
    document.type = (*run)->text(Column::kType);
  }
  if (is_type(*run, Column::kModified, SQLITE_INTEGER)) {
    document.modified_s = (*run)->number(Column::kModified);
  }
  if (!is_type(*run, Column::kSmallValue, SQLITE_NULL)) {
    document.content = (*run)->text(Column::kSmallValue);
  } else if (wanted == Wanted::kContent && document.size_bytes == 0) {
    document.content = "";
  }
  if (is_type(*run, Column::kEtag, SQLITE_TEXT) && is_opaque_tag((*run)->text(Column::kEtag))) {
    document.etag = entity_tag((*run)->text(Column::kEtag));
    return document;
  }
  if (wanted == Wanted::kExistence) {
    return document;
  }
  // Whoever wrote it kept no tag.
  if (document.content) {
    document.etag = entity_tag(tag_of_content(document.type, *document.content));
    return document;
  }
  const auto content = content_of(connection, table, key);
  if (!content) {
    return tl::unexpected(content.error());
  }
  document.etag = entity_tag(tag_of_content(document.type, *content));
  return document;
}

SqliteResult<KeptStamp> find_kept_stamp(Connection& connection, const DocumentTable& table,
                                        std::string_view key) {
  auto run = connection.prepared(table.find);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  const auto row = look_up(*run, key, kNoContent);
  if (!row) {
    return tl::unexpected(row.error());
  }
  KeptStamp kept{*row, std::nullopt};
  if (*row && is_type(*run, Column::kRequestId, SQLITE_TEXT)) {
    const std::int64_t token =
        is_type(*run, Column::kToken, SQLITE_INTEGER) ? (*run)->number(Column::kToken) : 0;
    kept.stamp = base::Stamp{.key = {},
                             .token = base::Token::of(token < 0 ? 0 : token),
                             .request_id = std::string((*run)->text(Column::kRequestId))};
  }
  return kept;
}

}  // namespace fenceline::backends::sqlite
