#include "backends/s3/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "backends/s3/query.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::ErrorKind;

constexpr std::size_t kMaxPartDigits = 5;
constexpr int kMaxPart = 10'000;

/// Fields that make a request something else for a server that knows them. No S3 client sends them.
constexpr base::NameSet<9> kForeignFields = {
    {"x-copy-from", "x-copy-from-account", "x-delete-after", "x-delete-at", "x-http-method",
     "x-http-method-override", "x-method-override", "x-object-manifest", "x-symlink-target"}};

/// Names of the query that other servers than S3 have, so that the answer can say more.
struct ForeignName {
  std::string_view name;
  std::string_view sentence;
};
constexpr std::array<ForeignName, 7> kForeignNames{{
    {"append",
     "appending as radosgw does it is not supported; S3 does it with the field "
     "x-amz-write-offset-bytes"},
    {"position",
     "appending as radosgw does it is not supported; S3 does it with the field "
     "x-amz-write-offset-bytes"},
    {"multipart-manifest", "the large objects of Swift are not supported; use a multipart upload"},
    {"extract-archive", "the bulk operations of Swift are not supported; write each object"},
    {"bulk-delete", "the bulk operations of Swift are not supported; use DeleteObjects"},
    {"AWSAccessKeyId", "Signature Version 2 is not supported; switch the client to version 4"},
    {"Signature", "Signature Version 2 is not supported; switch the client to version 4"},
}};

tl::unexpected<base::Error> refuse(ErrorKind kind, std::string detail, std::string_view code) {
  base::Error error{kind, std::move(detail)};
  error.code = code;
  return tl::unexpected<base::Error>(std::move(error));
}

tl::unexpected<base::Error> contradiction(std::string detail) {
  return refuse(ErrorKind::kMalformedRequest, std::move(detail), "InvalidArgument");
}

tl::unexpected<base::Error> not_implemented(std::string detail) {
  return refuse(ErrorKind::kMethodUnknown, std::move(detail), "NotImplemented");
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// All that is an `Operation::field`, each once.
const std::vector<std::string_view>& deciding_fields() {
  static const std::vector<std::string_view> fields = [] {
    std::vector<std::string_view> all;
    for (const Operation& row : operations()) {
      if (!row.field.empty() && !contains(all, row.field)) {
        all.push_back(row.field);
      }
    }
    return all;
  }();
  return fields;
}

/// The field that says which operation it is, where there is one: `Operation::field`.
base::Result<std::string_view> deciding_field(const base::RequestHead& head) {
  std::string_view found;
  for (const base::Field& field : head.fields) {
    if (kForeignFields.contains(field.name)) {
      return not_implemented(fmt::format(
          "the field {} makes this another request at some servers; leave it out", field.name));
    }
    for (const std::string_view deciding : deciding_fields()) {
      if (!base::equal_names(deciding, field.name)) {
        continue;
      }
      if (!found.empty()) {
        return contradiction(found == deciding
                                 ? fmt::format("the field {} is there twice; send it once", found)
                                 : fmt::format("the fields {} and {} contradict each other; send "
                                               "one of them",
                                               found, deciding));
      }
      found = deciding;
      break;
    }
  }
  return found;
}

bool is_known(std::string_view name) {
  return std::ranges::any_of(operations(), [name](const Operation& row) {
    return contains(row.markers, name) || contains(row.parameters, name);
  });
}

base::Result<void> check_names(const base::RequestHead& head,
                               const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.use == QueryUse::kField && head.count(parameter.name) > 0) {
      return contradiction(
          fmt::format("{} is both in the query and a field of the request; send it once",
                      in_quotes(parameter.sent)));
    }
    if (parameter.use != QueryUse::kOperation || is_known(parameter.name)) {
      continue;
    }
    const auto* const foreign =
        std::ranges::find(kForeignNames, std::string_view(parameter.name), &ForeignName::name);
    return not_implemented(fmt::format(
        "the query parameter {} is not known: {}", in_quotes(parameter.sent),
        foreign == kForeignNames.end()
            ? "names are compared exactly, and some servers would take the request for another one "
              "without it; leave it out"
            : foreign->sentence));
  }
  return {};
}

bool opens_side_door(const Operation& row, std::string_view name, std::string_view value) {
  const bool named = std::ranges::any_of(row.refused_fields, [name](std::string_view prefix) {
    return base::begins_with_name(name, prefix);
  });
  return named && !(base::equal_names(name, "x-amz-acl") && value == "private");
}

base::Result<void> check_refused_fields(const Operation& row, const base::RequestHead& head,
                                        const std::vector<Parameter>& parameters) {
  const auto refusal = [&row](std::string_view name) {
    return not_implemented(fmt::format(
        "{} is not taken here with {}: it can give others a way to the objects past the fence; "
        "leave it out, or set it at the server itself",
        row.name, in_quotes(name)));
  };
  for (const base::Field& field : head.fields) {
    if (opens_side_door(row, field.name, field.value)) {
      return refusal(field.name);
    }
  }
  for (const Parameter& parameter : parameters) {
    if (opens_side_door(row, parameter.name, parameter.value)) {
      return refusal(parameter.sent);
    }
  }
  return {};
}

bool has_all(const std::vector<Parameter>& parameters, const Operation& row) {
  return std::ranges::all_of(row.markers, [&parameters](std::string_view marker) {
    return std::ranges::find(parameters, marker, &Parameter::name) != parameters.end();
  });
}

/// Of the rows that the request could be, the one with the most markers: what is left over then
/// belongs to it or is a contradiction.
const Operation* closest(std::string_view method, Level level, std::string_view field,
                         const std::vector<Parameter>& parameters) {
  const Operation* best = nullptr;
  for (const Operation& row : operations()) {
    if (row.level == level && row.method == method && row.field == field &&
        (best == nullptr || row.markers.size() > best->markers.size()) &&
        has_all(parameters, row)) {
      best = &row;
    }
  }
  return best;
}

bool is_part_number(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= kMaxPartDigits &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  int number = 0;
  for (const char c : digits ? text : std::string_view()) {
    number = number * 10 + (c - '0');
  }
  return number >= 1 && number <= kMaxPart;
}

/// A server that reads a value in another way than we do would do something else.
base::Result<void> check_value(const Operation& row, const Parameter& parameter) {
  const std::string_view name = parameter.name;
  const std::string_view value = parameter.value;
  if (name == "partNumber" && !is_part_number(value)) {
    return contradiction(fmt::format("partNumber must be a number from 1 to {}", kMaxPart));
  }
  if ((name == "uploadId" || name == "versionId" || name == "id") && value.empty()) {
    return contradiction(fmt::format("{} has no value; give it one or leave it out", name));
  }
  if (name == "list-type" || name == "select-type") {
    return value == "2" ? base::Result<void>() : contradiction(fmt::format("{} must be 2", name));
  }
  const bool valued =
      name == "partNumber" || name == "uploadId" || name == "id" || name == "max-directory-buckets";
  if (!valued && !value.empty() && contains(row.markers, name)) {
    return contradiction(fmt::format("the sub-resource {} has no value; leave it out", name));
  }
  return {};
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kService:
      return "the service";
    case Level::kBucket:
      return "a bucket";
    case Level::kObject:
      break;
  }
  return "an object";
}

}  // namespace

base::Result<const Operation*> classify(const base::RequestHead& head, Level level) {
  auto parameters = read_query(head.query);
  if (!parameters) {
    return base::pass_on(parameters.error());
  }
  auto field = deciding_field(head);
  if (!field) {
    return base::pass_on(field.error());
  }
  if (auto checked = check_names(head, *parameters); !checked) {
    return base::pass_on(checked.error());
  }
  const Operation* row = closest(head.method_text, level, *field, *parameters);
  if (row == nullptr) {
    if (!field->empty() && closest(head.method_text, level, {}, *parameters) != nullptr) {
      return contradiction(
          fmt::format("the field {} does not go with the rest of this {} request; leave it out",
                      *field, head.method_text));
    }
    return not_implemented(fmt::format(
        "there is no S3 operation that is {} of {} with this query; GET, HEAD, PUT, POST and "
        "DELETE are taken, as the documentation of S3 has them",
        in_quotes(head.method_text), name_of(level)));
  }
  for (const Parameter& parameter : *parameters) {
    if (parameter.use != QueryUse::kOperation) {
      continue;
    }
    if (!contains(row->markers, parameter.name) && !contains(row->parameters, parameter.name)) {
      return contradiction(fmt::format(
          "{} does not take the query parameter {}; leave it out, or complete the request that "
          "has it",
          row->name, in_quotes(parameter.sent)));
    }
    if (auto checked = check_value(*row, parameter); !checked) {
      return base::pass_on(checked.error());
    }
  }
  if (auto checked = check_refused_fields(*row, head, *parameters); !checked) {
    return base::pass_on(checked.error());
  }
  return row;
}

}  // namespace fenceline::backends::s3
