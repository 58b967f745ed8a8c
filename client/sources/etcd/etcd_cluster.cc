#include "client/sources/etcd/etcd_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "client/blocking_http.h"
#include "client/sources/one_key.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using std::chrono::steady_clock;

constexpr int kNotFoundStatus = 404;
constexpr Milliseconds kPause{100};

struct Member {
  std::string address;
  std::unique_ptr<BlockingHttp> http;
};

std::string address_of(const SourceHost& host) {
  const bool is_v6 = host.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host.host, host.port)
               : fmt::format("{}:{}", host.host, host.port);
}

/// What a stream says comes in `result`, or as an `error` that is an object.
std::optional<EtcdAnswer> read_answer(const HttpAnswer& http) {
  boost::system::error_code failure;
  const boost::json::value value = boost::json::parse(http.body, failure);
  if (failure || !value.is_object()) {
    return std::nullopt;
  }
  EtcdAnswer answer;
  answer.body = value.get_object();
  if (const auto* const result = answer.body.if_contains("result"); result && result->is_object()) {
    answer.body = boost::json::object(result->get_object());
    return answer;
  }
  const boost::json::object* said = &answer.body;
  if (const auto* const error = answer.body.if_contains("error"); error && error->is_object()) {
    said = &error->get_object();
  } else if (error == nullptr) {
    return http.status == 200 ? std::optional(std::move(answer)) : std::nullopt;
  }
  const auto* code = said->if_contains("code");
  code = code == nullptr ? said->if_contains("grpc_code") : code;
  const auto* const message = said->if_contains("message");
  if (code == nullptr || !code->is_int64() || code->get_int64() <= 0) {
    return std::nullopt;
  }
  answer.code = static_cast<EtcdCode>(code->get_int64());
  answer.message = message && message->is_string() ? message->get_string().c_str() : "";
  return answer;
}

/// The session token is unknown to this member, or older than the users and roles.
bool asks_for_login(const EtcdAnswer& answer) {
  return answer.code == EtcdCode::kUnauthenticated ||
         answer.message.find("auth token") != std::string::npos ||
         answer.message.find("revision of auth store") != std::string::npos;
}

bool is_refusal(const EtcdAnswer& answer) {
  return asks_for_login(answer) || answer.code == EtcdCode::kForbidden ||
         answer.message.find("user name is empty") != std::string::npos ||
         answer.message.find("authentication failed") != std::string::npos;
}

class GatewayCluster final : public EtcdCluster {
 public:
  GatewayCluster(std::vector<Member> members, std::string user, std::string password)
      : members_(std::move(members)), user_(std::move(user)), password_(std::move(password)) {}

  Result<EtcdAnswer> call(std::string_view path, const boost::json::object& body,
                          Milliseconds limit, std::stop_token stop) override {
    const auto end = steady_clock::now() + limit;
    // Each member once, and the first one again: its connection may have been the stale one.
    const Milliseconds share = limit / static_cast<int>(members_.size() + 1);
    const StopEvent stopped(stop);
    std::size_t unreachable = 0;
    bool repeated = false;
    bool logged_in_again = false;
    while (true) {
      const auto left = std::chrono::ceil<Milliseconds>(end - steady_clock::now());
      auto answer = ask(path, body, std::clamp(left, Milliseconds(1), share), stop);
      if (answer && answer->code != EtcdCode::kUnavailable) {
        if (asks_for_login(*answer) && !user_.empty() && !logged_in_again) {
          logged_in_again = true;
          token_.clear();
          continue;
        }
        if (is_refusal(*answer)) {
          return tl::unexpected(refused(*answer));
        }
        answer->repeated = repeated;
        return answer;
      }
      if (!answer && answer.error().kind != ErrorKind::kUpstreamFailed &&
          answer.error().kind != ErrorKind::kUpstreamTimeout) {
        return answer;
      }
      repeated |= answer || answer.error().applied != Applied::kNo;
      unreachable += answer ? 0 : 1;
      if (unreachable > members_.size() || steady_clock::now() + kPause >= end) {
        base::Error error = answer ? unavailable(*answer) : std::move(answer.error());
        error.applied = repeated ? Applied::kUnknown : Applied::kNo;
        return tl::unexpected(std::move(error));
      }
      current_ = (current_ + 1) % members_.size();
      // There may be no leader yet; where nobody listens, the next one is asked at once.
      if (answer && stopped.wait(-1, 0, kPause) == Woken::kStopped) {
        return tl::unexpected(stopped_error(Applied::kUnknown));
      }
    }
  }

  [[nodiscard]] std::string address() const override { return members_[current_].address; }

 private:
  Result<EtcdAnswer> ask(std::string_view path, const boost::json::object& body, Milliseconds limit,
                         const std::stop_token& stop) {
    if (!user_.empty() && token_.empty()) {
      auto answer =
          post("/v3/auth/authenticate", {{"name", user_}, {"password", password_}}, limit, stop);
      if (!answer || answer->code == EtcdCode::kUnavailable) {
        if (!answer) {
          answer.error().applied = Applied::kNo;
        }
        return answer;
      }
      if (answer->code == EtcdCode::kOk) {
        const auto* const token = answer->body.if_contains("token");
        token_ = token && token->is_string() ? token->get_string().c_str() : "";
      } else if (answer->code != EtcdCode::kPrecondition) {  // That is: it has no authentication.
        return tl::unexpected(refused(*answer));
      }
    }
    return post(path, body, limit, stop);
  }

  Result<EtcdAnswer> post(std::string_view path, const boost::json::object& body,
                          Milliseconds limit, const std::stop_token& stop) {
    HttpCall call;
    call.method = "POST";
    call.target = path;
    call.fields = {{"Content-Type", "application/json"}};
    if (!token_.empty()) {
      call.fields.emplace_back("Authorization", token_);
    }
    call.body = boost::json::serialize(body);
    call.deadline = limit;
    auto http = members_[current_].http->ask(call, stop);
    if (!http) {
      return base::pass_on(http.error());
    }
    auto answer = read_answer(*http);
    if (answer) {
      return std::move(*answer);
    }
    return base::fail(
        ErrorKind::kUpstreamFailed,
        fmt::format("What answers at {} with status {} is no etcd{}.", address(), http->status,
                    http->status == kNotFoundStatus
                        ? " 3.4 or newer with its JSON gateway (--enable-grpc-gateway)"
                        : ""),
        Applied::kUnknown);
  }

  [[nodiscard]] base::Error unavailable(const EtcdAnswer& answer) const {
    return {.kind = ErrorKind::kUpstreamFailed,
            .detail = fmt::format("etcd at {} cannot decide: {}.", address(), answer.message),
            .applied = Applied::kUnknown};
  }

  [[nodiscard]] base::Error refused(const EtcdAnswer& answer) const {
    return {.kind = ErrorKind::kUnauthorized,
            .detail = fmt::format("etcd at {} refuses {}: {}. Its role needs readwrite on the "
                                  "prefix; name it as etcd://user:password@….",
                                  address(), user_.empty() ? "who does not log in" : user_,
                                  answer.message),
            .applied = Applied::kNo};
  }

  std::vector<Member> members_;
  std::string user_;
  std::string password_;
  std::string token_;
  std::size_t current_ = 0;
};

}  // namespace

Result<std::unique_ptr<EtcdCluster>> make_etcd_cluster(const EtcdOptions& options) {
  std::vector<Member> members;
  for (const SourceHost& host : options.members) {
    base::net::HttpClientOptions http;
    http.host = host.host;
    http.port = host.port;
    http.tls = options.tls;
    http.tls_ca_file = options.ca_file;
    auto made = make_blocking_http(http);
    if (!made) {
      return base::pass_on(made.error());
    }
    members.push_back({address_of(host), std::move(*made)});
  }
  return std::make_unique<GatewayCluster>(std::move(members), options.user, options.password);
}

}  // namespace fenceline::client
