#include "proxy/s3_delete_result.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "backends/s3/s3_answers.h"
#include "base/xml_text.h"
#include "proxy/problem.h"
#include "proxy/s3_error.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Deletion;

struct Told {
  std::string_view code;
  std::string message;
  base::Applied applied = base::Applied::kNo;
};

Told told_of(const base::Error& error) {
  return {.code = error.code.empty() ? s3_error_kind(error.kind).code : error.code,
          .message = std::string(detail_of(error)),
          .applied = error.applied};
}

// What the server has refused.
Told told_of(const base::Reply& reply) {
  const auto* const document = std::get_if<std::string>(&reply.body);
  const std::string_view code =
      document == nullptr ? std::string_view() : backends::s3::error_code_of(*document);
  return {.code = code.empty() ? "InvalidRequest" : code,
          .message = fmt::format("The S3 server behind the proxy refused the deletion with {}; "
                                 "nothing was changed.",
                                 reply.status)};
}

void append_object(std::string& xml, const Deletion& deletion) {
  base::append_xml_element(xml, "Key", deletion.key);
  if (!deletion.version.empty()) {
    base::append_xml_element(xml, "VersionId", deletion.version);
  }
}

void append_error(std::string& xml, const Deletion& deletion, const Told& told) {
  xml += "<Error>";
  append_object(xml, deletion);
  base::append_xml_element(xml, "Code", told.code);
  base::append_xml_element(xml, "Message", told.message);
  base::append_xml_element(xml, "FencingApplied", to_string(told.applied));
  xml += "</Error>";
}

}  // namespace

base::Reply s3_delete_result(const backends::s3::DeleteDocument& document,
                             std::span<const backends::StagedPart> parts) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const backends::StagedPart& part : parts) {
    const Deletion& deletion = document.deletions.at(part.named);
    const base::Result<base::Reply>& outcome = part.outcome.value();
    if (!outcome) {
      append_error(xml, deletion, told_of(outcome.error()));
    } else if (outcome->status / 100 != 2) {
      append_error(xml, deletion, told_of(*outcome));
    } else if (!document.quiet) {
      xml += "<Deleted>";
      append_object(xml, deletion);
      xml += "</Deleted>";
    }
  }
  xml += "</DeleteResult>\n";
  base::Reply reply;
  reply.add("Content-Type", "application/xml");
  reply.body = std::move(xml);
  return reply;
}

}  // namespace fenceline::proxy
