#include "backends/s3/request_head.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/http/forwarded_fields.h"
#include "backends/s3/digests.h"
#include "backends/s3/field_names.h"
#include "backends/s3/query.h"
#include "backends/s3/trailed_body.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::FieldLines;
using base::RequestHead;
using base::Result;

constexpr std::string_view kCopySource = "x-amz-copy-source";
constexpr std::string_view kCopySourceIfMatch = "x-amz-copy-source-if-match";
constexpr std::string_view kChecksum = "x-amz-checksum-";
constexpr std::string_view kSdkChecksum = "x-amz-sdk-checksum-algorithm";

// Who the client was, how its body was wrapped and signed, what it says about its own attempts, and
// what is added anew below.
constexpr base::NameSet<12> kNotForwarded = {
    {"Authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token",
     "x-amz-decoded-content-length", "x-amz-trailer", "amz-sdk-invocation-id", "amz-sdk-request",
     "Content-Encoding", "x-amz-copy-source", "x-amz-sdk-checksum-algorithm", "Expect"}};

bool leaves_out(std::string_view name) { return kNotForwarded.contains(name) || is_stamp(name); }

bool leaves_out_conditions(std::string_view name) {
  return leaves_out(name) || base::equal_names(name, "If-Match") ||
         base::equal_names(name, "If-None-Match");
}

// Of a document that is written anew what was said about the client's bytes says nothing.
bool leaves_out_digests(std::string_view name) {
  return leaves_out(name) || base::equal_names(name, "Content-MD5") ||
         base::begins_with_name(name, kChecksum);
}

using LeavesOut = bool (*)(std::string_view);

LeavesOut rule_for(const S3Request& request, const HeadParts& parts) {
  if (!request.document.empty()) {
    return &leaves_out_digests;
  }
  return parts.takes_conditions ? &leaves_out : &leaves_out_conditions;
}

bool has_checksum(const RequestHead& head) {
  return std::ranges::any_of(head.fields, [](const base::Field& field) {
    return base::begins_with_name(field.name, kChecksum);
  });
}

Result<void> add_copy_source(const S3Options& options, const ResourceRequest& request,
                             std::string_view if_match, FieldLines& fields) {
  const auto source = request.head.only(kCopySource);
  if (!source) {
    return {};
  }
  auto ours = copy_source_upstream(options, *request.s3, *source);
  if (!ours) {
    return base::pass_on(ours.error());
  }
  fields.add("x-amz-copy-source", *ours);
  if (!if_match.empty() && !has_source_condition(request.head)) {
    fields.add("x-amz-copy-source-if-match", if_match);
  }
  return {};
}

// Of a body that is held the trailer has been read by now.
void add_checksum(const ResourceRequest& request, bool comes_behind, FieldLines& fields) {
  bool sends_one = comes_behind || has_checksum(request.head);
  const auto* body = request.s3->body;
  const auto found = body != nullptr ? body->checksum() : std::nullopt;
  if (found && !request.head.joined(base::aws::field_of(found->kind))) {
    fields.add_named(base::aws::field_of(found->kind), found->value);
    sends_one = true;
  }
  // S3 refuses the name of an algorithm without its value.
  const auto algorithm = request.head.only(kSdkChecksum);
  if (algorithm && sends_one) {
    fields.add_parsed(kSdkChecksum, *algorithm);
  }
}

// What a presigner moved into the query is a field again: signed anew, S3 reads it only there.
Result<void> add_moved_fields(std::string_view query, FieldLines& fields) {
  auto parameters = read_query(query);
  if (!parameters) {
    return base::pass_on(parameters.error());
  }
  for (const Parameter& one : *parameters) {
    if (one.use == QueryUse::kField) {
      std::string name = one.name;
      std::ranges::transform(name, name.begin(), base::ascii_lower);
      fields.add_named(name, one.value);
    }
  }
  if (!fields.valid()) {
    auto refusal = base::fail(base::ErrorKind::kMalformedRequest,
                              "a parameter of the query that stands for a field has a control "
                              "character; leave it out");
    refusal.value().code = "InvalidArgument";
    return refusal;
  }
  return {};
}

}  // namespace

bool has_source_condition(const RequestHead& head) {
  // Beside an If-Match that holds S3 does not look at a date.
  return head.count(kCopySourceIfMatch) > 0 ||
         head.count("x-amz-copy-source-if-unmodified-since") > 0;
}

bool sets_metadata(const ResourceRequest& request) {
  const std::string_view name = request.s3->operation->name;
  if (name == "CopyObject") {
    const auto directive = request.head.only("x-amz-metadata-directive");
    return directive && base::equal_names(*directive, "REPLACE");
  }
  return name == "PutObject" || name == "CreateMultipartUpload";
}

std::string content_encoding_upstream(std::string_view value) {
  std::string kept;
  while (!value.empty()) {
    const std::string_view one = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), one.size() + 1));
    const std::string_view coding = base::trim_blanks(one);
    if (!coding.empty() && !base::equal_names(coding, "aws-chunked")) {
      kept.append(kept.empty() ? "" : ",").append(coding);
    }
  }
  return kept;
}

Result<http::Outgoing> head_upstream(const S3Options& options, const ResourceRequest& request,
                                     const HeadParts& parts) {
  const S3Request& s3 = *request.s3;
  auto query = query_upstream(request.head.query);
  if (!query) {
    return base::pass_on(query.error());
  }
  const Place place = place_of(options, bucket_upstream(options, s3.bucket), s3.key);
  auto fields = http::fields_upstream(
      options.http, request,
      {.host = place.host, .only_plain_names = false, .leaves_out = rule_for(s3, parts)});
  if (!fields) {
    return base::pass_on(fields.error());
  }
  const auto encoding = request.head.joined("Content-Encoding");
  const std::string kept = encoding ? content_encoding_upstream(*encoding) : std::string();
  if (parts.frames) {
    for (const auto& [name, value] : trailed_fields(kept, *parts.frames)) {
      fields->add_named(name, value);
    }
  } else if (!kept.empty()) {
    fields->add("Content-Encoding", kept);
  }
  if (auto copied = add_copy_source(options, request, parts.copy_source_if_match, *fields);
      !copied) {
    return base::pass_on(copied.error());
  }
  if (auto moved = add_moved_fields(request.head.query, *fields); !moved) {
    return base::pass_on(moved.error());
  }
  if (s3.document.empty()) {
    add_checksum(request, parts.frames.has_value(), *fields);
  } else {
    fields->add("Content-MD5", md5_base64(s3.document));
  }
  if (!parts.if_match.empty()) {
    fields->add("If-Match", parts.if_match);
  }
  if (!parts.if_none_match.empty()) {
    fields->add("If-None-Match", parts.if_none_match);
  }
  if (parts.stamp != nullptr && sets_metadata(request)) {
    if (parts.stamp->token.exists()) {
      fields->add_named(kTokenField, parts.stamp->token.text());
    }
    fields->add_named(kRequestField, parts.stamp->request_id);
  }
  return http::Outgoing{.method = std::string(request.head.method_text),
                        .target = place.target(*query),
                        .fields = *std::move(fields)};
}

}  // namespace fenceline::backends::s3
