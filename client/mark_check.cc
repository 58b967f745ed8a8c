#include "client/mark_check.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/system/error_code.hpp>
#include <cstdlib>

#include "client/blocking_http.h"
#include "client/percent.h"
#include "client/source_url.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;
using base::Token;

using Mark = std::optional<Token>;

constexpr base::Milliseconds kDeadline{5'000};
constexpr int kNotFound = 404;

struct Place {
  base::net::HttpClientOptions client;
  std::string target;  ///< Empty: the admin listener.
};

Result<Place> parse_place(std::string_view url) {
  const std::string scheme = scheme_of(url);
  const bool tls = scheme == "https";
  auto parsed = parse_source_url(url, tls ? 443 : 80);
  if (!parsed || (scheme != "http" && !tls) || parsed->hosts.size() != 1 || parsed->user) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("'{}' is no URL such as http://127.0.0.1:8081 (the admin "
                                  "listener) or http://127.0.0.1:8080/exports/42/x (a resource).",
                                  url));
  }
  Place place;
  place.client.host = parsed->hosts.front().host;
  place.client.port = parsed->hosts.front().port;
  place.client.tls = tls;
  const std::size_t slash = url.find('/', scheme.size() + 3);
  // As it was typed: what is encoded in it stays so.
  place.target = slash == std::string_view::npos ? "" : url.substr(slash);
  if (place.target == "/") {
    place.target.clear();
  }
  return place;
}

tl::unexpected<base::Error> no_answer(std::string_view url, int status) {
  return base::fail(ErrorKind::kMalformedRequest,
                    fmt::format("{} does not tell the mark of a fence (status {}).", url, status));
}

Result<Mark> mark_in_admin_answer(std::string_view url, const HttpAnswer& answer) {
  if (answer.status == kNotFound) {
    return Mark();
  }
  boost::system::error_code error;
  const boost::json::value body = boost::json::parse(answer.body, error);
  const boost::json::value* const mark =
      !error && body.is_object() ? body.get_object().if_contains("mark") : nullptr;
  const auto token = mark != nullptr && mark->is_string()
                         ? Token::parse(std::string_view(mark->get_string()))
                         : Token::parse("");
  if (answer.status != 200 || !token) {
    return no_answer(url, answer.status);
  }
  return Mark(*token);
}

Result<Mark> mark_in_route_answer(std::string_view url, const HttpAnswer& answer) {
  const auto highest = Token::parse(answer.field("Fencing-Highest"));
  if (!highest) {
    return no_answer(url, answer.status);
  }
  return Mark(*highest);
}

}  // namespace

Result<void> check_mark_url(std::string_view url) {
  auto place = parse_place(url);
  return place ? Result<void>() : base::pass_on(place.error());
}

Result<Mark> ask_for_mark(std::string_view url, const base::FenceKey& key, Token token) {
  auto place = parse_place(url);
  if (!place) {
    return base::pass_on(place.error());
  }
  auto http = make_blocking_http(place->client);
  if (!http) {
    return base::pass_on(http.error());
  }
  HttpCall call;
  call.deadline = kDeadline;
  const bool asks_admin = place->target.empty();
  if (asks_admin) {
    call.method = "GET";
    call.target = "/v1/fences/" + percent_encoded(key.text());
    const char* const secret =
        std::getenv("FENCELINE_ADMIN_TOKEN");  // NOLINT(concurrency-mt-unsafe)
    if (secret != nullptr && *secret != '\0') {
      call.fields.emplace_back("Authorization", std::string("Bearer ") + secret);
    }
  } else {
    call.method = "HEAD";
    call.target = place->target;
    call.fields.emplace_back("Fencing-Token", token.text());
  }
  const auto answer = (*http)->ask(call, {});
  if (!answer) {
    return tl::unexpected<base::Error>(answer.error());
  }
  return asks_admin ? mark_in_admin_answer(url, *answer) : mark_in_route_answer(url, *answer);
}

std::string explain_lost_memory(const base::FenceKey& key, Token token, Token mark) {
  return fmt::format(
      "the source gave token {0} for '{1}', but {2} was seen already: the source has lost its "
      "memory (it was restored, emptied or replaced), or the key had tokens of another source. "
      "Every write with token {0} is refused. Let the source count on above {2}; or, when every "
      "older holder is surely gone: fenceline fences reset '{1}' --to {0} --reason TEXT. See 'The "
      "token source was reset' in docs/operations.md.",
      token.value(), key.text(), mark.value());
}

}  // namespace fenceline::client
