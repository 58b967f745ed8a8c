// What is wrong between parts of a configuration that are right alone.

#include "config/validate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "config/guarantee.h"
#include "config/same_data.h"
#include "config/yaml_tree.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

class CrossErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(CrossErrors, AreAllReportedInTheirPlaces) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

// Long sentences stand on several lines.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
INSTANTIATE_TEST_SUITE_P(
    Loader, CrossErrors,
    testing::Values(
        ErrorCase{"DupName",
                  kBase + R"(  - name: data
    match: /jobs/{id}
    files: {root: var/jobs}
)",
                  {"7:11: the route name `data` is already in line 4"}},
        ErrorCase{"Conflict",
                  kBase + R"(  - name: jobs
    match: /{a}/x
    files: {root: var/jobs}
)",
                  {"8:12: \"/{a}/x\" and \"/data/{path...}\" of route `data` (line 5) share paths "
                   "and neither is more specific; make one of them so"}},
        ErrorCase{"Equal",
                  kBase + R"(  - name: jobs
    match: /data/
    files: {root: var/jobs}
)",
                  {"8:12: \"/data/\" takes the same paths as \"/data/{path...}\" of route `data` "
                   "(line 5)"}},
        ErrorCase{"Nested",
                  kBase + R"(  - name: jobs
    match: /jobs/{id}
    files: {root: var/data/jobs}
)",
                  {"9:19: the files root \"/w/var/data/jobs\" and that of route `data` (line 6), "
                   "\"/w/var/data\", are inside one another; files must have one fence: use "
                   "separate directories"}},
        ErrorCase{"SameRoot",
                  kBase + R"(  - name: jobs
    match: /jobs/{id}
    files: {root: var/data}
)",
                  {"9:19: the files root \"/w/var/data\" is also that of route `data` (line 6), "
                   "but the fences \"jobs/<resource>\" and \"data/<resource>\" do not provably "
                   "give the same file the same key; give both routes the same `fence`, with "
                   "matches that capture alike"}},
        ErrorCase{"LeasePathOfARoute",
                  kBase + R"(leases: {path: /data/x}
)",
                  {"7:16: the paths of the lease service, \"/data/x\" and all below it, are also "
                   "taken by \"/data/{path...}\" of route `data` (line 5); give one of them "
                   "another"}},
        ErrorCase{"RouteBelowTheLeasePath",
                  kBase + R"(  - name: jobs
    match: /leases/{a}/{b}
    files: {root: var/jobs}
leases: {}
)",
                  {"10:9: the paths of the lease service, \"/leases\" and all below it, are also "
                   "taken by \"/leases/{a}/{b}\" of route `jobs` (line 8); give one of them "
                   "another"}},
        ErrorCase{"LeaseLimits",
                  kBase + R"(leases: {max_ttl: 500ms, lock_delay: 2m}
)",
                  {"7:9: `leases.min_ttl` (1s) is above `leases.max_ttl` (500ms); lower the one or "
                   "raise the other",
                   "7:9: `leases.lock_delay` (2m) is above `leases.max_lock_delay` (1m); lower the "
                   "one or raise the other"}},
        ErrorCase{"AdminSame",
                  kBase + R"(admin: {listen: 127.0.0.1:8080}
)",
                  {"7:17: the admin listener and `listen` (line 1) are both 127.0.0.1:8080; choose "
                   "another port"}},
        ErrorCase{"AdminOpen",
                  kBase + R"(admin: {listen: 0.0.0.0:8081}
)",
                  {"7:17: the admin listener 0.0.0.0:8081 can be reached by other machines and has "
                   "no `admin.token`; set one, or listen on 127.0.0.1"}},
        ErrorCase{"BodyAboveStaged",
                  kBase + R"(    limits: {body: 20GiB}
)",
                  {"7:20: route `data` takes bodies up to 20GiB, more than `limits.staged` (16GiB) "
                   "has room for; lower `limits.body` of the route or raise the other"}},
        ErrorCase{"RequireAbove",
                  kBase + R"(    writes: optional
    require: bounded
)",
                  {"8:14: route `data` requires bounded but gives detect. Writes without a token "
                   "pass unfenced (writes: optional); writes with one are fenced."}},
        ErrorCase{
            "LedgerInRoot",
            kBase + R"(  - name: b
    match: /b/{x}
    files: {root: var}
)",
            {"2:18: the ledger \"var/ledger.db\" is inside the files root \"/w/var\" of route `b` "
             "(line 9), where clients could overwrite the fence; move one of them",
             "9:19: the files root \"/w/var\" and that of route `data` (line 6), \"/w/var/data\", "
             "are inside one another; files must have one fence: use separate directories"}},
        ErrorCase{"ThreeRoutesTwoConflicts",
                  kBase + R"(  - name: b
    match: /{x}/y
    files: {root: b}
  - name: data
    match: /data/
    files: {root: c}
)",
                  {"8:12: \"/{x}/y\" and \"/data/{path...}\" of route `data` (line 5) share paths "
                   "and neither is more specific; make one of them so",
                   "10:11: the route name `data` is already in line 4",
                   "11:12: \"/data/\" takes the same paths as \"/data/{path...}\" of route `data` "
                   "(line 5)",
                   "11:12: \"/data/\" and \"/{x}/y\" of route `b` (line 8) share paths and neither "
                   "is more specific; make one of them so"}},
        ErrorCase{"TlsKeyInRoot",
                  R"(listen: {address: 127.0.0.1:1, tls: {certificate: c, key: r/k}}
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:19: the TLS key \"r/k\" is inside the files root \"/w/r\" of route `a` (line "
                   "3), where clients could read it; move one of them"}},
        ErrorCase{"AdminAllV6",
                  kBase + R"(admin: {listen: "[::]:8081"}
)",
                  {"7:17: the admin listener [::]:8081 can be reached by other machines and has no "
                   "`admin.token`; set one, or listen on 127.0.0.1"}}),
    case_name);
// NOLINTEND(bugprone-suspicious-missing-comma)

std::string two_routes(const std::string& first, const std::string& second) {
  return "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n  - {name: a, match: "
         "\"/a/{t}/{p...}\", " +
         first + "}\n  - {name: b, match: \"/b/{t}/{p...}\", " + second + "}\n";
}

TEST(SharedRoot, IsAllowedWithProvablyTheSameKeys) {
  const std::string fence = "fence: \"x/{t}\", ";
  EXPECT_EQ(
      problems_of(load_text(two_routes(fence + "files: {root: r}", fence + "files: {root: r}"))),
      std::vector<std::string>());
}

TEST(SharedRoot, NeedsTheSameSync) {
  const std::string fence = "fence: \"x/{t}\", ";
  EXPECT_EQ(
      problems_of(load_text(
          two_routes(fence + "files: {root: r}", fence + "files: {root: r, sync: none}"))),
      std::vector<std::string>{"5:69: the files root \"/w/r\" is also that of route `a` (line "
                               "4), which has another `sync`"});
}

TEST(SharedRoot, GivesNoMoreThanItsWeakestWriter) {
  const std::string fence = "fence: \"x/{t}\", files: {root: r}, ";
  const Loaded loaded = load_text(two_routes(fence + "writes: required", fence + "writes: off"));
  EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
  ASSERT_TRUE(loaded);
  const auto given = guarantees(loaded->routes, [](const std::string& path) { return path; });
  EXPECT_EQ(given[0].level, Guarantee::kNone);
  EXPECT_EQ(given[0].reason,
            "Route `b` writes the same files. Tokens are not looked at (writes: off): nothing is "
            "fenced.");
  EXPECT_EQ(given[1].level, Guarantee::kNone);

  EXPECT_EQ(
      problems_of(load_text(
          two_routes(fence + "require: strict", fence + "enforce: false, methods: [PUT]"))),
      std::vector<std::string>{
          "4:82: route `a` requires strict but gives detect. Route `b` writes the same files. "
          "Stale writes are logged and counted but pass (enforce: false, observe only)."});
  // A reader takes nothing away.
  EXPECT_EQ(problems_of(load_text(
                two_routes(fence + "require: strict", fence + "writes: off, methods: [GET]"))),
            std::vector<std::string>());
}

TEST(Guarantee, FollowsTheTable) {
  const auto level = [](const std::string& options) {
    const Loaded loaded =
        load_text("listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes: [{name: a, match: /a, " +
                  options + "}]");
    EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
    const RouteGuarantee given = route_guarantee(loaded->routes[0]);
    EXPECT_FALSE(given.reason.empty());
    return to_string(given.level);
  };
  const std::string full = "files: {root: r, sync: full}";
  const std::string none = "files: {root: r, sync: none}";
  EXPECT_EQ(level(full), "strict");
  EXPECT_EQ(level(none), "bounded");
  EXPECT_EQ(level("writes: optional, " + full), "detect");
  EXPECT_EQ(level("writes: optional, " + none), "detect");
  EXPECT_EQ(level("enforce: false, " + full), "detect");
  EXPECT_EQ(level("writes: off, " + full), "none");
  EXPECT_EQ(level("writes: off, enforce: false, " + none), "none");
  // Each route may require what it gives, and less.
  EXPECT_EQ(level("require: strict, " + full), "strict");
  EXPECT_EQ(level("require: detect, " + full), "strict");
  EXPECT_EQ(level("require: bounded, " + none), "bounded");
  EXPECT_EQ(level("require: detect, writes: optional, " + none), "detect");
}

TEST(Paths, InsideIsByWholeNames) {
  EXPECT_TRUE(is_inside("/a/b", "/a/b"));
  EXPECT_TRUE(is_inside("/a/b/c", "/a/b"));
  EXPECT_TRUE(is_inside("/a", "/"));
  EXPECT_FALSE(is_inside("/a/bc", "/a/b"));
  EXPECT_FALSE(is_inside("/a", "/a/b"));
}

/// Files and links in a directory of their own.
class RealPaths : public testing::Test {
 protected:
  RealPaths() {
    std::string pattern = testing::TempDir() + "fenceline-config-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(directory_ + "/data/sub");
  }

 public:
  RealPaths(const RealPaths&) = delete;
  RealPaths& operator=(const RealPaths&) = delete;
  ~RealPaths() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

 protected:
  [[nodiscard]] const std::string& directory() const { return directory_; }

  [[nodiscard]] std::size_t problems(const std::string& first_root,
                                     const std::string& second_root) const {
    const std::string text = two_routes("files: {root: " + directory_ + first_root + "}",
                                        "files: {root: " + directory_ + second_root + "}");
    return problems_of(load(text, "f", test_environment, canonical_path)).size();
  }

 private:
  std::string directory_;
};

TEST_F(RealPaths, AliasesOfOneDirectoryAreSeen) {
  std::filesystem::create_directory_symlink(directory() + "/data", directory() + "/link");
  EXPECT_EQ(problems("/data", "/other"), 0U);
  EXPECT_EQ(problems("/data", "/data"), 1U);
  EXPECT_EQ(problems("/data", "/data/"), 1U);
  EXPECT_EQ(problems("/data", "/./other/../data"), 1U);
  EXPECT_EQ(problems("/data", "/link"), 1U);
  EXPECT_EQ(problems("/data", "/link/not/there/yet"), 1U);
  EXPECT_EQ(problems("/link/sub", "/data"), 1U);
  EXPECT_EQ(problems("/link/sub", "/data/other"), 0U);
}

TEST_F(RealPaths, CanonicalPathIsAbsoluteAndNeverThrows) {
  EXPECT_TRUE(canonical_path("some/where").starts_with('/'));
  EXPECT_EQ(canonical_path("some/where"), canonical_path("./some//where/"));
  EXPECT_EQ(canonical_path("/"), "/");
  std::filesystem::create_directory_symlink("loop", directory() + "/loop");
  EXPECT_EQ(canonical_path(directory() + "/loop/x"), directory() + "/loop/x");
}

TEST_F(RealPaths, FilesAreLoaded) {
  const std::string path = directory() + "/f.yaml";
  const auto first_problem = [&path] { return to_string(load_file(path).error().at(0)); };
  EXPECT_EQ(first_problem(), path + ": cannot open the configuration: No such file or directory");
  std::ofstream(path) << kBase;
  EXPECT_TRUE(load_file(path));
  std::ofstream(path) << "listen: x\n";
  EXPECT_EQ(first_problem(), path + ":1:1: the key `ledger` is missing");
  std::ofstream(path) << std::string(kMaxConfigBytes + 5, '#');
  EXPECT_EQ(first_problem(),
            path + ": the file has more than the 1048576 bytes that are read; shorten it");
  EXPECT_EQ(to_string(load_file(directory()).error().at(0)),
            directory() + ": this is a directory, not a configuration file");
}

}  // namespace
}  // namespace fenceline::config
