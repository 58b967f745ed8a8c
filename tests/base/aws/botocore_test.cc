// Our verifier and our signer against the signer that most S3 clients use.

#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/aws/verify.h"
#include "base/field_syntax.h"
#include "tests/base/aws/signed_client.h"

namespace fenceline::base::aws {
namespace {

constexpr int kRequests = 600;

std::vector<std::string> signed_requests() {
  // Debian's own Python: another one may not have botocore.
  const std::string command = "/usr/bin/python3 " FENCELINE_SOURCE_DIR
                              "/tests/base/aws/botocore_requests.py " +
                              std::to_string(kRequests) + " 7";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string all;
  std::array<char, 65'536> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    all.append(buffer.data(), got);
  }
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < all.size();) {
    const std::size_t end = std::min(all.find('\n', start), all.size());
    lines.push_back(all.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

SignedClient client_of(const boost::json::object& json) {
  SignedClient client;
  client.method = json.at("method").as_string();
  client.path = json.at("path").as_string();
  client.query = json.at("query").as_string();
  client.region = json.at("region").as_string();
  client.fields.clear();
  for (const auto& each : json.at("headers").as_array()) {
    client.add(std::string(each.as_array()[0].as_string()),
               std::string(each.as_array()[1].as_string()));
  }
  return client;
}

bool is_taken(const SignedClient& client) {
  const auto answer = client.ask();
  return answer && *answer;
}

void expect_no_change_is_taken(const SignedClient& good) {
  const auto changed = [&good](auto change) {
    SignedClient client = good;
    change(client);
    EXPECT_FALSE(is_taken(client));
  };
  changed([](SignedClient& c) { c.method += "X"; });
  changed([](SignedClient& c) { c.path += "x"; });
  changed([](SignedClient& c) { c.path += "/"; });
  changed([](SignedClient& c) { c.query += c.query.empty() ? "x" : "&x"; });
  const auto answer = good.ask();
  for (const std::string& name : (*answer)->signed_names) {
    SCOPED_TRACE(name);
    changed([&name](SignedClient& c) { c.value_of(name) += "0"; });
    changed([&name](SignedClient& c) { c.add(name, "0"); });
    changed([&name](SignedClient& c) {
      std::erase_if(c.fields, [&name](const auto& each) { return equal_names(each.first, name); });
    });
  }
}

/// What our signer adds to the fields that botocore was given.
std::string authorization_by_us(const SignedClient& theirs, const std::string& token) {
  SignedClient ours = theirs;
  ours.hash = ours.value_of("x-amz-content-sha256");
  std::erase_if(ours.fields, [](const auto& each) {
    const std::string_view name = each.first;
    return equal_names(name, "x-amz-date") || equal_names(name, "x-amz-content-sha256") ||
           equal_names(name, "x-amz-security-token") || equal_names(name, "authorization");
  });
  ours.sign(token);
  return ours.value_of("authorization");
}

TEST(BotocoreTest, EveryRequestThatItSignsIsTakenAndNoneThatWasChanged) {
  const auto lines = signed_requests();
  ASSERT_EQ(lines.size(), kRequests) << "is python3-botocore installed?";
  std::map<Payload, int> payloads;
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    const auto json = boost::json::parse(line).as_object();
    SignedClient client = client_of(json);
    const auto answer = client.ask();
    ASSERT_TRUE(answer && *answer) << (answer ? "nobody" : answer.error().detail);
    const std::string token(json.at("token").as_string());
    EXPECT_EQ((*answer)->session_token, token);
    EXPECT_EQ((*answer)->presigned, json.at("presigned").as_bool());
    ++payloads[(*answer)->payload];
    if (!(*answer)->presigned) {
      EXPECT_EQ(authorization_by_us(client, token), client.value_of("authorization"));
    }
    expect_no_change_is_taken(client);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(payloads[Payload::kHash], 50);
  EXPECT_GT(payloads[Payload::kUnsigned], 50);
  EXPECT_GT(payloads[Payload::kUnsignedTrailer], 50);
}

}  // namespace
}  // namespace fenceline::base::aws
