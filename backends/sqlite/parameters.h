#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace fenceline::backends::sqlite {

struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

/// One value of SQL: NULL, INTEGER, REAL, TEXT or BLOB.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

using Parameters = std::map<std::string, Value, std::less<>>;

/// Reads the parameters of a statement from a JSON object.
/// Does: takes null, integers of 64 bits (exactly, by their digits), other numbers as REAL, strings
/// as TEXT, and `{"base64":"…"}` as BLOB. A text of nothing but blanks is an object without
/// members. Failure: `kMalformedRequest` that names the member: true, false, arrays, other objects,
/// an integer of more than 64 bits, a number that no double holds, a member given twice, broken
/// base64; and for anything else than one object. Pure.
base::Result<Parameters> parse_parameters(std::string_view json);

}  // namespace fenceline::backends::sqlite
