#include "base/aws/sigv4.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/aws/hmac.h"
#include "base/aws/query.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t kTimestampBytes = 16;
// What is reserved, so that strings and lists do not grow in steps.
constexpr std::size_t kUsualRequestBytes = 768;
constexpr std::size_t kUsualFields = 16;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// No function: it is asked for each byte, and would be called by its address.
constexpr auto kIsBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };

// Blanks at the ends go, runs of blanks inside become one (also those of a folded line).
void append_trimmed(std::string& text, std::string_view value) {
  bool first = true;
  const auto* at = value.begin();
  while (true) {
    const auto* const word = std::find_if_not(at, value.end(), kIsBlank);
    if (word == value.end()) {
      return;
    }
    at = std::find_if(word, value.end(), kIsBlank);
    text.append(first ? "" : " ").append(word, at);
    first = false;
  }
}

void append_fields(std::string& text, const SignedParts& parts) {
  for (const std::string_view name : parts.signed_names) {
    text.append(name).append(":");
    bool first = true;
    for (const Field& field : parts.fields) {
      if (equal_names(field.name, name)) {
        text.append(first ? "" : ",");
        append_trimmed(text, field.value);
        first = false;
      }
    }
    text += '\n';
  }
}

// Only for the published vectors.
std::string normalized(std::string_view path) {
  std::vector<std::string_view> kept;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (segment == "..") {
      if (!kept.empty()) {
        kept.pop_back();
      }
    } else if (!segment.empty() && segment != ".") {
      kept.push_back(segment);
    }
  }
  std::string text;
  for (const std::string_view segment : kept) {
    text.append("/").append(segment);
  }
  const bool collection = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  return text.empty() || (collection && !text.ends_with('/')) ? text + "/" : text;
}

// An encoded slash stays encoded: `/a%2Fb` is one segment, `/a/b` two, and whoever signed one has
// not signed the other. What cannot be decoded stays as it was sent.
std::string encoded_anew(std::string_view path) {
  std::string text;
  std::string_view rest = path;
  while (true) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const auto segment = percent_decoded(rest.substr(0, slash));
    if (!segment) {
      return std::string(path);
    }
    append_encoded(text, *segment, true);
    if (slash == rest.size()) {
      return text;
    }
    text += '/';
    rest.remove_prefix(slash + 1);
  }
}

void append_path(std::string& text, std::string_view path, PathRule rule) {
  switch (rule) {
    case PathRule::kAsSent:
      text.append(path);
      break;
    case PathRule::kEncodedAnew:
      text.append(encoded_anew(path));
      break;
    case PathRule::kNormalized:
      append_encoded(text, normalized(path), false);
      break;
    case PathRule::kEncodedTwice:
      append_encoded(text, path, false);
      break;
  }
}

/// Appends the names with semicolons between them.
void append_names(std::string& text, std::span<const std::string_view> names) {
  std::string_view before;
  for (const std::string_view name : names) {
    text.append(before).append(name);
    before = ";";
  }
}

/// Appends `value` with zeros in front, so that it has `digits` of them.
void append_padded(std::string& text, unsigned value, std::size_t digits) {
  const std::size_t end = text.size() + digits;
  text.resize(end, '0');
  for (std::size_t at = end; value > 0 && at > end - digits; value /= 10) {
    text[--at] = static_cast<char>('0' + value % 10);
  }
}

/// Fields that proxies and connections change, and that say nothing about the object.
bool is_left_unsigned(std::string_view name) {
  static constexpr NameSet kNames(std::array<std::string_view, 8>{
      "connection", "user-agent", "expect", "via", "forwarded", "accept-encoding", "accept", "te"});
  return kNames.contains(name) || begins_with_name(name, "x-forwarded-");
}

/// Of the lines of a head those that are signed; views of them.
std::vector<Field> fields_to_sign(std::string_view lines) {
  std::vector<Field> fields;
  fields.reserve(kUsualFields);
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 2);
    const std::size_t colon = line.find(": ");
    const Field field{.name = line.substr(0, colon), .value = line.substr(colon + 2)};
    if (!is_left_unsigned(field.name)) {
      fields.push_back(field);
    }
  }
  return fields;
}

/// The names of the fields, in lower case, sorted, each once; views of `lower`.
std::vector<std::string_view> names_of(std::span<const Field> fields, std::string& lower) {
  for (const Field& field : fields) {
    lower.append(field.name);
  }
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  std::string_view rest = lower;
  for (const Field& field : fields) {
    names.push_back(rest.substr(0, field.name.size()));
    rest.remove_prefix(field.name.size());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string Scope::text() const {
  constexpr std::string_view kEnd = "/aws4_request";
  std::string text;
  text.reserve(date.size() + region.size() + service.size() + kEnd.size() + 2);
  text.append(date).append("/").append(region).append("/").append(service).append(kEnd);
  return text;
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string timestamp_of(SystemTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  std::string text;
  text.reserve(kTimestampBytes);
  append_padded(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  append_padded(text, static_cast<unsigned>(date.month()), 2);
  append_padded(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  append_padded(text, static_cast<unsigned>(clock.hours().count()), 2);
  append_padded(text, static_cast<unsigned>(clock.minutes().count()), 2);
  append_padded(text, static_cast<unsigned>(clock.seconds().count()), 2);
  text += 'Z';
  return text;
}

std::string canonical_request(const SignedParts& parts, PathRule rule) {
  std::string text;
  text.reserve(kUsualRequestBytes);
  text.append(parts.method).append("\n");
  append_path(text, parts.path, rule);
  text += '\n';
  const auto pairs = split_query(parts.query);
  text.append(pairs ? canonical_query(*pairs) : std::string(parts.query)).append("\n");
  append_fields(text, parts);
  text += '\n';
  append_names(text, parts.signed_names);
  return text.append("\n").append(parts.payload_hash);
}

std::string string_to_sign(std::string_view timestamp, std::string_view scope,
                           std::string_view canonical_request) {
  const std::string hash = sha256_hex(canonical_request);
  std::string text;
  text.reserve(kAlgorithm.size() + timestamp.size() + scope.size() + hash.size() + 3);
  text.append(kAlgorithm).append("\n").append(timestamp).append("\n").append(scope);
  return text.append("\n").append(hash);
}

SigningKey signing_key(std::string_view secret_key, const Scope& scope) {
  const std::string start = std::string("AWS4").append(secret_key);
  const Sha256 date = hmac_sha256(bytes_of(start), scope.date);
  const Sha256 region = hmac_sha256(date, scope.region);
  const Sha256 service = hmac_sha256(region, scope.service);
  return hmac_sha256(service, "aws4_request");
}

const SigningKey& recent_signing_key(std::string_view secret, const Scope& scope) {
  struct Recent {
    std::string secret;
    Scope scope;
    SigningKey key{};
  };
  constexpr std::size_t kKept = 64;
  thread_local std::vector<Recent> recent;
  const auto found = std::ranges::find_if(
      recent, [&](const Recent& each) { return each.scope == scope && each.secret == secret; });
  if (found != recent.end()) {
    return found->key;
  }
  if (recent.size() == kKept) {
    recent.clear();
  }
  recent.push_back({std::string(secret), scope, signing_key(secret, scope)});
  return recent.back().key;
}

std::string signature_of(const SigningKey& key, std::string_view text) {
  return hex(hmac_sha256(key, text));
}

void sign(const ToSign& request, const Credentials& credentials, FieldLines& fields) {
  const std::string timestamp = timestamp_of(request.time);
  const Scope scope{.date = timestamp.substr(0, 8), .region = std::string(request.region)};
  fields.add("x-amz-date", timestamp);
  fields.add("x-amz-content-sha256", request.payload_hash);
  if (!credentials.session_token.empty()) {
    fields.add("x-amz-security-token", credentials.session_token);
  }
  std::vector<Field> signed_fields = fields_to_sign(fields.text());
  if (!fields.find("Host")) {
    signed_fields.push_back({"host", request.host});
  }
  std::string lower;
  const std::vector<std::string_view> names = names_of(signed_fields, lower);
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string canonical =
      canonical_request({.method = request.method,
                         .path = request.target.substr(0, mark),
                         .query = request.target.substr(std::min(mark + 1, request.target.size())),
                         .fields = signed_fields,
                         .signed_names = names,
                         .payload_hash = request.payload_hash});
  const std::string scope_text = scope.text();
  const std::string signature = signature_of(recent_signing_key(credentials.secret_key, scope),
                                             string_to_sign(timestamp, scope_text, canonical));
  std::string value;
  value.reserve(kUsualRequestBytes);
  value.append(kAlgorithm).append(" Credential=").append(credentials.access_key).append("/");
  value.append(scope_text).append(", SignedHeaders=");
  append_names(value, names);
  fields.add("Authorization", value.append(", Signature=").append(signature));
}

}  // namespace fenceline::base::aws
