#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/loader.h"

namespace fenceline::config {

/// The smallest configuration; its lines are 1 to 6, and the last one is inside the route, so a
/// test can go on with keys of the route (four blanks), more routes (two) or more of the top
/// (none).
inline const std::string kBase = R"(listen: 127.0.0.1:8080
ledger: {sqlite: var/ledger.db}
routes:
  - name: data
    match: /data/{path...}
    files: {root: var/data}
)";

/// A route without a backend, in lines 4 and 5.
inline const std::string kRoute = R"(listen: 127.0.0.1:8080
ledger: {sqlite: var/ledger.db}
routes:
  - name: jobs
    match: /jobs/{path...}
)";

/// The route with each backend; the last line, 7, is inside the backend (six blanks).
inline const std::string kSqliteBase = kRoute + "    sqlite:\n      database: jobs.db\n";
inline const std::string kHttpBase =
    kRoute + "    http:\n      upstream: http://127.0.0.1:5984/base\n";
inline const std::string kHttpsBase = kRoute + "    http:\n      upstream: https://h\n";

inline const std::string kS3Route = R"(listen: 127.0.0.1:8080
ledger: {sqlite: var/ledger.db}
routes:
  - name: media
    match: /media/{key...}
)";

/// The same for S3, with all that it needs; the last line is 9.
inline const std::string kS3Base = kS3Route +
                                   "    s3:\n      endpoint: http://h:9000\n"
                                   "      bucket: photos\n"
                                   "      clients: [{access_key: worker, secret_key: hush}]\n";

/// A text and what is wrong with it, in the order of the file.
struct ErrorCase {
  std::string name;  ///< Of the test.
  std::string text;
  std::vector<std::string> problems;
};

inline std::string case_name(const testing::TestParamInfo<ErrorCase>& info) {
  return info.param.name;
}

/// Variables that the tests may use.
inline std::optional<std::string> test_environment(const std::string& name) {
  static const std::map<std::string, std::string> kVariables{
      {"PORT", "8099"},     {"SECRET", "0123456789abcdef"},
      {"SHORT", "hunter2"}, {"DOLLAR", "${PORT}"},
      {"YAML", "a: {b"},    {"LINES", "a\nb"},
      {"EMPTY", ""}};
  const auto found = kVariables.find(name);
  return found == kVariables.end() ? std::nullopt : std::optional(found->second);
}

/// Loads without looking at the file system: every path is as it is written, below /w.
inline Loaded load_text(std::string_view text) {
  return load(text, "f", test_environment,
              [](const std::string& path) { return path.starts_with('/') ? path : "/w/" + path; });
}

/// The problems as they are printed, without the name of the file.
inline std::vector<std::string> problems_of(const Loaded& loaded) {
  std::vector<std::string> lines;
  if (!loaded) {
    for (const Problem& problem : loaded.error()) {
      lines.push_back(to_string(problem).substr(2));
    }
  }
  return lines;
}

}  // namespace fenceline::config
