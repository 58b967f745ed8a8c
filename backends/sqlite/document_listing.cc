#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "backends/listing_query.h"
#include "backends/sqlite/document_read.h"
#include "base/http_date.h"
#include "base/json_text.h"

namespace fenceline::backends::sqlite {
namespace {

using base::Reply;
using base::Result;

class ListingRead final : public ReadJob {
 public:
  ListingRead(std::shared_ptr<const DocumentTable> table, const ResourceRequest& request,
              ListingPage page)
      : table_(std::move(table)),
        folder_(request.name.empty() ? std::string() : std::string(request.name) + '/'),
        is_head_(request.head.method == base::Method::kHead),
        page_(std::move(page)) {}

  SqliteResult<Result<Reply>> read(Connection& connection) override {
    auto json = list(connection);
    if (!json) {
      return tl::unexpected(std::move(json.error()));
    }
    Reply reply;
    reply.add("Content-Type", "application/json");
    if (is_head_) {
      reply.head_length_bytes = json->size();
    } else {
      reply.body = *std::move(json);
    }
    return Result<Reply>(std::move(reply));
  }

  [[nodiscard]] std::string doing() const override {
    return fmt::format("list \"{}\" in", folder_);
  }

 private:
  SqliteResult<std::string> list(Connection& connection) {
    auto run = connection.prepared(table_->list);
    if (!run) {
      return tl::unexpected(std::move(run.error()));
    }
    base::SqliteStatement& statement = **run;
    const std::string after = page_.after.empty() ? std::string() : folder_ + page_.after;
    const std::string from = folder_ + page_.prefix;
    // No text in UTF-8 has this byte.
    const std::string end = from + '\xff';
    statement.bind_text(1, after);
    statement.bind_text(2, from);
    if (from.empty()) {
      statement.bind_above_all_text(3);
    } else {
      statement.bind_text(3, end);
    }
    std::string json = "{\"entries\":[";
    std::string last;
    for (std::size_t count = 0;;) {
      const auto row = statement.step();
      if (!row) {
        return tl::unexpected(row.error());
      }
      if (!*row) {
        return json + "]}";
      }
      const std::string_view key = statement.text(0);
      if (!can_be_named(key)) {
        continue;
      }
      if (count++ == page_.limit) {
        json += "],\"next\":";
        base::append_json_string(json, last);
        return json + "}";
      }
      last = key.substr(folder_.size());
      append_entry(json, last, statement);
    }
  }

  static void append_entry(std::string& json, std::string_view name,
                           const base::SqliteStatement& row) {
    json += json.ends_with('[') ? "{\"name\":" : ",{\"name\":";
    base::append_json_string(json, name);
    fmt::format_to(std::back_inserter(json), ",\"type\":\"file\",\"size\":{}", row.number(1));
    if (sqlite3_column_type(row.get(), 2) == SQLITE_INTEGER) {
      fmt::format_to(std::back_inserter(json), ",\"modified\":\"{}\"",
                     base::format_rfc3339(row.number(2)));
    }
    json += '}';
  }

  const std::shared_ptr<const DocumentTable> table_;
  const std::string folder_;
  const bool is_head_;
  const ListingPage page_;
};

}  // namespace

Result<std::shared_ptr<ReadJob>> read_listing(const Store& store, const ResourceRequest& request) {
  auto page = parse_listing_query(request.head.query, true);
  if (!page) {
    return tl::unexpected(std::move(page.error()));
  }
  return std::make_shared<ListingRead>(store.documents, request, *std::move(page));
}

}  // namespace fenceline::backends::sqlite
