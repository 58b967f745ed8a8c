// JSON strings: whatever bytes a client sent, the result is JSON, and valid UTF-8 comes back as it
// was. Another library reads it.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "base/fence_key.h"
#include "base/json_text.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

void check_json(std::string_view text) {
  std::string out = "[";
  base::append_json_string(out, text);
  const std::string written = base::json_string(text);
  check(out == "[" + written, "it only appends", text);
  check(base::is_valid_utf8(written), "JSON is UTF-8", written);
  check(!base::has_control_byte(written), "no control byte goes through", written);

  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(written, error);
  check(!error && value.is_string(), "the result is one JSON string", written);
  const std::string_view read(value.get_string().data(), value.get_string().size());
  if (base::is_valid_utf8(text)) {
    check(read == text, "valid UTF-8 comes back as it was", written);
  } else {
    check(read.find("\xef\xbf\xbd") != read.npos, "what is not UTF-8 becomes U+FFFD", written);
  }
  check(base::json_string(read) == written, "reading and writing again changes nothing", written);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_json(fenceline::fuzz::as_text(data, size));
  return 0;
}
