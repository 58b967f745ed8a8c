#include "tests/base/aws/signed_client.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "base/aws/query.h"
#include "base/aws/sigv4.h"

namespace fenceline::base::aws {
namespace {

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    c = ascii_lower(c);
  }
  return text;
}

}  // namespace

std::string& SignedClient::value_of(std::string_view name) {
  for (auto& [each, value] : fields) {
    if (equal_names(each, name)) {
      return value;
    }
  }
  throw std::runtime_error("no such field");
}

void SignedClient::sign(std::string_view session) {
  FieldLines lines;
  std::string host;
  for (const auto& [name, value] : fields) {
    if (equal_names(name, "Host")) {
      host = value;
    } else {
      lines.add_named(name, value);
    }
  }
  const std::string target = path + (query.empty() ? "" : "?" + query);
  aws::sign({.method = method,
             .target = target,
             .host = host,
             .region = region,
             .payload_hash = hash,
             .time = time},
            {"AKID", std::string(kTestSecret), std::string(session)}, lines);
  fields = {{"Host", host}};
  for (auto& field : lines.list()) {
    fields.push_back(std::move(field));
  }
}

void SignedClient::presign(std::string_view expires, std::string_view session) {
  std::map<std::string, int> sorted;
  std::vector<Field> all;
  for (const auto& [name, value] : fields) {
    ++sorted[lower(name)];
    all.push_back({name, value});
  }
  std::vector<std::string_view> names;
  std::string joined;
  for (const auto& [name, count] : sorted) {
    names.emplace_back(name);
    joined += (joined.empty() ? "" : "%3B") + name;
  }
  const Scope scope{.date = timestamp_of(time).substr(0, 8), .region = region};
  query += (query.empty() ? "" : "&");
  query += "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F";
  append_encoded(query, scope.text(), true);
  query += "&X-Amz-Date=" + timestamp_of(time) + "&X-Amz-Expires=" + std::string(expires) +
           "&X-Amz-SignedHeaders=" + joined;
  if (!session.empty()) {
    query += "&X-Amz-Security-Token=" + std::string(session);
  }
  const std::string canonical = canonical_request({.method = method,
                                                   .path = path,
                                                   .query = query,
                                                   .fields = all,
                                                   .signed_names = names,
                                                   .payload_hash = hash});
  query += "&X-Amz-Signature=" +
           signature_of(signing_key(kTestSecret, scope),
                        string_to_sign(timestamp_of(time), scope.text(), canonical));
}

Result<std::optional<Verified>> SignedClient::ask(SystemTime now) const {
  RequestHead head;
  head.method_text = method;
  head.path = path;
  head.query = query;
  for (const auto& [name, value] : fields) {
    head.fields.push_back({name, value});
  }
  const std::vector<std::string> must_sign = {"fencing-token"};
  return verify(head, OneKey(), must_sign, now);
}

void expect_refused(const SignedClient& client, ErrorKind kind, std::string_view code,
                    SystemTime now) {
  const auto answer = client.ask(now);
  ASSERT_FALSE(answer) << "taken";
  EXPECT_EQ(answer.error().kind, kind) << answer.error().detail;
  EXPECT_EQ(answer.error().code, code) << answer.error().detail;
  EXPECT_FALSE(answer.error().detail.empty());
}

}  // namespace fenceline::base::aws
