#include "tests/proxy/head_mutator.h"

#include <array>
#include <string_view>
#include <vector>

namespace fenceline::proxy::testing {
namespace {

constexpr std::string_view kPlain = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
constexpr std::string_view kSized =
    "PUT /exports/acme/a%20b?x=1&y HTTP/1.1\r\nHost: a:80\r\nFencing-Token: 34\r\n"
    "Content-Length: 5\r\nConnection: keep-alive\r\n\r\nhelloGET /";
constexpr std::string_view kChunked =
    "PUT /a HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\nPUT";
constexpr std::string_view kOld = "HEAD /x HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n";
constexpr std::string_view kPadded =
    "\r\n\r\nDELETE /a/b/ HTTP/1.1\r\nhost:a\r\nIf-Match: \"x\"\r\n\r\n";

constexpr std::array kSeeds = {kPlain, kSized, kChunked, kOld, kPadded};

constexpr std::array<std::string_view, 40> kPieces = {"\r\n",
                                                      "\n",
                                                      "\r",
                                                      " ",
                                                      "\t",
                                                      ":",
                                                      ",",
                                                      ";",
                                                      "\r\n ",
                                                      "\r\n\r\n",
                                                      "Host: b\r\n",
                                                      "Content-Length: 5\r\n",
                                                      "Content-Length: 0\r\n",
                                                      "Content-Length: +5\r\n",
                                                      "Transfer-Encoding: chunked\r\n",
                                                      "Transfer-Encoding: gzip\r\n",
                                                      "Transfer-Encoding:\r\n",
                                                      "chunked",
                                                      "identity",
                                                      "Expect: 100-continue\r\n",
                                                      "HTTP/1.0",
                                                      "HTTP/1.1",
                                                      "HTTP/2.0",
                                                      "%2f",
                                                      "%",
                                                      "..",
                                                      "/",
                                                      "?",
                                                      "#",
                                                      "*",
                                                      "0\r\n\r\n",
                                                      "ffffffffffffffff\r\n",
                                                      "5\r\n",
                                                      "1;a\r\nx\r\n",
                                                      "\x7f",
                                                      "\x80",
                                                      "Connection: close\r\n",
                                                      "http://a/",
                                                      "18446744073709551619",
                                                      "A: b\r\n"};

}  // namespace

std::string Mutator::next() {
  std::string text(kSeeds.at(below(kSeeds.size())));
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    mutate(text);
  }
  return text;
}

void Mutator::mutate(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  switch (below(6)) {
    case 0:
      text.insert(at, 1, static_cast<char>(below(256)));
      break;
    case 1:
      text.erase(at, 1 + below(4));
      break;
    case 2:
      if (at < text.size()) {
        text[at] = static_cast<char>(below(256));
      }
      break;
    case 3:
      text.insert(at, kPieces.at(below(kPieces.size())));
      break;
    case 4:
      insert_line(text);
      break;
    default:
      text.insert(at, text.substr(below(text.size() + 1), below(40)));
      break;
  }
}

/// A piece at the start of a line, where it does most.
void Mutator::insert_line(std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
    starts.push_back(i + 1);
  }
  if (!starts.empty()) {
    text.insert(starts[below(starts.size())], kPieces.at(below(kPieces.size())));
  }
}

}  // namespace fenceline::proxy::testing
