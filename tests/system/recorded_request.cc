#include "tests/system/recorded_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <utility>

#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

constexpr std::int64_t kTorn = -1;

std::int64_t value_of(const std::string& content, std::size_t most_bytes) {
  std::int64_t token = 0;
  std::int64_t value = 0;
  if (std::sscanf(content.c_str(), "token=%" SCNd64 " value=%" SCNd64, &token, &value) != 2) {
    return kTorn;
  }
  return content_of(token, value, most_bytes) == content ? value : kTorn;
}

bool says(const Response& answer, std::string_view name, std::string_view value) {
  return answer.body.find(fmt::format("\"{}\":\"{}\"", name, value)) != std::string::npos;
}

bool is_problem(const Response& answer, std::string_view type) {
  return says(answer, "type", fmt::format("urn:fenceline:problem:{}", type));
}

struct Expected {
  Trouble trouble;
  int status;
  std::string_view type;
};

constexpr std::array kExpected = {
    Expected{Trouble::kStorageMayFail, 500, "storage-failed"},
    Expected{Trouble::kStorageMayFail, 503, "draining"},
    Expected{Trouble::kStorageMayFail, 503, "ledger-unavailable"},
    Expected{Trouble::kStorageMayFail, 503, "overloaded"},
    Expected{Trouble::kStorageMayFail, 507, "insufficient-storage"},
    Expected{Trouble::kUpstreamMayFail, 502, "upstream-failed"},
    Expected{Trouble::kUpstreamMayFail, 503, "draining"},
    Expected{Trouble::kUpstreamMayFail, 503, "overloaded"},
    Expected{Trouble::kUpstreamMayFail, 504, "upstream-timeout"},
};

/// True if `answer` is one for this trouble; its outcome goes into `operation`.
bool understand_trouble(const Response& answer, Operation& operation, Trouble trouble) {
  const bool known = std::ranges::any_of(kExpected, [&](const Expected& each) {
    return each.trouble == trouble && answer.status == each.status && is_problem(answer, each.type);
  });
  operation.outcome = says(answer, "applied", "no") ? Outcome::kNotApplied : Outcome::kUnknown;
  return known && (operation.outcome == Outcome::kNotApplied || says(answer, "applied", "unknown"));
}

/// Apache 2.4 looks for a file, then opens it; that it is gone by then it calls 403. So such a read
/// saw nothing that could be judged.
bool is_lost_read(const Response& answer, const Operation& operation, Trouble trouble) {
  return trouble == Trouble::kUpstreamMayFail && operation.kind == Kind::kRead &&
         answer.status == 403 && answer.body.find("urn:fenceline:") == std::string::npos;
}

}  // namespace

std::string content_of(std::int64_t token, std::int64_t value, std::size_t most_bytes) {
  std::string content = fmt::format("token={} value={}\n", token, value);
  const std::int64_t size = value * 7919 % static_cast<std::int64_t>(most_bytes);
  for (std::int64_t i = 0; i < size; ++i) {
    content += static_cast<char>('a' + (value + i) % 26);
  }
  return content;
}

std::string request_of(const Operation& operation, std::size_t most_bytes) {
  const std::string path = "/" + operation.resource;
  switch (operation.kind) {
    case Kind::kWrite:
      return fenced_put(path, operation.token,
                        content_of(operation.token, operation.value, most_bytes));
    case Kind::kDelete:
      return fenced_request("DELETE", path, operation.token);
    case Kind::kRead:
      break;
  }
  return fenced_request("GET", path, operation.token);
}

bool understand(const Response& answer, Operation& operation, std::size_t most_bytes,
                Trouble trouble) {
  if (is_lost_read(answer, operation, trouble)) {
    operation.outcome = Outcome::kUnknown;
    return true;
  }
  operation.outcome = Outcome::kDone;
  switch (answer.status) {
    case 200:
      operation.value = value_of(answer.body, most_bytes);
      return operation.kind == Kind::kRead;
    case 201:
      return operation.kind == Kind::kWrite;
    case 204:
      return operation.kind != Kind::kRead;
    case 404:
      // Also a delete has then seen, inside its fence, that there is nothing.
      operation.value = 0;
      return std::exchange(operation.kind, Kind::kRead) != Kind::kWrite;
    case 412:
      operation.outcome = Outcome::kFenced;
      return is_problem(answer, "stale-token") && says(answer, "applied", "no");
    default:
      return understand_trouble(answer, operation, trouble);
  }
}

bool is_torn(const Operation& operation) {
  return operation.kind == Kind::kRead && operation.value == kTorn;
}

}  // namespace fenceline::testing
