#include "backends/sqlite/parameters.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/json_events.h"
#include "base/json_text.h"

namespace fenceline::backends::sqlite {
namespace {

namespace json = boost::json;
using boost::system::error_code;

/// Called by the parser. Own handling instead of `json::parse`, which rounds large integers and
/// keeps the last of two equal members.
class Handler : public base::JsonEvents {
 public:
  Parameters parameters;
  std::string problem;  ///< Why it was refused; empty for a matter of syntax.

  bool on_object_begin(error_code& error) {
    if (depth_ == 1) {
      blob_ = Blob();
      has_base64_ = false;
    } else if (depth_ > 1) {
      return refuse_blob(error);
    }
    ++depth_;
    return true;
  }
  bool on_object_end(std::size_t /*members*/, error_code& error) {
    --depth_;
    if (depth_ == 1) {
      return has_base64_ ? keep(std::move(blob_), error) : refuse_blob(error);
    }
    return true;
  }

  bool on_array_begin(error_code& error) { return refuse_kind("an array", error); }

  bool on_key_part(json::string_view part, std::size_t /*size*/, error_code& /*error*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t /*size*/, error_code& error) {
    text_.append(part.data(), part.size());
    std::string key = std::exchange(text_, {});
    if (depth_ == 1) {
      key_ = std::move(key);
      if (parameters.contains(key_)) {
        return refuse("is given twice", error);
      }
      return true;
    }
    return key == "base64" && !has_base64_ ? true : refuse_blob(error);
  }

  bool on_string_part(json::string_view part, std::size_t /*size*/, error_code& /*error*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t /*size*/, error_code& error) {
    text_.append(part.data(), part.size());
    std::string text = std::exchange(text_, {});
    if (depth_ == 2) {
      auto bytes = base::decode_base64(text);
      if (!bytes) {
        return refuse("is broken base64 (RFC 4648, 4, with padding)", error);
      }
      blob_ = Blob{*std::move(bytes)};
      has_base64_ = true;
      return true;
    }
    return keep(std::move(text), error);
  }

  bool on_number_part(json::string_view part, error_code& /*error*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, json::string_view /*digits*/, error_code& error) {
    text_.clear();
    return keep(number, error);
  }
  bool on_uint64(std::uint64_t /*number*/, json::string_view /*digits*/, error_code& error) {
    return refuse(kTooLarge, error);
  }
  bool on_double(double /*number*/, json::string_view digits, error_code& error) {
    text_.append(digits.data(), digits.size());
    const std::string text = std::exchange(text_, {});
    if (text.find_first_of(".eE") == std::string::npos) {
      return refuse(kTooLarge, error);
    }
    // The parser's own number may be off in the last bit.
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
      return refuse("is a number that a 64-bit float cannot hold", error);
    }
    return keep(number, error);
  }
  bool on_bool(bool /*value*/, error_code& error) {
    return refuse_kind("true or false (use 1 or 0)", error);
  }
  bool on_null(error_code& error) { return keep(std::monostate(), error); }

 private:
  static constexpr const char* kTooLarge =
      "is an integer outside of -9223372036854775808 to 9223372036854775807";

  bool keep(Value value, error_code& error) {
    if (depth_ == 0) {
      return refuse_kind("something else", error);
    }
    if (depth_ == 2) {
      return refuse_blob(error);
    }
    parameters.emplace(key_, std::move(value));
    return true;
  }

  bool refuse(std::string_view why, error_code& error) {
    problem = fmt::format("the parameter {} {}", base::json_string(key_), why);
    error = make_error_code(boost::system::errc::invalid_argument);
    return false;
  }
  bool refuse_blob(error_code& error) {
    return refuse("is an object other than {\"base64\":\"…\"}", error);
  }
  bool refuse_kind(const char* kind, error_code& error) {
    if (depth_ == 0) {
      problem = "parameters are one JSON object, such as {\"id\":7}";
      error = make_error_code(boost::system::errc::invalid_argument);
      return false;
    }
    return depth_ == 2 ? refuse_blob(error)
                       : refuse(fmt::format("is {}; a parameter is null, a number, a string or "
                                            "{{\"base64\":\"…\"}}",
                                            kind),
                                error);
  }

  int depth_ = 0;
  std::string key_;   ///< Of the member that is being read.
  std::string text_;  ///< What has come of a key, a string or a number.
  Blob blob_;
  bool has_base64_ = false;
};

}  // namespace

base::Result<Parameters> parse_parameters(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Parameters();
  }
  json::basic_parser<Handler> parser{json::parse_options{}};
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size() &&
      text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) {
    error = make_error_code(json::error::extra_data);
  }
  if (error) {
    const std::string& problem = parser.handler().problem;
    return base::fail(base::ErrorKind::kMalformedRequest,
                      problem.empty()
                          ? fmt::format("The body is no JSON object of parameters: {} at byte {}",
                                        error.message(), read)
                          : fmt::format("The statement cannot be run: {}", problem));
  }
  return std::move(parser.handler().parameters);
}

}  // namespace fenceline::backends::sqlite
