// HTTP dates: whatever is read can be written and read again as the same second.

#include <algorithm>
#include <charconv>
#include <string>

#include "base/http_date.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

constexpr std::int64_t kFirst = -62135596800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLast = 253402300799;   // 9999-12-31T23:59:59Z

/// Any number of seconds has a form, and the form means that second, or the nearest that has one.
void check_seconds(std::int64_t seconds) {
  const std::string text = base::format_http_date(seconds);
  check(text.size() == 29, "IMF-fixdate has 29 bytes", text);
  check(base::parse_http_date(text) == std::clamp(seconds, kFirst, kLast),
        "what was written reads as the same second", text);
  const std::string rfc3339 = base::format_rfc3339(seconds);
  check(rfc3339.size() == 20 && rfc3339.substr(11, 8) == text.substr(17, 8),
        "both forms say the same time", rfc3339);
}

/// Another spelling of one second must not be taken for IMF-fixdate's.
void check_text(std::string_view text) {
  const auto seconds = base::parse_http_date(text);
  if (!seconds) {
    return;
  }
  check(*seconds >= kFirst && *seconds <= kLast + 1, "a date lies in the years 0001 … 9999", text);
  check_seconds(*seconds);
  const bool leap_second = text.find(":60") != text.npos;
  const std::string written = base::format_http_date(*seconds);
  if (text.size() == written.size() && text.ends_with(" GMT") && !leap_second) {
    // The day of the week is not compared with the date.
    check(text.substr(3) == std::string_view(written).substr(3),
          "IMF-fixdate has one spelling for each second", text);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fenceline::fuzz::as_text(data, size);
  fenceline::fuzz::check_text(text);
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size()) {
    fenceline::fuzz::check_seconds(seconds);
  }
  return 0;
}
