// Our verifier against the signer that most S3 clients use.

#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/aws/verify.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr SystemTime kNow{std::chrono::seconds(1'369'353'600)};
constexpr int kRequests = 400;

class OneKey final : public KeyTable {
 public:
  [[nodiscard]] std::optional<std::string_view> secret_of(std::string_view key) const override {
    return key == "AKID" ? std::optional(kSecret) : std::nullopt;
  }
};

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

/// A request with the memory that its head looks at.
struct Stored {
  explicit Stored(const boost::json::object& from)
      : method(from.at("method").as_string()),
        path(from.at("path").as_string()),
        query(from.at("query").as_string()) {
    for (const auto& each : from.at("headers").as_array()) {
      fields.emplace_back(each.as_array()[0].as_string(), each.as_array()[1].as_string());
    }
  }

  [[nodiscard]] Result<std::optional<Verified>> verify_at(SystemTime now) const {
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

  std::string method;
  std::string path;
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;
};

TEST(BotocoreTest, EveryRequestThatItSignsIsTakenAndNoneThatWasChanged) {
  const auto lines = signed_requests();
  ASSERT_EQ(lines.size(), kRequests) << "is python3-botocore installed?";
  for (const std::string& line : lines) {
    const auto json = boost::json::parse(line).as_object();
    Stored request(json);
    const auto answer = request.verify_at(kNow);
    ASSERT_TRUE(answer && *answer) << line << "\n" << (answer ? "nobody" : answer.error().detail);
    EXPECT_EQ((*answer)->session_token, std::string_view(json.at("token").as_string())) << line;
    EXPECT_EQ((*answer)->presigned, json.at("presigned").as_bool()) << line;

    request.path += "x";
    EXPECT_FALSE(request.verify_at(kNow)) << line;
    request.path.pop_back();
    request.query += request.query.empty() ? "x" : "&x";
    EXPECT_FALSE(request.verify_at(kNow)) << line;
  }
}

}  // namespace
}  // namespace fenceline::base::aws
