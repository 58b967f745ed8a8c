#include "backends/s3/s3_upstream.h"

#include <string>
#include <utility>

#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/probe_calls.h"
#include "backends/s3/field_names.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_backend.h"
#include "backends/s3/signing.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Result;
using http::Received;

constexpr int kBadRequest = 400;
constexpr std::string_view kCustomerKey = "x-amz-server-side-encryption-customer-";

http::Outgoing head_request(const S3Upstream& upstream, const Place& place, std::string_view query,
                            const base::RequestHead* with_key_of) {
  http::Outgoing out{.method = "HEAD",
                     .target = place.target(query),
                     .fields = http::own_request_fields(upstream.options.http, place.host)};
  if (with_key_of != nullptr) {
    for (const base::Field& field : with_key_of->fields) {
      if (base::begins_with_name(field.name, kCustomerKey)) {
        out.fields.add_parsed(field.name, field.value);
      }
    }
  }
  sign_upstream(upstream.options, out, hash_of_nothing());
  return out;
}

bool has_customer_key(const base::RequestHead& head) {
  for (const base::Field& field : head.fields) {
    if (base::begins_with_name(field.name, kCustomerKey)) {
      return true;
    }
  }
  return false;
}

ObjectState state_of(const Received& received) {
  const auto value = [&received](std::string_view name) {
    return std::string(http::value_of(received.head, name));
  };
  return {.exists = true,
          .etag = value("ETag"),
          .version = value("x-amz-version-id"),
          .request_id = value(kRequestField),
          .last_modified = value("Last-Modified"),
          .tombstone = !value(kTombstoneField).empty()};
}

Awaitable<Result<Looked>> ask_for_head(SharedS3 upstream, base::TimerWheel& timers,
                                       http::Outgoing out) {
  auto received = co_await http::send_to(upstream->http, timers, out, std::nullopt, http::kNoBody,
                                         http::Resend::kIfUnanswered);
  if (!received) {
    co_return tl::unexpected<base::Error>(http::without_effect(std::move(received.error())));
  }
  Looked looked{.status = received->head.status};
  if (looked.status / 100 == 2) {
    looked.state = state_of(*received);
  }
  co_return looked;
}

}  // namespace

std::shared_ptr<const S3Standing> S3Upstream::standing() const {
  // The watch of an S3 upstream is only ever given an S3Standing.
  return std::static_pointer_cast<const S3Standing>(http->watch->standing());
}

Awaitable<Result<Looked>> look_at_place(SharedS3 upstream, base::TimerWheel& timers, Place place) {
  return look_at_version(std::move(upstream), timers, std::move(place), std::string());
}

Awaitable<Result<Looked>> look_at_version(SharedS3 upstream, base::TimerWheel& timers, Place place,
                                          std::string version) {
  auto out = head_request(*upstream, place, version, nullptr);
  return ask_for_head(std::move(upstream), timers, std::move(out));
}

Awaitable<Result<ObjectState>> look_at(SharedS3 upstream, ResourceRequest request) {
  const S3Request& s3 = *request.s3;
  const Place place =
      place_of(upstream->options, bucket_upstream(upstream->options, s3.bucket), s3.key);
  auto looked = co_await look_at_place(upstream, *request.timers, place);
  // An object that is encrypted with a key of the client shows itself only to that key.
  if (looked && looked->status == kBadRequest && has_customer_key(request.head)) {
    auto with_key = head_request(*upstream, place, {}, &request.head);
    looked = co_await ask_for_head(upstream, *request.timers, std::move(with_key));
  }
  if (!looked) {
    co_return base::pass_on(looked.error());
  }
  if (looked->status / 100 != 2 && !http::is_absent(looked->status)) {
    co_return tl::unexpected<base::Error>(
        http::step_failed("cannot see the state of the object with HEAD", looked->status));
  }
  co_return std::move(looked->state);
}

}  // namespace fenceline::backends::s3
