#include "base/aws/sigv4.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/aws/hmac.h"
#include "base/aws/query.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Blanks at the ends go, runs of blanks inside become one (also those of a folded line).
void append_trimmed(std::string& text, std::string_view value) {
  bool blank = false;
  const std::size_t start = text.size();
  for (const char c : value) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      blank = text.size() > start;
      continue;
    }
    text.append(blank ? " " : "");
    blank = false;
    text += c;
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

std::string canonical_path(std::string_view path, PathRule rule) {
  std::string text;
  switch (rule) {
    case PathRule::kAsSent:
      text = path;
      break;
    case PathRule::kEncodedAnew:
      text = encoded_anew(path);
      break;
    case PathRule::kNormalized:
      append_encoded(text, normalized(path), false);
      break;
    case PathRule::kEncodedTwice:
      append_encoded(text, path, false);
      break;
  }
  return text;
}

/// Fields that proxies and connections change, and that say nothing about the object.
bool is_left_unsigned(std::string_view name) {
  static constexpr NameSet kNames(std::array<std::string_view, 8>{
      "connection", "user-agent", "expect", "via", "forwarded", "accept-encoding", "accept", "te"});
  return kNames.contains(name) || begins_with_name(name, "x-forwarded-");
}

}  // namespace

std::string Scope::text() const {
  return fmt::format("{}/{}/{}/aws4_request", date, region, service);
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string timestamp_of(SystemTime time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string canonical_request(const SignedParts& parts, PathRule rule) {
  std::string text(parts.method);
  text.append("\n").append(canonical_path(parts.path, rule)).append("\n");
  const auto pairs = split_query(parts.query);
  text.append(pairs ? canonical_query(*pairs) : std::string(parts.query)).append("\n");
  append_fields(text, parts);
  text += '\n';
  bool first = true;
  for (const std::string_view name : parts.signed_names) {
    text.append(first ? "" : ";").append(name);
    first = false;
  }
  return text.append("\n").append(parts.payload_hash);
}

std::string string_to_sign(std::string_view timestamp, std::string_view scope,
                           std::string_view canonical_request) {
  return fmt::format("{}\n{}\n{}\n{}", kAlgorithm, timestamp, scope, sha256_hex(canonical_request));
}

SigningKey signing_key(std::string_view secret_key, const Scope& scope) {
  const std::string start = fmt::format("AWS4{}", secret_key);
  const Sha256 date = hmac_sha256(bytes_of(start), scope.date);
  const Sha256 region = hmac_sha256(date, scope.region);
  const Sha256 service = hmac_sha256(region, scope.service);
  return hmac_sha256(service, "aws4_request");
}

const SigningKey& recent_signing_key(std::string_view secret, const Scope& scope) {
  struct Recent {
    std::string secret;
    std::string scope;
    SigningKey key{};
  };
  constexpr std::size_t kKept = 64;
  thread_local std::vector<Recent> recent;
  std::string text = scope.text();
  const auto found = std::ranges::find_if(
      recent, [&](const Recent& each) { return each.scope == text && each.secret == secret; });
  if (found != recent.end()) {
    return found->key;
  }
  if (recent.size() == kKept) {
    recent.clear();
  }
  recent.push_back({std::string(secret), std::move(text), signing_key(secret, scope)});
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
  std::vector<OwnedField> owned = fields.list();
  if (!fields.find("Host")) {
    owned.emplace_back("host", std::string(request.host));
  }
  std::vector<Field> all;
  std::vector<std::string> names;
  for (const auto& [name, value] : owned) {
    if (is_left_unsigned(name)) {
      continue;
    }
    all.push_back({name, value});
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](char c) { return ascii_lower(c); });
    names.push_back(std::move(lower));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::vector<std::string_view> signed_names(names.begin(), names.end());
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string canonical =
      canonical_request({.method = request.method,
                         .path = request.target.substr(0, mark),
                         .query = request.target.substr(std::min(mark + 1, request.target.size())),
                         .fields = all,
                         .signed_names = signed_names,
                         .payload_hash = request.payload_hash});
  const std::string scope_text = scope.text();
  const std::string signature = signature_of(recent_signing_key(credentials.secret_key, scope),
                                             string_to_sign(timestamp, scope_text, canonical));
  std::string joined;
  for (const std::string& name : names) {
    joined.append(joined.empty() ? "" : ";").append(name);
  }
  fields.add("Authorization",
             fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                         credentials.access_key, scope_text, joined, signature));
}

}  // namespace fenceline::base::aws
