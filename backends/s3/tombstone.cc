#include "backends/s3/tombstone.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <variant>

#include "backends/http/forwarded_fields.h"
#include "backends/s3/field_names.h"
#include "backends/s3/intents.h"
#include "backends/s3/place.h"
#include "backends/s3/request_head.h"
#include "backends/s3/s3_backend.h"
#include "base/digits.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;

constexpr std::string_view kCopySource = "x-amz-copy-source";
constexpr std::string_view kBeginning = "fenceline-tombstone ";
constexpr std::size_t kNonceDigits = 32;
// Who pays, and whose bucket it has to be.
constexpr std::array<std::string_view, 2> kTakenOver = {"x-amz-expected-bucket-owner",
                                                        "x-amz-request-payer"};

// An object in one of its versions.
struct Named {
  Place place;
  std::string version;  ///< `versionId=…`, or empty.
};

Result<Named> named_by(const S3Upstream& upstream, const ResourceRequest& request) {
  const S3Request& s3 = *request.s3;
  auto query = query_upstream(request.head.query);
  if (!query) {
    return base::pass_on(query.error());
  }
  return Named{
      .place = place_of(upstream.options, bucket_upstream(upstream.options, s3.bucket), s3.key),
      .version = version_in(*query)};
}

Result<Named> named_as_source(const S3Upstream& upstream, const ResourceRequest& request,
                              std::string_view source) {
  auto text = copy_source_upstream(upstream.options, *request.s3, source);
  if (!text) {
    return base::pass_on(text.error());
  }
  // A question mark of the key is encoded.
  const std::size_t end = std::min(text->find('?'), text->size());
  return Named{.place = place_of_target(upstream.options, text->substr(0, end)),
               .version = text->substr(std::min(end + 1, text->size()))};
}

// It makes nothing that was not there.
bool changes_only_what_is_there(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "PutObjectAcl",     "PutObjectAppend",     "PutObjectLegalHold",    "PutObjectRetention",
      "PutObjectTagging", "DeleteObjectTagging", "UpdateObjectEncryption"};
  return std::ranges::find(kNames, name) != kNames.end();
}

Awaitable<Result<Needed>> look_at_named(SharedS3 upstream, base::TimerWheel& timers, Named named,
                                        bool is_source) {
  auto looked = co_await look_at_version(std::move(upstream), timers, std::move(named.place),
                                         std::move(named.version));
  if (!looked) {
    co_return base::pass_on(looked.error());
  }
  if (looked->state.tombstone) {
    co_return tl::unexpected<base::Error>(no_such_key());
  }
  Needed needed;
  if (is_source) {
    needed.source_etag = std::move(looked->state.etag);
  }
  co_return needed;
}

// A definite answer, so no error: that would leave the write in doubt.
Reply tombstone_was_copied() {
  Reply reply;
  reply.status = 500;
  reply.add("Content-Type", "application/xml");
  reply.body = std::string(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InternalError</Code><Message>The "
      "source was deleted while it was copied, and the upstream copied what stands for a deleted "
      "object. Write the target again.</Message></Error>");
  return reply;
}

Awaitable<Result<Reply>> compare_with_source(SharedS3 upstream, base::TimerWheel& timers,
                                             Named source, Reply reply) {
  auto looked = co_await look_at_version(std::move(upstream), timers, std::move(source.place),
                                         std::move(source.version));
  // The result has the tag of the copy, which is that of the content.
  const auto* const result = std::get_if<std::string>(&reply.body);
  if (looked && looked->state.tombstone && result != nullptr &&
      result->find(bare_tag(looked->state.etag)) != std::string::npos) {
    co_return tombstone_was_copied();
  }
  co_return reply;
}

}  // namespace

std::string new_tombstone() {
  std::random_device entropy;
  std::string content(kBeginning);
  for (std::size_t digits = 0; digits < kNonceDigits; digits += 8) {
    base::append_hex(content, entropy(), 8);
  }
  return content += '\n';
}

http::Outgoing tombstone_head(const S3Options& options, const ResourceRequest& request,
                              const base::Stamp& stamp, std::string_view if_match) {
  const S3Request& s3 = *request.s3;
  const Place place = place_of(options, bucket_upstream(options, s3.bucket), s3.key);
  http::Outgoing out{.method = "PUT",
                     .target = place.target({}),
                     .fields = http::own_request_fields(options.http, place.host)};
  for (const std::string_view name : kTakenOver) {
    if (const auto value = request.head.only(name)) {
      out.fields.add_named(name, *value);
    }
  }
  out.fields.add("Content-Type", "text/plain");
  if (!if_match.empty()) {  // Where nothing is, nothing is sent; the head is made all the same.
    out.fields.add("If-Match", if_match);
  }
  out.fields.add_named(kTombstoneField, "1");
  if (stamp.token.exists()) {
    out.fields.add_named(kTokenField, stamp.token.text());
  }
  out.fields.add_named(kRequestField, stamp.request_id);
  return out;
}

bool shows_tombstone(const base::net::ResponseHead& head) {
  return !http::value_of(head, kTombstoneField).empty();
}

bool may_show_less(const S3Options& options, const ResourceRequest& request, int status) {
  constexpr std::array<int, 4> kStatuses = {304, 400, 412, 416};
  const std::string_view name = request.s3->operation->name;
  return options.deletes == Deletes::kTombstone && (name == "GetObject" || name == "HeadObject") &&
         std::ranges::find(kStatuses, status) != kStatuses.end();
}

bool reads_beside(const S3Options& options, const ResourceRequest& request) {
  const Operation& operation = *request.s3->operation;
  return options.deletes == Deletes::kTombstone && operation.keys == Keys::kObject &&
         operation.effect == Effect::kRead && operation.name != "GetObject" &&
         operation.name != "HeadObject" && operation.name != "ListParts";
}

Awaitable<Result<void>> check_for_tombstone(SharedS3 upstream, ResourceRequest request) {
  auto named = named_by(*upstream, request);
  if (!named) {
    co_return base::pass_on(named.error());
  }
  auto looked = co_await look_at_version(std::move(upstream), *request.timers,
                                         std::move(named->place), std::move(named->version));
  if (!looked) {
    co_return base::pass_on(looked.error());
  }
  if (looked->state.tombstone) {
    co_return tl::unexpected<base::Error>(no_such_key());
  }
  co_return Result<void>();
}

base::Error no_such_key() {
  return {
      .kind = base::ErrorKind::kNotFound, .detail = "there is no such object", .code = "NoSuchKey"};
}

Awaitable<Result<Needed>> look_at_needed(SharedS3 upstream, ResourceRequest request) {
  const auto source = request.head.only(kCopySource);
  const bool has_to_be_there = changes_only_what_is_there(request.s3->operation->name);
  if (upstream->options.deletes != Deletes::kTombstone || (!source && !has_to_be_there)) {
    return Awaitable<Result<Needed>>::ready(Needed());
  }
  auto named = source ? named_as_source(*upstream, request, *source) : named_by(*upstream, request);
  if (!named) {
    return Awaitable<Result<Needed>>::ready(base::pass_on(named.error()));
  }
  return look_at_named(std::move(upstream), *request.timers, *std::move(named), source.has_value());
}

Awaitable<Result<Reply>> check_what_was_copied(SharedS3 upstream, ResourceRequest request,
                                               Reply reply) {
  const auto source = request.head.only(kCopySource);
  auto named = named_as_source(*upstream, request, source.value_or(std::string_view()));
  if (!named) {
    return Awaitable<Result<Reply>>::ready(std::move(reply));
  }
  return compare_with_source(std::move(upstream), *request.timers, *std::move(named),
                             std::move(reply));
}

}  // namespace fenceline::backends::s3
