// Routes over the same database, table or upstream, and what they guarantee.

#include "config/same_data.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/guarantee.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

/// Route `a` in line 4, route `b` in line 5; `options` go on in the map of the route. Both matches
/// capture alike.
std::string two_routes(const std::string& first, const std::string& second) {
  return "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n"
         "  - {name: a, match: \"/a/{t}/{p...}\", " +
         first + "}\n  - {name: b, match: \"/b/{t}/{p...}\", " + second + "}\n";
}

using Problems = std::vector<std::string>;

Problems problems_with(const std::string& first, const std::string& second) {
  return problems_of(load_text(two_routes(first, second)));
}

std::string sqlite(const std::string& more) { return "sqlite: {database: d" + more + "}"; }
std::string http(const std::string& url, const std::string& more = "") {
  return "http: {upstream: \"" + url + "\"" + more + "}";
}

const std::string kFence = "fence: \"x/{t}\", ";

TEST(SameDatabase, ADocumentHasOneFence) {
  EXPECT_EQ(problems_with(sqlite(""), sqlite(", table: Documents")),
            Problems{"5:58: the table `Documents` of the database \"/w/d\" is also that of route "
                     "`a` (line 4), but the fences \"b/<resource>\" and \"a/<resource>\" do not "
                     "provably give the same document the same key; give both routes the same "
                     "`fence`, with matches that capture alike"});
  EXPECT_EQ(problems_with(kFence + sqlite(""), kFence + sqlite("")), Problems());
  EXPECT_EQ(problems_with(sqlite(""), sqlite(", table: other")), Problems());
  EXPECT_EQ(problems_with(sqlite(""), "sqlite: {database: e}"), Problems());
  EXPECT_EQ(problems_with(sqlite(""), "sqlite: {database: /w/d}").size(), 1U);
}

TEST(SameDatabase, StatementsAreTheOperatorsWord) {
  const std::string statements = ", table: none, statements: {s: X}";
  EXPECT_EQ(problems_with(sqlite(""), sqlite(statements)), Problems());
  EXPECT_EQ(problems_with(sqlite(statements), sqlite(statements)), Problems());
}

TEST(SameDatabase, HasOneTableOfMarksAndOneMapping) {
  EXPECT_EQ(problems_with(sqlite(""), sqlite(", table: other, marks: m")),
            Problems{"5:58: the database \"/w/d\" is also that of route `a` (line 4), which has "
                     "another `marks`"});
  EXPECT_EQ(problems_with(kFence + sqlite(""), kFence + sqlite(", columns: {key: k, value: v}")),
            Problems{"5:74: the table `documents` of the database \"/w/d\" is also that of route "
                     "`a` (line 4), which has another `columns`"});
}

TEST(SameDatabase, IsNeitherTheLedgerNorBelowAFilesRoot) {
  EXPECT_EQ(problems_with("files: {root: r}", "sqlite: {database: l}"),
            Problems{"5:58: the database \"/w/l\" is the ledger (line 2), which belongs to this "
                     "server alone; use another file"});
  EXPECT_EQ(problems_with("files: {root: r}", "sqlite: {database: r/x/d}"),
            Problems{"5:58: the database \"/w/r/x/d\" is inside the files root \"/w/r\" of route "
                     "`a` (line 4), where clients could overwrite it; move one of them"});
  EXPECT_EQ(problems_with("sqlite: {database: r/d}", "files: {root: r}").size(), 1U);
  EXPECT_EQ(problems_with("files: {root: r}", "sqlite: {database: rx}"), Problems());
}

TEST(SameUpstream, AResourceHasOneFence) {
  EXPECT_EQ(problems_with(http("http://h/a"), http("http://H:80/a/")),
            Problems{"5:56: the upstream http://h:80/a is also that of route `a` (line 4), but the "
                     "fences \"b/<resource>\" and \"a/<resource>\" do not provably give the same "
                     "resource the same key; give both routes the same `fence`, with matches that "
                     "capture alike"});
  EXPECT_EQ(problems_with(kFence + http("http://h/a"), kFence + http("http://h/a")), Problems());
  EXPECT_EQ(problems_with(kFence + http("http://h/a"), kFence + http("http://h/%61")), Problems());
  EXPECT_EQ(problems_with(http("http://h/a"), http("http://h/b")), Problems());
  EXPECT_EQ(problems_with(http("http://h/a"), http("http://h:81/a")), Problems());
}

TEST(SameUpstream, BasePathsAreNotNested) {
  EXPECT_EQ(problems_with(kFence + http("http://h"), kFence + http("http://h/a")),
            Problems{"5:72: the upstream http://h:80/a and that of route `a` (line 4), "
                     "http://h:80, are inside one another; a resource must have one fence: give "
                     "both routes the same base path and the same `fence`"});
  EXPECT_EQ(problems_with(kFence + http("http://h/a/b"), kFence + http("http://h/a")).size(), 1U);
}

TEST(BackendGuarantee, FollowsTheTable) {
  const auto level = [](const std::string& options) {
    const Loaded loaded =
        load_text("listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes: [{name: a, match: /a, " +
                  options + "}]");
    EXPECT_EQ(problems_of(loaded), Problems());
    const RouteGuarantee given = route_guarantee(loaded->routes[0]);
    EXPECT_FALSE(given.reason.empty());
    return to_string(given.level);
  };
  EXPECT_EQ(level("require: strict, " + sqlite("")), "strict");
  EXPECT_EQ(level("writes: optional, " + sqlite("")), "detect");
  EXPECT_EQ(level("require: strict, " + http("http://h")), "strict");
  EXPECT_EQ(level("require: strict, " + http("http://h", ", commit: move")), "strict");
  EXPECT_EQ(level("require: strict, " + http("http://h", ", commit: conditional")), "strict");
  EXPECT_EQ(level("require: bounded, " + http("http://h", ", commit: plain")), "bounded");
  EXPECT_EQ(level(http("http://h", ", commit: plain, settle: manual")), "bounded");
  EXPECT_EQ(level("enforce: false, " + http("http://h", ", commit: plain")), "detect");
  EXPECT_EQ(level(http("http://h", ", commit: conditional, probe: false")), "bounded");
  EXPECT_EQ(level(http("http://h", ", commit: move, probe: false")), "bounded");
}

TEST(BackendGuarantee, StatementsShareAFence) {
  const auto level = [](const std::string& route) {
    const Loaded loaded =
        load_text("listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes: [{name: a, " + route + "}]");
    EXPECT_EQ(problems_of(loaded), Problems());
    return to_string(route_guarantee(loaded->routes[0]).level);
  };
  const std::string writes = sqlite(", statements: {s: X}");
  const std::string reads = sqlite(", statements: {s: {mode: read, sql: X}}");
  EXPECT_EQ(level("match: \"/a/{t}/{call}\", " + writes), "bounded");
  EXPECT_EQ(level("match: \"/a/{rest...}\", " + writes), "bounded");
  EXPECT_EQ(level("match: \"/a/{t}/{call}\", fence: \"x/{call}\", " + writes), "bounded");
  EXPECT_EQ(level("match: \"/a/{t}/{call}\", fence: \"x/{t}\", " + writes), "strict");
  EXPECT_EQ(level("match: \"/a/{t}/s\", " + writes), "strict") << "only this one";
  EXPECT_EQ(level("match: \"/a/{t}/{call}\", " + reads), "strict");
  EXPECT_EQ(level("match: \"/a/{t}/{call}\", methods: [PUT, GET], " + writes), "strict");
}

TEST(BackendGuarantee, PlainIsNotStrict) {
  EXPECT_EQ(problems_with("files: {root: r}",
                          "require: strict, " + http("http://h", ", commit: plain, settle: 2m")),
            Problems{"5:48: route `b` requires strict but gives bounded. Strict unless the "
                     "upstream applies a write later than 2m after its connection was closed "
                     "(commit: plain)."});
}

TEST(BackendGuarantee, IsNoMoreThanThatOfTheWeakestWriter) {
  const auto levels = [](const std::string& first, const std::string& second) {
    const Loaded loaded = load_text(two_routes(first, second));
    EXPECT_EQ(problems_of(loaded), Problems());
    const auto given = guarantees(loaded->routes, [](const std::string& path) { return path; });
    return std::string(to_string(given[0].level)) + " " + std::string(to_string(given[1].level));
  };
  EXPECT_EQ(levels(kFence + sqlite(""), kFence + "writes: off, " + sqlite("")), "none none");
  EXPECT_EQ(levels(sqlite(""), "writes: off, " + sqlite(", table: other")), "strict none");
  EXPECT_EQ(levels(sqlite(""), "writes: off, " + sqlite(", table: other, statements: {s: X}")),
            "none none");
  EXPECT_EQ(levels(sqlite(", statements: {s: X}"), "enforce: false, " + sqlite(", table: other")),
            "detect detect");
  EXPECT_EQ(levels(kFence + http("http://h"), kFence + http("http://h", ", commit: plain")),
            "bounded bounded");
  EXPECT_EQ(levels(http("http://h"), http("http://i", ", commit: plain")), "strict bounded");
}

TEST(SameBackend, SeesEverySetting) {
  const auto same = [](const std::string& first, const std::string& second) {
    const Loaded one = load_text(two_routes(first, "files: {root: z}"));
    const Loaded other = load_text(two_routes(second, "files: {root: z}"));
    EXPECT_EQ(problems_of(one), Problems());
    EXPECT_EQ(problems_of(other), Problems());
    const auto resolve = [](const std::string& path) { return path == "link" ? "d" : path; };
    const Route& a = one->routes[0];
    const Route& b = other->routes[0];
    return same_backend(a, store_of(a, resolve), b, store_of(b, resolve));
  };
  EXPECT_TRUE(same(sqlite(""), sqlite("")));
  EXPECT_TRUE(same(sqlite(""), "sqlite: {database: link}"));
  EXPECT_TRUE(same("files: {root: d}", "files: {root: link}"));
  EXPECT_FALSE(same("files: {root: d}", "files: {root: d, sync: none}"));
  EXPECT_FALSE(same("files: {root: d}", sqlite("")));
  for (const std::string more :
       {", table: t", ", marks: m", ", columns: {key: k, value: v}", ", statements: {a: X}"}) {
    EXPECT_FALSE(same(sqlite(""), sqlite(more))) << more;
  }
  EXPECT_FALSE(same(sqlite(", statements: {a: X}"), sqlite(", statements: {a: Y}")));
  EXPECT_FALSE(
      same(sqlite(", statements: {a: X}"), sqlite(", statements: {a: {mode: read, sql: X}}")));
  EXPECT_TRUE(same(http("https://h"), http("https://h:443/")));
  for (const std::string more :
       {", commit: move", ", settle: manual", ", reads: [GET]", ", host: client", ", tls: {ca: c}",
        ", tls: {name: n}", ", tls: {verify: false}", ", timeout: 1s", ", connect_timeout: 1s",
        ", keep_alive: 1s", ", connections: 99", ", idle_connections: 9", ", retry_body: 1",
        ", credentials: {bearer: x}"}) {
    EXPECT_FALSE(same(http("https://h"), http("https://h", more))) << more;
  }
  EXPECT_FALSE(
      same(http("https://h", ", commit: move"), http("https://h", ", commit: move, probe: false")));
}

}  // namespace
}  // namespace fenceline::config
