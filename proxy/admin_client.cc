#include "proxy/admin_client.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/scheme.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace fenceline::proxy {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr std::size_t kMaxAnswerBytes = std::size_t{16} * 1024 * 1024;

/// One connection. Each step runs the loop until its callback was called or the time is over.
class Conversation {
 public:
  explicit Conversation(base::Milliseconds deadline)
      : end_(std::chrono::steady_clock::now() + deadline), stream_(context_) {
    stream_.expires_at(end_);
  }

  error_code connect(const AdminAddress& address) {
    Tcp::resolver resolver(context_);
    Tcp::resolver::results_type found;
    error_code outcome = run([&](auto done) {
      resolver.async_resolve(address.host, std::to_string(address.port),
                             [done, &found](error_code error, Tcp::resolver::results_type names) {
                               found = std::move(names);
                               done(error);
                             });
    });
    if (outcome) {
      return outcome;
    }
    return run([&](auto done) {
      stream_.async_connect(found, [done](error_code error, const Tcp::endpoint&) { done(error); });
    });
  }

  error_code send(http::request<http::string_body>& request) {
    return run([&](auto done) {
      http::async_write(stream_, request, [done](error_code error, std::size_t) { done(error); });
    });
  }

  error_code receive(http::response_parser<http::string_body>& parser) {
    return run([&](auto done) {
      http::async_read(stream_, buffer_, parser,
                       [done](error_code error, std::size_t) { done(error); });
    });
  }

 private:
  template <typename Start>
  error_code run(Start start) {
    std::optional<error_code> outcome;
    start([&outcome](error_code error) { outcome = error; });
    context_.restart();
    context_.run_until(end_ + std::chrono::seconds(1));
    return outcome.value_or(beast::error::timeout);
  }

  const std::chrono::steady_clock::time_point end_;
  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
};

tl::unexpected<base::Error> failed(const AdminAddress& address, const error_code& error,
                                   bool connected) {
  const bool late = error == beast::error::timeout;
  std::string detail =
      connected ? fmt::format(
                      "{} was asked and did not give an answer: {}. Look whether the order was "
                      "carried out, and whether this is the admin listener.",
                      address.url(), late ? "time is over" : error.message())
                : fmt::format(
                      "No fenceline answers at {}: {}. Is it running, and is this its "
                      "`admin.listen`?",
                      address.url(), late ? "time is over" : error.message());
  return base::fail(late ? base::ErrorKind::kUpstreamTimeout : base::ErrorKind::kUpstreamFailed,
                    std::move(detail), connected ? base::Applied::kUnknown : base::Applied::kNo);
}

}  // namespace

std::string AdminAddress::url() const {
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}", host, port)
                                             : fmt::format("http://[{}]:{}", host, port);
}

base::Result<AdminAddress> parse_admin_url(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      fmt::format("'{}' is no address of an admin listener: {}. Write "
                                  "http://127.0.0.1:8081.",
                                  text, why));
  };
  const auto url = boost::urls::parse_uri(text);
  if (!url) {
    return refuse("it is no URL");
  }
  if (url->scheme_id() != boost::urls::scheme::http) {
    return refuse("the admin listener speaks plain http");
  }
  if (url->has_userinfo() || url->has_query() || url->has_fragment() ||
      !(url->encoded_path().empty() || url->encoded_path() == "/")) {
    return refuse("only a host and a port may be in it");
  }
  // Not `port_number`: it takes 99999 for something else.
  const std::string_view digits = url->port();
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 ||
      url->host_address().empty()) {
    return refuse("host or port is missing, or no port");
  }
  return AdminAddress{url->host_address(), port, {}};
}

base::Result<AdminResponse> ask_admin(const AdminAddress& address, const AdminRequest& request,
                                      base::Milliseconds deadline) {
  Conversation conversation(deadline);
  if (const error_code error = conversation.connect(address)) {
    return failed(address, error, false);
  }
  http::request<http::string_body> message(http::string_to_verb(request.method), request.target,
                                           11);
  message.set(http::field::host, address.url().substr(std::string_view("http://").size()));
  message.set(http::field::connection, "close");
  if (!address.bearer_token.empty()) {
    message.set(http::field::authorization, "Bearer " + address.bearer_token);
  }
  if (request.method == "POST") {
    message.set(http::field::content_type, "application/json");
    message.body() = request.body;
    message.prepare_payload();
  }
  if (const error_code error = conversation.send(message)) {
    return failed(address, error, true);
  }
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswerBytes);
  if (const error_code error = conversation.receive(parser)) {
    return failed(address, error, true);
  }
  auto answer = parser.release();
  return AdminResponse{static_cast<int>(answer.result_int()), std::move(answer.body())};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~";
  std::string encoded;
  for (const char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos) {
      encoded += byte;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return encoded;
}

}  // namespace fenceline::proxy
