#include "tests/support/backend_driver.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>
#include <variant>

namespace fenceline::testing {
namespace {

std::string read_slice(const base::FileSlice& slice) {
  std::string content(slice.length_bytes, '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t bytes = ::pread(slice.fd.get(), content.data() + done, content.size() - done,
                                  static_cast<off_t>(slice.offset_bytes + done));
    if (bytes <= 0) {
      // Not thrown: on a thread of a test that would end the whole program.
      ADD_FAILURE() << "the file of an answer ended early";
      content.resize(done);
      return content;
    }
    done += static_cast<std::size_t>(bytes);
  }
  return content;
}

std::string_view text_of(base::Method method) {
  switch (method) {
    case base::Method::kGet:
      return "GET";
    case base::Method::kHead:
      return "HEAD";
    case base::Method::kPut:
      return "PUT";
    case base::Method::kDelete:
      return "DELETE";
    case base::Method::kPost:
      return "POST";
    case base::Method::kOptions:
      return "OPTIONS";
    case base::Method::kPatch:
      return "PATCH";
    case base::Method::kOther:
      break;
  }
  return "OTHER";
}

std::string read_source(base::BodySource& source) {
  std::string content;
  for (;;) {
    const auto piece = run(source.read());
    if (!piece) {
      throw std::runtime_error(piece.error().detail);
    }
    if (piece->empty()) {
      return content;
    }
    content.append(*piece);
  }
}

}  // namespace

base::Awaitable<base::Result<std::string_view>> PiecesBody::read() {
  if (next_ < pieces_.size()) {
    co_return std::string_view(pieces_[next_++]);
  }
  if (end_) {
    co_return tl::unexpected(*end_);
  }
  co_return std::string_view();
}

Request::Request(base::Method method, std::string name, std::vector<base::OwnedField> fields,
                 std::string query)
    : name_(std::move(name)), fields_(std::move(fields)), query_(std::move(query)) {
  if (name_.ends_with('/')) {
    names_directory_ = true;
    name_.pop_back();
  }
  head_.method = method;
  head_.method_text = text_of(method);
  head_.query = query_;
  for (const auto& [field, value] : fields_) {
    head_.fields.push_back({field, value});
  }
}

std::string Answer::field(std::string_view name) const {
  std::string found;
  for (const auto& [field, value] : fields) {
    if (base::equal_names(field, name)) {
      if (!found.empty()) {
        throw std::runtime_error("field given twice: " + field);
      }
      found = value;
    }
  }
  return found;
}

std::string Answer::error_name() const {
  return error ? std::string(base::name_of(error->kind)) : std::string();
}

Answer answer_of(base::Result<base::Reply> reply) {
  Answer answer;
  if (!reply) {
    answer.error = reply.error();
    answer.fields = reply.error().fields;
    return answer;
  }
  answer.status = reply->status;
  answer.fields = reply->fields.list();
  answer.head_length_bytes = reply->head_length_bytes;
  if (auto* text = std::get_if<std::string>(&reply->body)) {
    answer.content = std::move(*text);
  } else if (auto* slice = std::get_if<base::FileSlice>(&reply->body)) {
    answer.content = read_slice(*slice);
  } else if (auto* source = std::get_if<std::unique_ptr<base::BodySource>>(&reply->body)) {
    answer.content = read_source(**source);
  }
  return answer;
}

Answer Staged::commit() {
  if (!write) {
    return answer_of(tl::unexpected(write.error()));
  }
  return answer_of(run((*write)->commit()));
}

Staged stage_put(backends::Backend& backend, const std::string& name, std::string content,
                 Fields fields, base::Stamp stamp) {
  auto request = std::make_unique<Request>(base::Method::kPut, name, std::move(fields));
  std::vector<std::string> pieces;
  if (!content.empty()) {
    pieces.push_back(std::move(content));
  }
  PiecesBody body(std::move(pieces));
  auto write = run(backend.stage(request->resource(), body, std::move(stamp)));
  return {std::move(request), std::move(write)};
}

Staged stage_delete(backends::Backend& backend, const std::string& name, Fields fields) {
  auto request = std::make_unique<Request>(base::Method::kDelete, name, std::move(fields));
  PiecesBody body({});
  auto write = run(backend.stage(request->resource(), body, {}));
  return {std::move(request), std::move(write)};
}

Answer put(backends::Backend& backend, const std::string& name, std::string content, Fields fields,
           base::Stamp stamp) {
  return stage_put(backend, name, std::move(content), std::move(fields), std::move(stamp)).commit();
}

Answer remove(backends::Backend& backend, const std::string& name, Fields fields) {
  return stage_delete(backend, name, std::move(fields)).commit();
}

Answer get(backends::Backend& backend, const std::string& name, Fields fields, std::string query) {
  const Request request(base::Method::kGet, name, std::move(fields), std::move(query));
  return answer_of(run(backend.read(request.resource())));
}

Answer head(backends::Backend& backend, const std::string& name, Fields fields, std::string query) {
  const Request request(base::Method::kHead, name, std::move(fields), std::move(query));
  return answer_of(run(backend.read(request.resource())));
}

}  // namespace fenceline::testing
