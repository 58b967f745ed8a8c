#include "proxy/reason_phrase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace fenceline::proxy {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr std::array kPhrases = {
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{203, "Non-Authoritative Information"},
    Phrase{204, "No Content"},
    Phrase{205, "Reset Content"},
    Phrase{206, "Partial Content"},
    Phrase{207, "Multi-Status"},
    Phrase{300, "Multiple Choices"},
    Phrase{301, "Moved Permanently"},
    Phrase{302, "Found"},
    Phrase{303, "See Other"},
    Phrase{304, "Not Modified"},
    Phrase{307, "Temporary Redirect"},
    Phrase{308, "Permanent Redirect"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{402, "Payment Required"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{406, "Not Acceptable"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{411, "Length Required"},
    Phrase{412, "Precondition Failed"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{416, "Range Not Satisfiable"},
    Phrase{417, "Expectation Failed"},
    Phrase{421, "Misdirected Request"},
    Phrase{422, "Unprocessable Content"},
    Phrase{423, "Locked"},
    Phrase{424, "Failed Dependency"},
    Phrase{426, "Upgrade Required"},
    Phrase{428, "Precondition Required"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{502, "Bad Gateway"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
    Phrase{505, "HTTP Version Not Supported"},
    Phrase{507, "Insufficient Storage"},
};
static_assert(std::ranges::is_sorted(kPhrases, {}, &Phrase::status));

}  // namespace

std::string_view status_line(int status) {
  constexpr int kFirst = 200;
  constexpr std::size_t kCount = 400;
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> all(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const int each = kFirst + static_cast<int>(i);
      all[i] = fmt::format("HTTP/1.1 {} {}\r\n", each, reason_phrase(each));
    }
    return all;
  }();
  return lines.at(static_cast<std::size_t>(status - kFirst));
}

std::string_view reason_phrase(int status) {
  const auto* const found = std::ranges::lower_bound(kPhrases, status, {}, &Phrase::status);
  return found != kPhrases.end() && found->status == status ? found->text : std::string_view();
}

}  // namespace fenceline::proxy
