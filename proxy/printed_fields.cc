#include "proxy/printed_fields.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/s3/request_head.h"
#include "base/field_syntax.h"

namespace fenceline::proxy {
namespace {

constexpr base::NameSet<6> kS3Printed = {{"Content-Disposition", "Content-Language",
                                          "Cache-Control", "Expires", "If-Match", "If-None-Match"}};

// Signatures, the token, how the body is wrapped, and what the client says about itself.
constexpr base::NameSet<7> kS3Varying = {
    {"x-amz-date", "x-amz-security-token", "x-amz-content-sha256", "x-amz-decoded-content-length",
     "x-amz-trailer", "x-amz-sdk-checksum-algorithm", "x-amz-user-agent"}};

bool is_printed(const Exchange& exchange, std::string_view name) {
  if (exchange.s3 == nullptr) {
    return base::equal_names(name, "Authorization");
  }
  if (base::begins_with_name(name, "x-amz-")) {
    return !kS3Varying.contains(name) && !base::begins_with_name(name, "x-amz-checksum-");
  }
  return kS3Printed.contains(name);
}

std::string line_of(std::string_view name, std::string_view value) {
  std::string line(name);
  std::ranges::transform(line, line.begin(), base::ascii_lower);
  return line.append(":").append(value).append("\n");
}

/// No field has a blank in its name, so these cannot be mistaken for one.
void add_of_s3(const Exchange& exchange, std::vector<std::string>& lines) {
  const S3Exchange& s3 = *exchange.s3;
  lines.push_back(line_of(" bucket", s3.request.bucket));
  if (s3.verified) {
    lines.push_back(line_of(" caller", s3.verified->access_key));
  }
  const auto encoding = exchange.request.head.joined("Content-Encoding");
  const std::string kept =
      encoding ? backends::s3::content_encoding_upstream(*encoding) : std::string();
  if (!kept.empty()) {
    lines.push_back(line_of("Content-Encoding", kept));
  }
}

}  // namespace

std::string printed_fields(const Exchange& exchange) {
  std::vector<std::string> lines;
  for (const base::Field& field : exchange.request.head.fields) {
    if (is_printed(exchange, field.name)) {
      lines.push_back(line_of(field.name, field.value));
    }
  }
  if (exchange.s3 != nullptr) {
    add_of_s3(exchange, lines);
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

}  // namespace fenceline::proxy
