// The keys of the sqlite and the http backend: what is read, and what is wrong with one alone.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/upstream.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

using Methods = std::vector<std::string>;

class BackendKeyErrors : public testing::TestWithParam<ErrorCase> {};

/// The text goes on in the backend (six blanks, from line 8), or in the route (four).
TEST_P(BackendKeyErrors, AreAllReportedInTheirPlaces) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

// Long sentences stand on several lines.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
INSTANTIATE_TEST_SUITE_P(
    Sqlite, BackendKeyErrors,
    testing::Values(
        ErrorCase{"UnknownKey",
                  kSqliteBase + "      tabel: x\n",
                  {"8:7: unknown key `routes[0].sqlite.tabel`; did you mean `table`?"}},
        ErrorCase{"NoDatabase",
                  kRoute + "    sqlite: {table: x}\n",
                  {"6:13: the key `routes[0].sqlite.database` is missing"}},
        ErrorCase{
            "NoFile",
            kRoute + "    sqlite: {database: \":memory:\"}\n",
            {"6:24: `routes[0].sqlite.database`: \":memory:\" is no file; write a path, as in "
             "var/jobs.db"}},
        ErrorCase{"NamesOfTables",
                  kSqliteBase + "      table: a-b\n      marks: SQLite_x\n",
                  {"8:14: `routes[0].sqlite.table`: \"a-b\" is no name of a table or column; use a "
                   "letter or \"_\", then letters, digits and \"_\", at most 64",
                   "9:14: `routes[0].sqlite.marks`: \"SQLite_x\": SQLite keeps the names with "
                   "\"sqlite_\" for itself"}},
        ErrorCase{
            "LongName",
            kSqliteBase + "      table: " + std::string(65, 'a') + "\n",
            {"8:14: `routes[0].sqlite.table`: \"" + std::string(65, 'a') +
             "\" is no name of a table or column; use a letter or \"_\", then letters, digits "
             "and \"_\", at most 64"}},
        ErrorCase{"MarksAreTheTable",
                  kSqliteBase + "      table: Things\n      marks: things\n",
                  {"9:14: `routes[0].sqlite.marks` and `table` are both \"things\"; the marks need "
                   "a table of their own"}},
        ErrorCase{"TheTableIsTheDefaultMarks",
                  kSqliteBase + "      table: fenceline_marks\n",
                  {"8:14: `routes[0].sqlite.marks` and `table` are both \"fenceline_marks\"; the "
                   "marks need a table of their own"}},
        ErrorCase{
            "Columns",
            kSqliteBase + "      columns: {value: 1a, etag: \"a b\", size: x}\n",
            {"8:16: the key `routes[0].sqlite.columns.key` is missing",
             "8:24: `routes[0].sqlite.columns.value`: \"1a\" is no name of a table or column; "
             "use a letter or \"_\", then letters, digits and \"_\", at most 64",
             "8:34: `routes[0].sqlite.columns.etag`: \"a b\" is no name of a table or column; "
             "use a letter or \"_\", then letters, digits and \"_\", at most 64",
             "8:41: unknown key `routes[0].sqlite.columns.size`; the keys here are key, "
             "value, content_type, etag, modified"}},
        ErrorCase{
            "OneColumnTwice",
            kSqliteBase + "      columns: {key: id, value: data, etag: ID}\n",
            {"8:45: `routes[0].sqlite.columns.etag`: \"ID\" is also the column of `key`; each "
             "needs its own"}},
        ErrorCase{"NoTableAndNoStatements",
                  kSqliteBase + "      table: none\n",
                  {"8:14: `routes[0].sqlite.table`: without a table and without `statements` the "
                   "route does nothing; give it one of them"}},
        ErrorCase{"ColumnsWithoutTable",
                  kSqliteBase + "      table: none\n      statements: {a: X}\n"
                                "      columns: {key: k, value: v}\n",
                  {"10:16: `routes[0].sqlite.columns` are those of a table, and `table` is none; "
                   "remove one of them"}},
        ErrorCase{"StatementsAreAMap",
                  kSqliteBase + "      statements: [a]\n",
                  {"8:19: `routes[0].sqlite.statements`: must be a map of names and SQL with at "
                   "least one entry, but is a list"}},
        ErrorCase{"StatementsEmpty",
                  kSqliteBase + "      statements: {}\n",
                  {"8:19: `routes[0].sqlite.statements`: must be a map of names and SQL with at "
                   "least one entry, but is empty"}},
        ErrorCase{
            "Statements",
            kSqliteBase + R"(      statements:
        Bad: SELECT 1
        blank: " "
        none:
        list: [a]
        long: {mode: reed}
        more: {sql: SELECT 1, args: 2}
        bell: "SELECT '\a'"
)",
            {"9:9: `routes[0].sqlite.statements`: \"Bad\" is no name of a statement; use 1 to "
             "64 lower-case letters, digits, \"-\" and \"_\"",
             "10:16: `routes[0].sqlite.statements`: the SQL is empty",
             "11:9: `routes[0].sqlite.statements[none]` has no value; give it SQL, or remove "
             "it",
             "12:15: `routes[0].sqlite.statements`: must be a single value, but is a list",
             "13:15: the key `routes[0].sqlite.statements[long].sql` is missing",
             "13:22: `routes[0].sqlite.statements[long].mode`: \"reed\" is not one of read, "
             "write; did you mean read?",
             "14:31: unknown key `routes[0].sqlite.statements[more].args`; the keys here are "
             "mode, sql",
             "15:15: `routes[0].sqlite.statements`: has a control byte or is not valid "
             "UTF-8"}},
        ErrorCase{"PostWithoutStatements",
                  kSqliteBase + "    methods: [GET, POST]\n",
                  {"8:20: `routes[0].methods`: \"POST\" is not one of GET, HEAD, PUT, DELETE"}},
        ErrorCase{"PutWithoutTable",
                  kSqliteBase + "      table: none\n      statements: {a: X}\n"
                                "    methods: [PUT]\n",
                  {"10:15: `routes[0].methods`: \"PUT\" is not one of POST"}},
        ErrorCase{"BodyTooBig",
                  kSqliteBase + "    limits: {body: 513MiB}\n",
                  {"8:20: `routes[0].limits.body`: 513MiB is out of range; allowed are 0B to "
                   "512MiB"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Http, BackendKeyErrors,
    testing::Values(
        ErrorCase{"UnknownKey",
                  kHttpBase + "      setle: 1m\n",
                  {"8:7: unknown key `routes[0].http.setle`; did you mean `settle`?"}},
        ErrorCase{"NoUpstream",
                  kRoute + "    http: {probe: true}\n",
                  {"6:11: the key `routes[0].http.upstream` is missing"}},
        ErrorCase{"Upstream",
                  kRoute + "    http: {upstream: 127.0.0.1:80}\n",
                  {"6:22: `routes[0].http.upstream`: \"127.0.0.1:80\" is no upstream: it does not "
                   "begin with http:// or https://; write http://127.0.0.1:5984/base"}},
        ErrorCase{"ValuesOfEveryKey",
                  kHttpBase + R"(      commit: mov
      settle: never
      reads: [GET, get, PUT, MOVE, GET]
      host: both
      timeout: 0s
      connect_timeout: 25h
      keep_alive: 30
      connections: 0
      idle_connections: 1025
      probe: no
      retry_body: 2GiB
)",
                  {"8:15: `routes[0].http.commit`: \"mov\" is not one of auto, move, conditional, "
                   "plain; did you mean move?",
                   "9:15: `routes[0].http.settle`: \"never\" is no duration: it must start with a "
                   "digit; write a number and a unit of ms, s, m, h, as in 30s; or manual",
                   "10:20: `routes[0].http.reads`: \"get\" is no method (RFC 9110, 9.1); methods "
                   "begin with a letter and are written in upper case, as in GET",
                   "10:25: `routes[0].http.reads`: PUT writes; as a read it would pass without a "
                   "token",
                   "10:30: `routes[0].http.reads`: MOVE changes two resources and a fence covers "
                   "one key, so it is never let through",
                   "10:36: `routes[0].http.reads`: \"GET\" is in the list twice",
                   "11:13: `routes[0].http.host`: \"both\" is not one of upstream, client",
                   "12:16: `routes[0].http.timeout`: 0s is out of range; allowed are 1ms to 24h",
                   "13:24: `routes[0].http.connect_timeout`: 25h is out of range; allowed are 1ms "
                   "to 24h",
                   "14:19: `routes[0].http.keep_alive`: \"30\" is no duration: it has no unit; "
                   "write a number and a unit of ms, s, m, h, as in 30s",
                   "15:20: `routes[0].http.connections`: 0 is out of range; allowed are 1 to "
                   "1000000",
                   "16:25: `routes[0].http.idle_connections`: 1025 is out of range; allowed are 0 "
                   "to 1024",
                   "17:14: `routes[0].http.probe`: \"no\" is neither true nor false",
                   "18:19: `routes[0].http.retry_body`: 2GiB is out of range; allowed are 0B to "
                   "1GiB"}},
        ErrorCase{"CredentialsOfNeitherKind",
                  kHttpBase + "      credentials: {}\n",
                  {"8:20: `routes[0].http.credentials`: name one of `basic` and `bearer`"}},
        ErrorCase{"CredentialsOfBothKinds",
                  kHttpBase + "      credentials: {bearer: x, basic: {user: u, password: p}}\n",
                  {"8:20: `routes[0].http.credentials`: name one of `basic` and `bearer`"}},
        ErrorCase{
            "SecretsThatAreNotQuoted",
            kHttpBase + "      credentials: {bearer: \"hunter2 \"}\n",
            {"8:29: `routes[0].http.credentials.bearer`: a bearer token is 1 to 4096 letters, "
             "digits and \"-._~+/=\" (this one has 8 bytes)"}},
        ErrorCase{"BasicCredentials",
                  kHttpBase + "      credentials: {basic: {user: \"a:b\", password: \"\"}}\n",
                  {"8:35: `routes[0].http.credentials.basic.user`: the name of a user is 1 to 256 "
                   "bytes without a colon, which would end it",
                   "8:52: `routes[0].http.credentials.basic.password`: a password is 1 to 1024 "
                   "bytes (this one has 0)"}},
        ErrorCase{"TlsOfHttp",
                  kHttpBase + "      tls: {verify: false}\n",
                  {"8:12: `routes[0].http.tls`: the upstream is http; write https, or remove the "
                   "key"}},
        ErrorCase{"Tls",
                  kHttpsBase + "      tls: {ca: \"\", name: a..b, verify: 1, cert: x}\n",
                  {"8:17: `routes[0].http.tls.ca`: the path is empty",
                   "8:27: `routes[0].http.tls.name`: \"a..b\" is no name of a host: the host is "
                   "neither a name nor an IP address",
                   "8:41: `routes[0].http.tls.verify`: \"1\" is neither true nor false",
                   "8:44: unknown key `routes[0].http.tls.cert`; the keys here are ca, name, "
                   "verify"}},
        ErrorCase{"NoProbeAndNoCommit",
                  kHttpBase + "      probe: false\n",
                  {"8:14: `routes[0].http.probe`: without a probe nobody finds out what the "
                   "upstream can; name `commit`: move, conditional or plain"}},
        ErrorCase{"IdleAboveConnections",
                  kHttpBase + "      connections: 5\n      idle_connections: 6\n",
                  {"9:25: `routes[0].http.idle_connections`: 6 is out of range; allowed are 0 to "
                   "5"}},
        ErrorCase{"Methods",
                  kHttpBase + "    methods: [GET, CONNECT, COPY, \"a b\", PUT, PUT]\n",
                  {"8:20: `routes[0].methods`: CONNECT is never let through to an upstream",
                   "8:29: `routes[0].methods`: COPY changes two resources and a fence covers one "
                   "key, so it is never let through",
                   "8:35: `routes[0].methods`: \"a b\" is no method (RFC 9110, 9.1); methods begin "
                   "with a letter and are written in upper case, as in GET",
                   "8:47: `routes[0].methods`: \"PUT\" is in the list twice"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Both, BackendKeyErrors,
    testing::Values(ErrorCase{
        "TwoBackends",
        kHttpBase + "    files: {root: r}\n    sqlite: {databse: x}\n",
        {"7:7: `routes[0].http` is a second backend beside `files` (line 8); a route has "
         "one: remove one of them, or make two routes",
         "9:13: `routes[0].sqlite` is a second backend beside `files` (line 8); a route "
         "has one: remove one of them, or make two routes",
         "9:13: the key `routes[0].sqlite.database` is missing",
         "9:14: unknown key `routes[0].sqlite.databse`; did you mean `database`?"}}),
    case_name);
// NOLINTEND(bugprone-suspicious-missing-comma)

/// The only route of a configuration that must load.
Route only_route(const std::string& text) {
  const Loaded loaded = load_text(text);
  EXPECT_EQ(problems_of(loaded), std::vector<std::string>());
  return loaded.value().routes.at(0);
}

TEST(SqliteModel, Defaults) {
  const Route route = only_route(kSqliteBase);
  const auto& sqlite = std::get<SqliteBackend>(route.backend);
  SqliteBackend expected;
  expected.database = "jobs.db";
  EXPECT_EQ(sqlite, expected);
  EXPECT_EQ(sqlite.table, "documents");
  EXPECT_EQ(sqlite.columns.content_type, "content_type");
  EXPECT_EQ(route.body_limit_bytes, 16 * kMiB);
  EXPECT_EQ(route.methods, (Methods{"GET", "HEAD", "PUT", "DELETE"}));
}

TEST(SqliteModel, EveryKey) {
  const Route route = only_route(kSqliteBase + R"(      table: t
      columns: {key: k, value: v, etag: e}
      marks: m
      statements:
        finish: UPDATE job SET done=1
        list-2_x: {mode: read, sql: "SELECT $$1"}
        long:
          sql: |
            INSERT INTO a
            VALUES(1);
    limits: {body: 512MiB}
)");
  const auto& sqlite = std::get<SqliteBackend>(route.backend);
  EXPECT_EQ(sqlite.table, "t");
  EXPECT_TRUE(sqlite.mapped);
  EXPECT_EQ(sqlite.columns, (SqliteColumns{"k", "v", std::nullopt, "e", std::nullopt}));
  EXPECT_EQ(sqlite.marks, "m");
  ASSERT_EQ(sqlite.statements.size(), 3U);
  EXPECT_EQ(sqlite.statements[0],
            (SqliteStatement{"finish", StatementMode::kWrite, "UPDATE job SET done=1", {}}));
  EXPECT_EQ(sqlite.statements[0].place.line, 12);
  EXPECT_EQ(sqlite.statements[1],
            (SqliteStatement{"list-2_x", StatementMode::kRead, "SELECT $1", {}}));
  EXPECT_EQ(sqlite.statements[1].place.column, 37);
  EXPECT_EQ(sqlite.statements[2],
            (SqliteStatement{"long", StatementMode::kWrite, "INSERT INTO a\nVALUES(1);\n", {}}));
  EXPECT_EQ(route.methods, (Methods{"GET", "HEAD", "PUT", "DELETE", "POST"}));
  EXPECT_EQ(route.body_limit_bytes, 512 * kMiB);
}

TEST(SqliteModel, WhatWrites) {
  const std::string read = "      statements: {a: {mode: read, sql: SELECT 1}}\n";
  EXPECT_TRUE(only_route(kSqliteBase + read).takes_writes());
  const Route reads = only_route(kSqliteBase + read + "    methods: [GET, POST]\n");
  EXPECT_FALSE(reads.takes_writes());
  EXPECT_EQ(reads.methods, (Methods{"GET", "HEAD", "POST"}));
  const Route statements =
      only_route(kSqliteBase + "      table: none\n      statements: {a: X}\n");
  EXPECT_FALSE(std::get<SqliteBackend>(statements.backend).table);
  EXPECT_EQ(statements.methods, Methods{"POST"});
  EXPECT_TRUE(statements.takes_writes());
}

TEST(HttpModel, Defaults) {
  const Route route = only_route(kHttpBase);
  const auto& http = std::get<HttpBackend>(route.backend);
  HttpBackend expected;
  expected.upstream = {.tls = false, .host = "127.0.0.1", .port = 5984, .base_path = "/base"};
  EXPECT_EQ(http, expected);
  EXPECT_EQ(route.methods, (Methods{"GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"}));
  EXPECT_EQ(route.body_limit_bytes, kGiB);
  EXPECT_TRUE(route.takes_writes());
}

TEST(HttpModel, EveryKey) {
  const Route route = only_route(kHttpsBase + R"(      commit: plain
      settle: manual
      reads: [GET, PROPFIND, POST]
      host: client
      tls: {ca: ca.pem, name: Other.example, verify: false}
      timeout: 1ms
      connect_timeout: 2s
      keep_alive: 24h
      connections: 5
      probe: false
      retry_body: 0
)");
  const auto& http = std::get<HttpBackend>(route.backend);
  EXPECT_EQ(http.upstream, (Upstream{true, "h", 443, ""}));
  EXPECT_EQ(http.commit, CommitMode::kPlain);
  EXPECT_FALSE(http.settle);
  EXPECT_EQ(http.reads, (Methods{"GET", "HEAD", "PROPFIND", "POST"}));
  EXPECT_EQ(http.host, HostPolicy::kClient);
  EXPECT_EQ(http.tls, (UpstreamTls{"ca.pem", "other.example", false}));
  EXPECT_EQ(http.timeout, base::Milliseconds(1));
  EXPECT_EQ(http.connect_timeout, base::Milliseconds(2000));
  EXPECT_EQ(http.keep_alive, base::Milliseconds(86'400'000));
  EXPECT_EQ(http.connections, 5U);
  EXPECT_EQ(http.idle_connections, 5U);
  EXPECT_FALSE(http.probe);
  EXPECT_EQ(http.retry_body_bytes, 0U);
  EXPECT_EQ(route.methods,
            (Methods{"GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE", "PROPFIND"}));
}

TEST(HttpModel, Credentials) {
  const auto credentials = [](const std::string& text) {
    const Route route = only_route(kHttpBase + "      credentials: " + text + "\n");
    return std::get<HttpBackend>(route.backend).credentials;
  };
  EXPECT_EQ(credentials("{bearer: 7}"), UpstreamCredentials(BearerCredentials{"7"}));
  EXPECT_EQ(credentials("{bearer: \"${SHORT}\"}"),
            UpstreamCredentials(BearerCredentials{"hunter2"}));
  EXPECT_EQ(credentials("{basic: {user: u, password: \"p: é\"}}"),
            UpstreamCredentials(BasicCredentials{"u", "p: é"}));
  EXPECT_FALSE(std::get<HttpBackend>(only_route(kHttpBase).backend).credentials);
}

TEST(HttpModel, WhatWrites) {
  EXPECT_FALSE(only_route(kHttpBase + "    methods: [GET, OPTIONS]\n").takes_writes());
  EXPECT_TRUE(only_route(kHttpBase + "    methods: [GET, PROPFIND]\n").takes_writes());
  const Route own = only_route(kHttpBase + "      reads: [SEARCH]\n    methods: [SEARCH, GET]\n");
  EXPECT_EQ(own.methods, (Methods{"GET", "HEAD", "SEARCH"}));
  EXPECT_TRUE(own.takes_writes());  // GET is none of its reads.
  EXPECT_FALSE(is_write(own.backend, "SEARCH"));
}

TEST(UpstreamUrl, WhatIsRead) {
  const auto read = [](std::string_view text) {
    const auto upstream = parse_upstream(text);
    return upstream ? to_string(*upstream) : upstream.error();
  };
  EXPECT_EQ(read("http://h"), "http://h:80");
  EXPECT_EQ(read("https://h/"), "https://h:443");
  EXPECT_EQ(read("http://My_Host.Example:8080/a/b/"), "http://my_host.example:8080/a/b");
  EXPECT_EQ(read("http://[0:0::1]:5984/x%20y@"), "http://[::1]:5984/x%20y@");
  EXPECT_EQ(read("https://[::1]"), "https://[::1]:443");
  EXPECT_EQ(read("http://10.0.0.1:65535"), "http://10.0.0.1:65535");
}

TEST(UpstreamUrl, WhatIsRefused) {
  for (const std::string text : {"",
                                 "h",
                                 "http:",
                                 "http:/h",
                                 "http://",
                                 "http:///a",
                                 "ftp://h",
                                 "HTTP://h",
                                 "http://h:",
                                 "http://h:0",
                                 "http://h:65536",
                                 "http://h:080",
                                 "http://h:+1",
                                 "http://h:8a",
                                 "http://[::1",
                                 "http://[::1]a",
                                 "http://[::g]",
                                 "http://[127.0.0.1]",
                                 "http://::1",
                                 "http://256.0.0.1",
                                 "http://127.1",
                                 "http://010.0.0.1",
                                 "http://h.0x7f",
                                 "http://-a",
                                 "http://a-",
                                 "http://a..b",
                                 "http://a.",
                                 "http://a b",
                                 "http://\xc3\xa9",
                                 "http://h?q",
                                 "http://h/a?q",
                                 "http://h#f",
                                 "http://h/a#f",
                                 "http://h//",
                                 "http://h/a//b",
                                 "http://h/.",
                                 "http://h/a/../b",
                                 "http://h/%2e%2e/a",
                                 "http://h/a%2Fb",
                                 "http://h/a%5cb",
                                 "http://h/%00",
                                 "http://h/%7f",
                                 "http://h/%",
                                 "http://h/%4",
                                 "http://h/%zz",
                                 "http://h/a b",
                                 "http://h/\"",
                                 "http://h/\\",
                                 "http://h/\x01",
                                 "http://h/\xc3\xa9",
                                 "http://h%41/"}) {
    const auto upstream = parse_upstream(text);
    EXPECT_FALSE(upstream) << text;
    EXPECT_NE(upstream ? std::string() : upstream.error(), std::string());
  }
  EXPECT_FALSE(parse_upstream("http://" + std::string(64, 'a')));
  EXPECT_TRUE(parse_upstream("http://" + std::string(63, 'a')));
  EXPECT_FALSE(parse_upstream("http://h/" + std::string(1024, 'a')));
}

TEST(UpstreamUrl, CredentialsAreRefusedAndNeverShown) {
  for (const std::string text : {"http://u:hunter2@h/", "u:hunter2@h", "//u:hunter2@h",
                                 "http:u:hunter2@h", "https://hunter2@h:1/a?b"}) {
    const auto upstream = parse_upstream(text);
    ASSERT_FALSE(upstream) << text;
    EXPECT_EQ(upstream.error().find("hunter2"), std::string::npos) << upstream.error();
  }
}

TEST(UpstreamUrl, WhatSharesResources) {
  const auto share = [](std::string_view first, std::string_view second) {
    return share_resources(parse_upstream(first).value(), parse_upstream(second).value());
  };
  EXPECT_TRUE(share("http://h", "http://H:80/"));
  EXPECT_TRUE(share("http://h/a", "http://h"));
  EXPECT_TRUE(share("http://h/a", "http://h/a/b"));
  EXPECT_TRUE(share("http://h/a%20", "http://h/%61%20/b"));
  EXPECT_FALSE(share("http://h/a", "http://h/ab"));
  EXPECT_FALSE(share("http://h/a", "http://h:81/a"));
  EXPECT_FALSE(share("http://h/a", "http://i/a"));
}

}  // namespace
}  // namespace fenceline::config
