#include "backends/s3/s3_probe_calls.h"

#include <fmt/format.h>

#include "backends/http/forwarded_fields.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_answers.h"
#include "backends/s3/signing.h"
#include "backends/s3/trailed_body.h"
#include "base/aws/checksum.h"
#include "base/aws/sigv4.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using http::Answered;

std::string between(std::string_view text, std::string_view start, std::string_view end) {
  const std::size_t from = text.find(start);
  if (from == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(from + start.size());
  return std::string(text.substr(0, text.find(end)));
}

}  // namespace

S3ProbeCalls::S3ProbeCalls(base::net::HttpClient& client, base::TimerWheel& timers,
                           const S3Options& options)
    : client_(client),
      timers_(timers),
      options_(options),
      bucket_(options.bucket.empty() ? options.probe_bucket : options.bucket) {}

std::string S3ProbeCalls::fresh() {
  std::string key(kReservedKeyPrefix);
  key.append("probe-").append(names_.next().view());
  keys_.push_back(key);
  return key;
}

void S3ProbeCalls::add(Call& call, Condition condition) {
  if (!condition.field.empty()) {
    // What has a condition may be sent once.
    call.resend = http::Resend::kIfUnsent;
    call.fields.emplace_back(std::move(condition.field), std::move(condition.value));
  }
}

void S3ProbeCalls::put_into_frames(Call& call, std::string_view coding) {
  const base::aws::AwsChunkedFrames frames(call.content.size(), base::aws::ChecksumKind::kCrc32);
  for (auto& field : trailed_fields(coding, frames)) {
    call.fields.push_back(std::move(field));
  }
  base::aws::RunningChecksum checksum(frames.trailer());
  checksum.add(call.content);
  std::string body;
  for (std::size_t at = 0; at < call.content.size();
       at += base::aws::AwsChunkedFrames::kChunkBytes) {
    body.append(frames.before(at));
    body.append(call.content, at, base::aws::AwsChunkedFrames::kChunkBytes);
  }
  call.content = body.append(frames.end(checksum.value()));
  call.payload_hash = base::aws::kStreamingUnsignedTrailer;
}

Awaitable<Answered> S3ProbeCalls::put(std::string key, std::string content, Condition condition) {
  Call put{.method = "PUT", .key = std::move(key), .content = std::move(content)};
  add(put, std::move(condition));
  return call(std::move(put));
}

Awaitable<Answered> S3ProbeCalls::put_trailed(std::string key, std::string content,
                                              std::string_view coding, Condition condition) {
  Call put{.method = "PUT", .key = std::move(key), .content = std::move(content)};
  put_into_frames(put, coding);
  add(put, std::move(condition));
  return call(std::move(put));
}

Awaitable<Answered> S3ProbeCalls::get(std::string key) {
  return call({.method = "GET", .key = std::move(key)});
}

Awaitable<Answered> S3ProbeCalls::remove(std::string key, Condition condition) {
  Call remove{.method = "DELETE", .key = std::move(key)};
  add(remove, std::move(condition));
  return call(std::move(remove));
}

Awaitable<Answered> S3ProbeCalls::copy(std::string from, std::string to, Condition condition) {
  Call copy{.method = "PUT", .key = std::move(to)};
  copy.fields.emplace_back("x-amz-copy-source", "/" + bucket_ + "/" + from);
  add(copy, std::move(condition));
  return call(std::move(copy));
}

Awaitable<S3ProbeCalls::Upload> S3ProbeCalls::begin_upload(std::string key, std::string content,
                                                           bool trailed) {
  Upload upload{.key = key};
  Call create{.method = "POST", .key = key, .query = "uploads"};
  auto created = co_await call(std::move(create));
  upload.id = between(created.body, "<UploadId>", "</UploadId>");
  if (!created.succeeded() || upload.id.empty()) {
    upload.id.clear();
    co_return upload;
  }
  uploads_.push_back(upload);
  const auto query = query_upstream(fmt::format("partNumber=1&uploadId={}", upload.id));
  Call part{.method = "PUT", .key = key, .query = *query, .content = std::move(content)};
  if (trailed) {
    put_into_frames(part, "");
  }
  auto sent = co_await call(std::move(part));
  upload.part_tag = sent.etag;
  co_return upload;
}

Awaitable<Answered> S3ProbeCalls::complete(Upload upload, Condition condition) {
  Call complete{.method = "POST",
                .key = std::move(upload.key),
                .query = query_upstream("uploadId=" + upload.id).value_or(""),
                .content = fmt::format("<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>"
                                       "<ETag>{}</ETag></Part></CompleteMultipartUpload>",
                                       upload.part_tag)};
  complete.resend = http::Resend::kIfUnsent;
  add(complete, std::move(condition));
  return call(std::move(complete));
}

Awaitable<Answered> S3ProbeCalls::abort(Upload upload) {
  return call({.method = "DELETE",
               .key = std::move(upload.key),
               .query = query_upstream("uploadId=" + upload.id).value_or("")});
}

Awaitable<Answered> S3ProbeCalls::greet() { return call({.method = "HEAD"}); }

Awaitable<void> S3ProbeCalls::clean() {
  error_.reset();
  for (Upload& upload : uploads_) {
    co_await abort(std::move(upload));
  }
  for (std::string& key : keys_) {
    Condition none;
    co_await remove(std::move(key), std::move(none));
  }
  uploads_.clear();
  keys_.clear();
}

http::Outgoing S3ProbeCalls::signed_request(const Call& call) const {
  const Place place = place_of(options_, bucket_, call.key);
  http::Outgoing out{.method = call.method,
                     .target = place.target(call.query),
                     .fields = http::own_request_fields(options_.http, place.host)};
  for (const auto& [name, value] : call.fields) {
    out.fields.add_named(name, value);
  }
  std::string hash(call.payload_hash);
  if (hash.empty()) {
    hash = call.content.empty() ? hash_of_nothing() : base::aws::sha256_hex(call.content);
  }
  sign_upstream(options_, out, hash);
  return out;
}

Awaitable<Answered> S3ProbeCalls::call(Call call) {
  if (error_) {
    co_return Answered();
  }
  const bool has_body = call.method == "PUT" || call.method == "POST";
  http::Outgoing out = signed_request(call);
  auto answered = co_await http::ask(client_, timers_, std::move(out), std::move(call.content),
                                     has_body, call.resend);
  if (!answered) {
    if (!error_) {
      error_ = std::move(answered.error());
    }
    co_return Answered();
  }
  co_return std::move(*answered);
}

bool really_succeeded(const Answered& answered) {
  return answered.succeeded() && answered.body.find("<Error>") == std::string::npos;
}

}  // namespace fenceline::backends::s3
