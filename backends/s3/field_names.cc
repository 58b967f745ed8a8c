#include "backends/s3/field_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

constexpr std::string_view kMetadata = "x-amz-meta-";

/// radosgw puts `x-amz-` in their place.
constexpr std::array<std::string_view, 6> kAlsoAmz = {"x-goog-",   "x-dho-",       "x-rgw-",
                                                      "x-object-", "x-container-", "x-account-"};

tl::unexpected<base::Error> refuse(std::string_view name, std::string_view why) {
  base::Error error{base::ErrorKind::kMalformedRequest,
                    fmt::format("the field {} is not taken: {}. No S3 client sends such a name; "
                                "leave it out",
                                name, why)};
  error.code = "InvalidRequest";
  return tl::unexpected<base::Error>(std::move(error));
}

}  // namespace

base::Result<void> check_field_names(const base::RequestHead& head) {
  for (const base::Field& field : head.fields) {
    if (base::begins_with_name(field.name, kMetadata)) {
      continue;
    }
    if (!base::is_plain_name(field.name)) {
      return refuse(field.name,
                    "names have letters, digits and \"-\" only, because S3 servers take \"_\" for "
                    "\"-\", so it could be another field to them");
    }
    if (std::ranges::any_of(kAlsoAmz, [&field](std::string_view prefix) {
          return base::begins_with_name(field.name, prefix);
        })) {
      return refuse(field.name, "some servers read it as one that begins with \"x-amz-\"");
    }
  }
  return {};
}

bool is_stamp(std::string_view name) {
  return base::same_for_loose_servers(name, kTokenField) ||
         base::same_for_loose_servers(name, kRequestField) ||
         base::same_for_loose_servers(name, kTombstoneField);
}

}  // namespace fenceline::backends::s3
