#include "proxy/s3_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/s3/field_names.h"
#include "backends/s3/object_name.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Effect;
using backends::s3::Level;
using base::ErrorKind;
using base::pass_on;
using base::Result;

constexpr std::string_view kSessionField = "X-Amz-Security-Token";
constexpr std::string_view kSessionPrefix = "fence-";

tl::unexpected<base::Error> refuse(ErrorKind kind, std::string_view code, std::string detail) {
  auto refusal = base::fail(kind, std::move(detail));
  refusal.value().code = code;
  return refusal;
}

}  // namespace

class S3Front::Keys final : public base::aws::KeyTable {
 public:
  explicit Keys(const std::vector<S3Client>& clients) : clients_(clients) {}

  [[nodiscard]] std::optional<std::string_view> secret_of(
      std::string_view access_key) const override {
    const S3Client* client = find(access_key);
    return client == nullptr ? std::nullopt : std::optional<std::string_view>(client->secret_key);
  }

  [[nodiscard]] const S3Client* find(std::string_view access_key) const {
    const auto found = std::ranges::find(clients_, access_key, &S3Client::access_key);
    return found == clients_.end() ? nullptr : &*found;
  }

 private:
  const std::vector<S3Client>& clients_;
};

S3Front::S3Front(S3Paths paths, S3FrontOptions options)
    : paths_(std::move(paths)),
      options_(std::move(options)),
      keys_(std::make_unique<Keys>(options_.clients)) {}

S3Front::~S3Front() = default;

Result<void> S3Front::arrive(const base::RequestHead& head, S3Place place, base::BodySource& raw,
                             S3Exchange& into) const {
  if (auto named = backends::s3::check_field_names(head); !named) {
    return named;
  }
  auto verified = base::aws::verify(head, *keys_, options_.must_sign, options_.now());
  if (!verified) {
    return pass_on(verified.error());
  }
  into.verified = std::move(*verified);
  if (!into.verified && !options_.anonymous) {
    return refuse(ErrorKind::kForbidden, "AccessDenied",
                  "The request is not signed. Sign it with an access key that the route lists "
                  "(s3.clients), by Signature Version 4.");
  }
  auto operation = backends::s3::classify(head, place.level);
  if (!operation) {
    return pass_on(operation.error());
  }
  into.request.operation = *operation;
  into.request.bucket = std::move(place.bucket);
  if (auto allowed = check_access(into); !allowed) {
    return allowed;
  }
  if (place.level == Level::kObject) {
    auto key = backends::s3::decode_key(place.raw_key);
    if (!key) {
      return pass_on(key.error());
    }
    into.request.key = std::move(*key);
  }
  base::aws::BodyOptions options;
  // Its checksums speak of the object, not of the list of parts that is the body.
  options.fields_are_of_body = (*operation)->name != "CompleteMultipartUpload";
  if (into.verified) {
    options.payload = into.verified->payload;
    options.verified = &*into.verified;
  } else if (auto payload = base::aws::payload_of(head)) {
    options.payload = *payload;
  } else {
    return pass_on(payload.error());
  }
  auto body = base::aws::open_body(head, raw, options);
  if (!body) {
    return pass_on(body.error());
  }
  into.body = std::move(*body);
  into.request.body = into.body.get();
  return {};
}

Result<void> S3Front::check_access(const S3Exchange& exchange) const {
  const backends::s3::Operation& operation = *exchange.request.operation;
  if (!operation.refused.empty()) {
    return refuse(ErrorKind::kMethodUnknown, "NotImplemented",
                  fmt::format("{} is not taken here: {}", operation.name, operation.refused));
  }
  if (exchange.verified && operation.effect != Effect::kRead &&
      !keys_->find(exchange.verified->access_key)->may_write) {
    return refuse(ErrorKind::kForbidden, "AccessDenied",
                  fmt::format("This access key may only read, and {} writes. Use another key, or "
                              "give this one `access: write`.",
                              operation.name));
  }
  if (options_.fenced && operation.name == "DeleteBucket") {
    return refuse(ErrorKind::kForbidden, "AccessDenied",
                  "A bucket cannot be removed through a fenced route, because no fence key stands "
                  "for all of its objects. Remove it at the upstream.");
  }
  return {};
}

Result<std::optional<base::Token>> s3_token(std::optional<base::Token> from_field,
                                            const base::RequestHead& head,
                                            const S3Exchange& exchange) {
  const std::string_view session = exchange.verified
                                       ? std::string_view(exchange.verified->session_token)
                                       : head.only(kSessionField).value_or(std::string_view());
  if (head.count(kSessionField) > 1) {
    return refuse(ErrorKind::kMalformedToken, "InvalidToken",
                  "The request has more than one X-Amz-Security-Token. Send it once.");
  }
  if (session.empty()) {
    return from_field;
  }
  if (!session.starts_with(kSessionPrefix)) {
    return refuse(ErrorKind::kMalformedToken, "InvalidToken",
                  "The session token is not the fencing token. Send it as fence-<token>, such as "
                  "AWS_SESSION_TOKEN=fence-34.");
  }
  auto token = base::Token::parse(session.substr(kSessionPrefix.size()));
  if (!token) {
    token.error().code = "InvalidToken";
    return pass_on(token.error());
  }
  if (from_field && *from_field != *token) {
    return refuse(ErrorKind::kMalformedToken, "InvalidToken",
                  fmt::format("The field says token {} and the session token says {}. Send one.",
                              from_field->text(), token->text()));
  }
  return std::optional(*token);
}

}  // namespace fenceline::proxy
