#include "backends/sqlite/document_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "backends/sqlite/document.h"
#include "base/conditions.h"
#include "base/http_date.h"
#include "base/range.h"

namespace fenceline::backends::sqlite {
namespace {

using base::ErrorKind;
using base::Reply;
using base::Result;

constexpr std::string_view kDefaultType = "application/octet-stream";

/// What a part is asked for with, as text of its own: the head may be gone when the pool reads it.
class RangeHeaders {
 public:
  explicit RangeHeaders(const base::RequestHead& head) : method_(head.method) {
    for (const base::Field& field : head.fields) {
      if (base::equal_names(field.name, "Range") || base::equal_names(field.name, "If-Range")) {
        fields_.emplace_back(field.name, field.value);
      }
    }
  }

  [[nodiscard]] bool is_head() const { return method_ == base::Method::kHead; }

  [[nodiscard]] base::RangeDecision decide(const base::RangeTarget& target) const {
    base::RequestHead head;
    head.method = method_;
    for (const auto& [name, value] : fields_) {
      head.fields.push_back({name, value});
    }
    return base::decide_range(head, target);
  }

 private:
  base::Method method_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

void add_validators(Reply& reply, const Document& document) {
  reply.add("ETag", document.etag);
  if (document.modified_s) {
    // A date after our own would be no validator (RFC 9110, 8.8.2.1).
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto date =
        base::http_date_text(std::min<std::int64_t>(*document.modified_s, now.count()));
    reply.add("Last-Modified", std::string_view(date.data(), date.size()));
  }
}

class DocumentRead final : public ReadJob {
 public:
  DocumentRead(std::shared_ptr<const DocumentTable> table, const ResourceRequest& request,
               base::Conditions conditions)
      : table_(std::move(table)),
        name_(request.name),
        conditions_(std::move(conditions)),
        range_(request.head) {}

  SqliteResult<Result<Reply>> read(Connection& connection) override {
    auto found = find_document(connection, *table_, name_,
                               range_.is_head() ? Wanted::kState : Wanted::kContent);
    if (!found) {
      return tl::unexpected(std::move(found.error()));
    }
    if (!*found) {
      return Result<Reply>(
          base::fail(ErrorKind::kNotFound, fmt::format("There is no document \"{}\"", name_)));
    }
    Document& document = **found;
    Reply reply;
    add_validators(reply, document);
    switch (conditions_.evaluate(document.state())) {
      case base::Verdict::kFailed:
        return Result<Reply>(
            base::fail(ErrorKind::kPreconditionFailed,
                       fmt::format("\"{}\" is not in the state that the request asks for", name_)));
      case base::Verdict::kNotModified:
        reply.status = 304;
        reply.head_length_bytes = document.size_bytes;
        return Result<Reply>(std::move(reply));
      case base::Verdict::kProceed:
        break;
    }
    reply.add("Content-Type", document.type.empty() ? kDefaultType : document.type);
    reply.add("Accept-Ranges", "bytes");
    return add_content(connection, document, std::move(reply));
  }

  [[nodiscard]] std::string doing() const override { return fmt::format("read \"{}\" in", name_); }

 private:
  SqliteResult<Result<Reply>> add_content(Connection& connection, Document& document, Reply reply) {
    using Kind = base::RangeDecision::Kind;
    const std::uint64_t size = document.size_bytes;
    const auto range = range_.decide({.size_bytes = size,
                                      .etag = document.etag,
                                      .last_modified_s = document.modified_s.value_or(0)});
    if (range.kind == Kind::kUnsatisfiable) {
      base::Error error{ErrorKind::kRangeNotSatisfiable,
                        fmt::format("\"{}\" has only {} bytes", name_, size)};
      error.fields.emplace_back("Content-Range", base::unsatisfied_range(size));
      return Result<Reply>(tl::unexpected(std::move(error)));
    }
    if (range_.is_head()) {
      reply.head_length_bytes = size;
      return Result<Reply>(std::move(reply));
    }
    if (!document.content) {
      auto content = content_of(connection, *table_, name_);
      if (!content) {
        return tl::unexpected(std::move(content.error()));
      }
      document.content = *std::move(content);
    }
    if (range.kind == Kind::kPartial) {
      reply.status = 206;
      reply.add("Content-Range", base::content_range(range, size));
      reply.body = document.content->substr(static_cast<std::size_t>(range.offset_bytes),
                                            static_cast<std::size_t>(range.length_bytes));
    } else {
      reply.body = *std::move(document.content);
    }
    return Result<Reply>(std::move(reply));
  }

  const std::shared_ptr<const DocumentTable> table_;
  const std::string name_;
  const base::Conditions conditions_;
  const RangeHeaders range_;
};

}  // namespace

Result<std::shared_ptr<ReadJob>> read_document(const Store& store, const ResourceRequest& request) {
  if (auto checked = check_name(request.name); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  auto conditions = base::Conditions::parse(request.head);
  if (!conditions) {
    return tl::unexpected(std::move(conditions.error()));
  }
  return std::make_shared<DocumentRead>(store.documents, request, *std::move(conditions));
}

}  // namespace fenceline::backends::sqlite
