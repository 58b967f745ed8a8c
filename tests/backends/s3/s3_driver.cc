#include "tests/backends/s3/s3_driver.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace fenceline::testing {
namespace {

using base::Awaitable;
using base::Result;

const backends::s3::Operation* operation_named(const std::string& name) {
  for (const auto& operation : backends::s3::operations()) {
    if (operation.name == name) {
      return &operation;
    }
  }
  throw std::runtime_error("no operation " + name);
}

}  // namespace

Awaitable<Result<std::string_view>> CheckedBody::read() {
  auto piece = co_await source_.read();
  ended_ = ended_ || (piece && piece->empty());
  co_return piece;
}

std::optional<base::aws::Checksum> CheckedBody::checksum() const {
  return ended_ ? checksum_ : std::nullopt;
}

std::optional<base::aws::ChecksumKind> CheckedBody::trailer() const {
  return checksum_ ? std::optional(checksum_->kind) : std::nullopt;
}

S3Call with_trailer(S3Call call, std::optional<std::string> crc32) {
  base::aws::RunningChecksum running(base::aws::ChecksumKind::kCrc32);
  running.add(call.content);
  call.fields.insert(call.fields.end(),
                     {{"x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"},
                      {"x-amz-decoded-content-length", std::to_string(call.content.size())},
                      {"x-amz-sdk-checksum-algorithm", "CRC32"},
                      {"x-amz-trailer", "x-amz-checksum-crc32"}});
  std::ostringstream size;
  size << std::hex << call.content.size();
  call.content = size.str() + "\r\n" + call.content +
                 "\r\n0\r\nx-amz-checksum-crc32:" + crc32.value_or(running.value()) + "\r\n\r\n";
  call.wraps = true;
  return call;
}

S3InFlight::S3InFlight(S3Call call)
    : call_(std::move(call)),
      name_(call_.bucket + "/" + call_.key),
      raw_(in_pieces(call_.content), call_.declares, call_.end) {
  s3_.operation = operation_named(call_.operation);
  s3_.bucket = call_.bucket;
  s3_.key = call_.key;
  s3_.document = call_.document;
  s3_.named =
      backends::s3::parse_delete_document(call_.document).value_or(backends::s3::DeleteDocument());
  const bool has_body = !call_.content.empty() || !call_.declares || call_.end;
  head_.method_text = s3_.operation->method;
  head_.method = base::method_from(head_.method_text);
  head_.query = call_.query;
  if (has_body && call_.declares) {
    head_.content_length = call_.content.size();
  }
  for (const auto& [field, value] : call_.fields) {
    head_.fields.push_back({field, value});
  }
  if (call_.wraps) {
    auto opened =
        base::aws::open_body(head_, raw_, {.payload = base::aws::Payload::kUnsignedTrailer});
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    body_ = *std::move(opened);
  } else {
    body_ = std::make_unique<CheckedBody>(in_pieces(call_.content), call_.declares, call_.trailer,
                                          call_.end);
  }
  s3_.body = has_body ? body_.get() : nullptr;
}

backends::ResourceRequest S3InFlight::resource(base::TimerWheel* timers) const {
  return {.head = head_, .name = name_, .peer = "127.0.0.1:1", .timers = timers, .s3 = &s3_};
}

S3Staged::S3Staged(S3Driver& driver, std::unique_ptr<S3InFlight> request,
                   Result<std::unique_ptr<backends::StagedWrite>> write)
    : driver_(&driver), request_(std::move(request)), write_(std::move(write)) {}

S3Staged::~S3Staged() {
  if (write_ && *write_) {
    driver_->core().call([this] { write_->reset(); });
  }
}

Answer S3Staged::commit() {
  if (!write_) {
    Answer answer;
    answer.error = write_.error();
    return answer;
  }
  return driver_->whole(driver_->core().run((*write_)->commit()));
}

std::vector<Answer> S3Staged::commit_parts() {
  std::vector<Answer> answers;
  for (backends::StagedPart& part : parts()) {
    answers.push_back(driver_->whole(part.outcome ? *std::move(part.outcome)
                                                  : driver_->core().run(part.write->commit())));
  }
  return answers;
}

S3Driver::S3Driver(backends::s3::S3Options options) {
  auto opened = backends::s3::open_s3_backend(std::move(options));
  if (!opened) {
    throw std::runtime_error(opened.error().detail);
  }
  backend_ = *std::move(opened);
}

S3Driver::~S3Driver() = default;

Answer S3Driver::read(S3Call call) {
  S3InFlight request(std::move(call));
  return whole(core_.run(backend_->read(request.resource(&core_.timers()))));
}

S3Staged S3Driver::stage(S3Call call) {
  auto request = std::make_unique<S3InFlight>(std::move(call));
  base::Stamp stamp{.key = "k",
                    .token = base::Token::of(request->call().token),
                    .request_id = request->call().request_id};
  auto write =
      core_.run(backend_->stage(request->resource(&core_.timers()), request->body(), stamp));
  return {*this, std::move(request), std::move(write)};
}

Answer S3Driver::put(const std::string& key, const std::string& content, Fields fields,
                     std::int64_t token) {
  return write({.operation = "PutObject",
                .key = key,
                .fields = std::move(fields),
                .content = content,
                .token = token});
}

Answer S3Driver::get(const std::string& key, Fields fields) {
  return read({.operation = "GetObject", .key = key, .fields = std::move(fields)});
}

Answer S3Driver::head(const std::string& key, Fields fields) {
  return read({.operation = "HeadObject", .key = key, .fields = std::move(fields)});
}

Answer S3Driver::remove(const std::string& key, Fields fields) {
  return write({.operation = "DeleteObject", .key = key, .fields = std::move(fields)});
}

Result<backends::Revocation> S3Driver::revoke(const std::string& data) {
  return core_.run(backend_->revoke(data, core_.timers()));
}

Answer S3Driver::whole(Result<base::Reply> reply) { return whole_answer(core_, std::move(reply)); }

backends::OperationGuarantee S3Driver::guarantee_of(const std::string& operation) {
  const auto operations = backend_->capabilities().operations;
  const auto found =
      std::ranges::find(operations, operation, &backends::OperationGuarantee::operation);
  if (found == operations.end()) {
    throw std::runtime_error("nothing is said about " + operation);
  }
  return *found;
}

backends::s3::S3Options s3_options_for(std::uint16_t port) {
  backends::s3::S3Options options;
  options.http = options_for(port, backends::http::CommitMode::kPlain);
  options.http.probe = false;
  options.bucket = "store";
  return options;
}

}  // namespace fenceline::testing
