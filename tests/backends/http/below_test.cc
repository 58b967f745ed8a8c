// Writes that reach below their own path: a fence that does not cover what is there must not let
// them.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;

/// In front of nginx in the mode that its probe finds (move), in front of Apache plain.
class HttpBelow : public ::testing::TestWithParam<UpstreamKind> {
 protected:
  HttpBelow() {
    EXPECT_EQ(driver.put("dir/child", "of a newer token").status / 100, 2);
    EXPECT_EQ(driver.put("file", "one").status / 100, 2);
  }

  static std::filesystem::path with_folder(const RealUpstream& server) {
    std::filesystem::create_directory(server.root() / "dir");
    std::filesystem::permissions(server.root() / "dir", std::filesystem::perms::all);
    return server.root();
  }

  Answer remove(const std::string& name, bool covered, Fields fields = {}) {
    auto request = std::make_unique<HttpRequest>("DELETE", name, std::move(fields));
    if (covered) {
      request->cover_below();
    }
    PieceSource body({}, true);
    return driver.stage_source(std::move(request), body).commit();
  }

  [[nodiscard]] bool child_is_there() const {
    return server.content("dir/child") == "of a newer token";
  }

  RealUpstream server{GetParam()};
  std::filesystem::path root = with_folder(server);
  HttpDriver driver{options_for(server.port(), CommitMode::kAuto)};
};

TEST_P(HttpBelow, ACollectionIsNotDeletedWithItsMembers) {
  for (const Fields& depth : {Fields{}, Fields{{"Depth", "infinity"}},
                              Fields{{"Depth", "infinity"}, {"Connection", "Depth"}}}) {
    const Answer refused = remove("dir/", false, depth);
    ASSERT_TRUE(refused.error) << refused.status;
    EXPECT_EQ(refused.error_name(), "name-conflict");
    EXPECT_NE(refused.error->detail.find("fence above"), std::string::npos);
    EXPECT_EQ(remove("", false, depth).error_name(), "name-conflict");
    // Whether it is one, the upstream knows.
    EXPECT_EQ(remove("dir", false, depth).status / 100, 4);
    EXPECT_TRUE(child_is_there());
  }
}

TEST_P(HttpBelow, AFileIsDeletedAsBefore) {
  EXPECT_EQ(remove("file", false).status, 204);
  EXPECT_FALSE(server.content("file"));
  EXPECT_EQ(remove("dir/child", false, {{"Depth", "infinity"}}).status, 204);
  EXPECT_FALSE(child_is_there());
}

TEST_P(HttpBelow, AFenceThatCoversAllOfItLetsACollectionGo) {
  EXPECT_EQ(remove("dir/", true).status, 204);
  EXPECT_FALSE(std::filesystem::exists(root / "dir"));
}

INSTANTIATE_TEST_SUITE_P(Servers, HttpBelow,
                         ::testing::Values(UpstreamKind::kNginx, UpstreamKind::kApache));

class HttpDepth : public ::testing::TestWithParam<CommitMode> {
 protected:
  std::optional<std::string> sent(const std::string& method, bool covered, Fields fields) {
    upstream.forget();
    auto request = std::make_unique<HttpRequest>(method, "a", std::move(fields));
    if (covered) {
      request->cover_below();
    }
    PieceSource body({"x"}, true);
    PieceSource none({}, true);
    driver.stage_source(std::move(request), method == "DELETE" ? none : body).commit();
    const auto seen = upstream.requests(method);
    if (seen.empty()) {
      return "nothing was sent";
    }
    const std::string value = seen.at(0).field("Depth");
    return value.empty() ? std::nullopt : std::optional(value);
  }

  static backends::http::HttpOptions options(std::uint16_t port) {
    auto options = options_for(port, GetParam());
    options.methods = {"GET", "PUT", "DELETE", "LOCK", "POST"};
    return options;
  }

  ConditionalUpstream upstream;
  HttpDriver driver{options(upstream.port())};
};

TEST_P(HttpDepth, IsZeroWhereTheFenceIsThatOfOneResource) {
  for (const Fields& fields : {Fields{}, Fields{{"Depth", "infinity"}}, Fields{{"depth", "1"}}}) {
    driver.put("a", "one");
    EXPECT_EQ(sent("DELETE", false, fields), "0");
    EXPECT_EQ(sent("LOCK", false, fields), "0");
    EXPECT_EQ(sent("POST", false, fields), std::nullopt);
    EXPECT_EQ(sent("PUT", false, fields), std::nullopt);
  }
}

TEST_P(HttpDepth, IsTheClientsWhereTheFenceCoversAllBelow) {
  driver.put("a", "one");
  EXPECT_EQ(sent("LOCK", true, {{"Depth", "infinity"}}), "infinity");
  EXPECT_EQ(sent("DELETE", true, {}), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Modes, HttpDepth,
                         ::testing::Values(CommitMode::kPlain, CommitMode::kConditional));

TEST(HttpBelowTwo, WhatChangesASecondResourceIsRefused) {
  ConditionalUpstream upstream;
  HttpDriver driver(options_for(upstream.port(), CommitMode::kPlain));
  upstream.forget();
  for (const char* method : {"MOVE", "COPY", "BIND", "UNBIND", "REBIND"}) {
    EXPECT_EQ(driver.stage(method, "a", "").commit().error_name(), "method-not-allowed") << method;
  }
  EXPECT_TRUE(upstream.requests().empty());
}

}  // namespace
}  // namespace fenceline::testing
