#include "tests/system/lease_server.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <cstdlib>

namespace fenceline::testing {

std::string LeaseServer::config(std::string_view leases) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
leases: {}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: exports}}
)",
                     leases);
}

std::string post_json(std::string_view target, std::string_view body, std::string_view fields) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n{}Content-Length: "
      "{}\r\n\r\n{}",
      target, fields, body.size(), body);
}

std::string lease_order(std::string_view holder, std::string_view ttl, std::string_view more) {
  return fmt::format(R"({{"holder":"{}","ttl":"{}"{}}})", holder, ttl, more);
}

Response LeaseServer::take(std::string_view key, std::string_view holder, std::string_view ttl,
                           std::string_view more) {
  return connect().exchange(
      post_json(fmt::format("/leases/{}", key), lease_order(holder, ttl, more)));
}

Response LeaseServer::renew(std::string_view location, std::string_view body) {
  return connect().exchange(
      fmt::format("PUT {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  location, body.size(), body));
}

Response LeaseServer::release(std::string_view location) {
  return connect().exchange(fmt::format("DELETE {} HTTP/1.1\r\nHost: test\r\n\r\n", location));
}

Response LeaseServer::show(std::string_view key) {
  return connect().exchange(fmt::format("GET /leases/{} HTTP/1.1\r\nHost: test\r\n\r\n", key));
}

Response LeaseServer::revoke(std::string_view key) {
  RawClient client(process().admin_port());
  return client.exchange(
      post_json(fmt::format("/v1/leases/{}", key),
                R"({"action":"revoke","reason":"the host is gone","by":"eve"})"));
}

double LeaseServer::count(std::string_view metric) {
  const std::string text = "\n" + admin("/metrics").body;
  const std::string line = "\n" + std::string(metric) + " ";
  const std::size_t at = text.find(line);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + line.size(), nullptr);
}

boost::json::object json_of(const Response& answer) {
  boost::system::error_code error;
  const auto value = boost::json::parse(answer.body, error);
  if (error || !value.is_object()) {
    throw ClientError("no JSON object: " + answer.body);
  }
  return value.as_object();
}

std::string text_in(const Response& answer, std::string_view member) {
  const auto object = json_of(answer);
  const auto* const value = object.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::int64_t number_in(const Response& answer, std::string_view member) {
  const auto object = json_of(answer);
  const auto* const value = object.if_contains(member);
  if (value == nullptr || !value->is_number()) {
    throw ClientError("no number '" + std::string(member) + "' in " + answer.body);
  }
  return value->to_number<std::int64_t>();
}

std::int64_t token_in(const Response& answer) {
  return std::strtoll(text_in(answer, "token").c_str(), nullptr, 10);
}

}  // namespace fenceline::testing
