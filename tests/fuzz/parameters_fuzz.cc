// The parameters of a named statement, as a client sends them: whatever is taken is exactly what
// another reader of JSON finds, and nothing that it finds is left out.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <string>

#include "backends/sqlite/parameters.h"
#include "base/base64.h"
#include "base/fence_key.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using backends::sqlite::Blob;
using backends::sqlite::Parameters;
using backends::sqlite::Value;

// As JSON again.
std::string written(const Value& value) {
  boost::json::value json;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    json = *integer;
  } else if (const auto* real = std::get_if<double>(&value)) {
    json = *real;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    json = *text;
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    std::string coded;
    base::append_base64(coded, blob->bytes);
    json = {{"base64", coded}};
  }
  return boost::json::serialize(json);
}

void check_value(const Value& value, const boost::json::value& found, std::string_view json) {
  if (std::holds_alternative<std::monostate>(value)) {
    check(found.is_null(), "NULL was null", json);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    check(found.is_int64() && found.get_int64() == *integer, "an integer is exact", json);
  } else if (const auto* real = std::get_if<double>(&value)) {
    check(std::isfinite(*real), "a REAL is finite", json);
    check(found.is_double() || found.is_number(), "a REAL was a number", json);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    check(found.is_string() && found.get_string() == *text, "a TEXT is what was sent", json);
    check(base::is_valid_utf8(*text), "a TEXT is UTF-8", json);
  } else {
    check(found.is_object() && found.get_object().size() == 1, "a BLOB was an object", json);
  }
}

void check_parameters(std::string_view json) {
  const auto taken = backends::sqlite::parse_parameters(json);
  if (!taken) {
    check(taken.error().kind == base::ErrorKind::kMalformedRequest, "what is refused is a 400",
          json);
    check(taken.error().applied == base::Applied::kNo, "and has done nothing", json);
    return;
  }
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    check(taken->empty(), "nothing but blanks has no members", json);
    return;
  }
  boost::json::error_code error;
  const boost::json::value whole = boost::json::parse(json, error);
  check(!error && whole.is_object(), "what is taken is one JSON object", json);
  check(whole.get_object().size() == taken->size(), "every member is taken, once", json);
  for (const auto& [name, value] : *taken) {
    const boost::json::value* const found = whole.get_object().if_contains(name);
    check(found != nullptr, "a member has its own name", json);
    check_value(value, *found, json);
    const auto again = backends::sqlite::parse_parameters("{\"x\":" + written(value) + "}");
    check(again && again->at("x") == value, "what is written is read again", json);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_parameters(fenceline::fuzz::as_text(data, size));
  return 0;
}
