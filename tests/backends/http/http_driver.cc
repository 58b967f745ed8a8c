#include "tests/backends/http/http_driver.h"

#include <algorithm>
#include <stdexcept>
#include <variant>

namespace fenceline::testing {
namespace {

using base::Awaitable;
using base::Milliseconds;
using base::Result;

// Takes the answer apart on the core it belongs to.
Awaitable<Answer> collect(Result<base::Reply> reply) {
  Answer answer;
  if (!reply) {
    answer.error = reply.error();
    co_return answer;
  }
  answer.status = reply->status;
  answer.fields = reply->fields.list();
  answer.head_length_bytes = reply->head_length_bytes;
  if (auto* text = std::get_if<std::string>(&reply->body)) {
    answer.content = std::move(*text);
  }
  auto* source = std::get_if<std::unique_ptr<base::BodySource>>(&reply->body);
  while (source != nullptr) {
    auto piece = co_await (*source)->read();
    if (!piece) {
      answer.error = piece.error();
      co_return answer;
    }
    if (piece->empty()) {
      break;
    }
    answer.content.append(*piece);
  }
  co_return answer;
}

}  // namespace

HttpRequest::HttpRequest(std::string method, std::string name, Fields fields, std::string query)
    : method_(std::move(method)),
      name_(std::move(name)),
      fields_(std::move(fields)),
      query_(std::move(query)) {
  if (name_.ends_with('/')) {
    names_directory_ = true;
    name_.pop_back();
  }
  head_.method = base::method_from(method_);
  head_.method_text = method_;
  head_.query = query_;
  for (const auto& [field, value] : fields_) {
    head_.fields.push_back({field, value});
  }
}

backends::ResourceRequest HttpRequest::resource(base::TimerWheel& timers) const {
  return {.head = head_,
          .name = name_,
          .names_directory = names_directory_,
          .peer = "127.0.0.1:1",
          .fence_covers_below = covers_below_,
          .timers = &timers};
}

std::optional<std::uint64_t> PieceSource::declared_bytes() const {
  if (!declares_) {
    return std::nullopt;
  }
  std::uint64_t bytes = 0;
  for (const std::string& piece : pieces_) {
    bytes += piece.size();
  }
  return bytes;
}

Awaitable<Result<std::string_view>> PieceSource::read() {
  using Piece = Awaitable<Result<std::string_view>>;
  if (next_ < pieces_.size()) {
    return Piece::ready(std::string_view(pieces_[next_++]));
  }
  return end_ ? Piece::ready(tl::unexpected(*end_)) : Piece::ready(std::string_view());
}

std::vector<std::string> in_pieces(const std::string& content) {
  constexpr std::size_t kPiece = 65'536;
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < content.size(); at += kPiece) {
    pieces.push_back(content.substr(at, kPiece));
  }
  return pieces;
}

HttpStaged::HttpStaged(HttpDriver& driver, std::unique_ptr<HttpRequest> request,
                       Result<std::unique_ptr<backends::StagedWrite>> write)
    : driver_(&driver), request_(std::move(request)), write_(std::move(write)) {}

HttpStaged::~HttpStaged() { drop(); }

void HttpStaged::drop() {
  if (write_ && *write_) {
    driver_->core().call([this] { write_->reset(); });
  }
}

Answer HttpStaged::commit() {
  if (!write_) {
    Answer answer;
    answer.error = write_.error();
    return answer;
  }
  return driver_->whole(driver_->core().run((*write_)->commit()));
}

HttpDriver::HttpDriver(backends::http::HttpOptions options) {
  auto opened = backends::http::open_http_backend(std::move(options));
  if (!opened) {
    throw std::runtime_error(opened.error().detail);
  }
  backend_ = *std::move(opened);
}

HttpDriver::~HttpDriver() = default;

HttpStaged HttpDriver::stage(const std::string& method, const std::string& name,
                             const std::string& content, Fields fields, std::int64_t token) {
  auto request = std::make_unique<HttpRequest>(method, name, std::move(fields));
  PieceSource body(in_pieces(content), true);
  if (!content.empty()) {
    request->head().content_length = content.size();
  }
  return stage_source(std::move(request), body, token);
}

HttpStaged HttpDriver::stage_source(std::unique_ptr<HttpRequest> request, base::BodySource& body,
                                    std::int64_t token) {
  base::Stamp stamp{.key = "k", .token = base::Token::of(token), .request_id = "r"};
  auto write = core_.run(backend_->stage(request->resource(core_.timers()), body, stamp));
  return {*this, std::move(request), std::move(write)};
}

Answer HttpDriver::put(const std::string& name, const std::string& content, Fields fields,
                       std::int64_t token) {
  return stage("PUT", name, content, std::move(fields), token).commit();
}

Answer HttpDriver::remove(const std::string& name, Fields fields) {
  return stage("DELETE", name, {}, std::move(fields)).commit();
}

Answer HttpDriver::get(const std::string& name, Fields fields, const std::string& query) {
  HttpRequest request("GET", name, std::move(fields), query);
  return read(request);
}

Answer HttpDriver::read(HttpRequest& request, base::BodySource* body) {
  backends::ResourceRequest resource = request.resource(core_.timers());
  resource.body = body;
  return whole(core_.run(backend_->read(resource)));
}

Result<backends::Revocation> HttpDriver::revoke(const std::string& data) {
  return core_.run(backend_->revoke(data, core_.timers()));
}

Answer HttpDriver::whole(Result<base::Reply> reply) {
  return whole_answer(core_, std::move(reply));
}

Answer whole_answer(TestCore& core, Result<base::Reply> reply) {
  return core.run(collect(std::move(reply)));
}

backends::http::HttpOptions options_for(std::uint16_t port, backends::http::CommitMode commit) {
  backends::http::HttpOptions options;
  options.client.host = "127.0.0.1";
  options.client.port = port;
  options.client.connect = Milliseconds(5'000);
  options.client.first_byte = Milliseconds(10'000);
  options.client.idle = Milliseconds(10'000);
  options.commit = commit;
  options.probe_again = Milliseconds(50);
  return options;
}

}  // namespace fenceline::testing
