// The published signatures (awslabs/aws-c-auth), where the folder with them is beside the project.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/aws/query.h"
#include "base/aws/sigv4.h"

#ifdef FENCELINE_SIGV4_VECTORS

namespace fenceline::base::aws {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

/// A request as the vectors write it: a line that begins with a blank belongs to the one before it.
struct Written {
  explicit Written(const std::string& from) : text(from) {
    const auto lines = split(text, '\n');
    const std::size_t first_blank = lines[0].find(' ');
    const std::size_t last_blank = lines[0].rfind(' ');
    method = lines[0].substr(0, first_blank);
    const std::string_view target = lines[0].substr(first_blank + 1, last_blank - first_blank - 1);
    path = target.substr(0, target.find('?'));
    query = target.substr(std::min(path.size() + 1, target.size()));
    for (std::size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
      const std::string_view line = lines[i];
      if (line.front() == ' ') {
        std::string_view& value = fields.back().value;
        value = {value.data(), static_cast<std::size_t>(line.data() + line.size() - value.data())};
        continue;
      }
      fields.push_back({line.substr(0, line.find(':')), line.substr(line.find(':') + 1)});
    }
  }

  std::string text;
  std::string_view method;
  std::string_view path;
  std::string_view query;
  std::vector<Field> fields;
};

class VectorTest : public ::testing::TestWithParam<std::string> {
 protected:
  void check(const std::string& form) {
    const fs::path folder = fs::path(FENCELINE_SIGV4_VECTORS) / GetParam();
    const auto context = boost::json::parse(content_of(folder / "context.json")).as_object();
    const std::string canonical = content_of(folder / (form + "-canonical-request.txt"));
    const Written written(content_of(folder / (form + "-signed-request.txt")));
    const auto lines = split(canonical, '\n');
    const auto names = split(lines[lines.size() - 2], ';');
    std::string query;
    auto pairs = *split_query(written.query);
    // A session token may also be added after the signing.
    const bool late_token =
        context.contains("omit_session_token") && context.at("omit_session_token").as_bool();
    std::erase_if(pairs, [late_token](const auto& pair) {
      return pair.first == "X-Amz-Signature" ||
             (late_token && pair.first == "X-Amz-Security-Token");
    });
    query = canonical_query(pairs);
    const SignedParts parts{.method = written.method,
                            .path = written.path,
                            .query = query,
                            .fields = written.fields,
                            .signed_names = names,
                            .payload_hash = lines.back()};
    const auto rule =
        context.at("normalize").as_bool() ? PathRule::kNormalized : PathRule::kEncodedTwice;
    EXPECT_EQ(canonical_request(parts, rule), canonical);

    const std::string to_sign = content_of(folder / (form + "-string-to-sign.txt"));
    const auto sign_lines = split(to_sign, '\n');
    EXPECT_EQ(string_to_sign(sign_lines[1], sign_lines[2], canonical), to_sign);

    const Scope scope{.date = std::string(sign_lines[1].substr(0, 8)),
                      .region = std::string(context.at("region").as_string()),
                      .service = std::string(context.at("service").as_string())};
    EXPECT_EQ(scope.text(), sign_lines[2]);
    const auto& credentials = context.at("credentials").as_object();
    const SigningKey key =
        signing_key(std::string(credentials.at("secret_access_key").as_string()), scope);
    EXPECT_EQ(signature_of(key, to_sign), content_of(folder / (form + "-signature.txt")));
  }
};

TEST_P(VectorTest, InTheHeader) { check("header"); }
TEST_P(VectorTest, InTheQuery) { check("query"); }

std::vector<std::string> all_vectors() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(FENCELINE_SIGV4_VECTORS)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(SigV4, VectorTest, ::testing::ValuesIn(all_vectors()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace fenceline::base::aws

#endif
