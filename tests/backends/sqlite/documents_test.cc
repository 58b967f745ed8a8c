// What the contract suite does not ask of every backend: listings, limits, and tables that somebody
// else made.

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

namespace json = boost::json;

std::vector<std::string> names_of(const Answer& answer) {
  std::vector<std::string> names;
  const json::value listing = json::parse(answer.content);
  for (const auto& entry : listing.at("entries").as_array()) {
    names.emplace_back(entry.at("name").as_string());
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_F(SqliteBackendTest, AListingShowsWhatIsBelow) {
  open();
  for (const char* name : {"acme/b", "acme/a/x", "acme/\xc3\xa4 \"q\"", "acme2/y", "acme", "B"}) {
    put(backend(), name, "12345");
  }
  EXPECT_EQ(names_of(get(backend(), "acme/")), (Names{"a/x", "b", "\xc3\xa4 \"q\""}));
  EXPECT_EQ(names_of(get(backend(), "")).size(), 6U);
  EXPECT_EQ(names_of(get(backend(), "none/")), Names());
  EXPECT_EQ(names_of(get(backend(), "acme/", {}, "prefix=a%2F")), (Names{"a/x"}));
  EXPECT_EQ(names_of(get(backend(), "", {}, "prefix=acme")).size(), 5U);
  EXPECT_EQ(names_of(get(backend(), "acme/", {}, "after=a/x&prefix=b")), (Names{"b"}));

  const Answer answer = get(backend(), "acme/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Type"), "application/json");
  const json::value listing = json::parse(answer.content);
  const json::object& entry = listing.at("entries").as_array().at(0).as_object();
  EXPECT_EQ(entry.at("type").as_string(), "file");
  EXPECT_EQ(entry.at("size").as_int64(), 5);
  EXPECT_EQ(entry.at("modified").as_string().size(), 20U);
  EXPECT_EQ(head(backend(), "acme/").head_length_bytes, answer.content.size());
}

TEST_F(SqliteBackendTest, AListingComesInPages) {
  open();
  for (int i = 100; i < 125; ++i) {
    put(backend(), "f/" + std::to_string(i), "x");
  }
  Names all;
  std::string after;
  for (int page = 0; page < 9; ++page) {
    const Answer answer = get(backend(), "f/", {}, "limit=4" + after);
    const json::value listing = json::parse(answer.content);
    const Names names = names_of(answer);
    EXPECT_LE(names.size(), 4U);
    all.insert(all.end(), names.begin(), names.end());
    const auto* next = listing.as_object().if_contains("next");
    if (next == nullptr) {
      break;
    }
    after = "&after=" + std::string(next->as_string());
  }
  EXPECT_EQ(all.size(), 25U);
  EXPECT_EQ(get(backend(), "f/", {}, "limit=0").error_name(), "malformed-request");
  EXPECT_EQ(get(backend(), "f/", {}, "x=y").error_name(), "malformed-request");
}

TEST_F(SqliteBackendTest, AListingLeavesOutWhatNobodyCanName) {
  open();
  foreign().run(
      "INSERT INTO documents(name, body) VALUES('ok', 'x'), ('a//b', 'x'), ('../x', 'x'), "
      "('/x', 'x'), ('x/', 'x'), ('a' || char(10), 'x'), (x'6162', 'x')");
  EXPECT_EQ(names_of(get(backend(), "")), (Names{"ok"}));
}

TEST_F(SqliteBackendTest, ABodyAboveTheLimitIsRefused) {
  auto with = options();
  with.max_body_bytes = 10;
  open(std::move(with));
  EXPECT_EQ(put(backend(), "a", std::string(10, 'x')).status, 201);
  const Answer refused = put(backend(), "a", std::string(11, 'y'));
  EXPECT_EQ(refused.error_name(), "body-too-large");
  EXPECT_EQ(refused.error->applied, base::Applied::kNo);
  EXPECT_EQ(get(backend(), "a").content, std::string(10, 'x'));
}

TEST_F(SqliteBackendTest, NamesAndHeadersThatAreRefused) {
  open();
  for (const std::string name : {"a//b", "a/../b", "./a", "a\\b", "\xff", "a\nb"}) {
    EXPECT_EQ(put(backend(), name, "x").error_name(), "malformed-request") << name;
    EXPECT_EQ(get(backend(), name).error_name(), "malformed-request") << name;
    EXPECT_FALSE(backend().find_stamp(name)) << name;
  }
  EXPECT_EQ(get(backend(), std::string(4097, 'a')).error_name(), "target-too-long");
  EXPECT_EQ(put(backend(), "a/", "x").error_name(), "malformed-request");
  EXPECT_EQ(put(backend(), "", "x").error_name(), "malformed-request");
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Encoding", "gzip"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Range", "bytes 0-0/1"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(put(backend(), "a", "x", {{"Content-Type", "a"}, {"Content-Type", "b"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(foreign().value("SELECT count(*) FROM documents"), "0");
}

TEST_F(SqliteBackendTest, TagsNeverRepeatAlsoNotAfterARestart) {
  open();
  const std::string first = put(backend(), "a", "x").field("ETag");
  const std::string second = put(backend(), "a", "y").field("ETag");
  open();
  EXPECT_EQ(get(backend(), "a").field("ETag"), second);
  const std::string third = put(backend(), "a", "x").field("ETag");
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
}

TEST_F(SqliteBackendTest, AMappedTableWithKeysAndValuesOnly) {
  given("CREATE TABLE kv(k TEXT PRIMARY KEY, v TEXT, n INTEGER DEFAULT 7)");
  auto with = options();
  with.table = "kv";
  with.columns.key = "k";
  with.columns.value = "v";
  open(std::move(with));
  auto other = foreign();
  other.run("INSERT INTO kv(k, v) VALUES('theirs', 'gr\xc3\xbc\xc3\x9f dich'), ('nothing', NULL)");

  const Answer theirs = get(backend(), "theirs");
  EXPECT_EQ(theirs.content, "gr\xc3\xbc\xc3\x9f dich");
  EXPECT_EQ(theirs.field("Content-Type"), "application/octet-stream");
  EXPECT_EQ(theirs.field("Last-Modified"), "");
  EXPECT_EQ(head(backend(), "theirs").head_length_bytes, 11U) << "bytes, not characters";
  EXPECT_EQ(get(backend(), "nothing").content, "");
  EXPECT_FALSE(*backend().find_stamp("theirs")) << "not written through us";

  // Equal content has an equal tag: all that such a table can tell.
  const Answer written = put(backend(), "ours", "text", {{"Content-Type", "text/x"}});
  EXPECT_EQ(written.status, 201);
  EXPECT_EQ(get(backend(), "ours").field("ETag"), written.field("ETag"));
  EXPECT_EQ(put(backend(), "ours", "text").field("ETag"), written.field("ETag"));
  EXPECT_NE(put(backend(), "ours", "text2").field("ETag"), written.field("ETag"));
  EXPECT_EQ(put(backend(), "ours", "x", {{"If-Match", written.field("ETag")}}).error_name(),
            "precondition-failed");
  EXPECT_EQ(other.value("SELECT typeof(v) || n FROM kv WHERE k='ours'"), "text7")
      << "text stays text, and what we do not know stays as it is";
  put(backend(), "ours", std::string("\xff\x00", 2));
  EXPECT_EQ(other.value("SELECT typeof(v) FROM kv WHERE k='ours'"), "blob");
  EXPECT_EQ(get(backend(), "ours").content, std::string("\xff\x00", 2));
  other.run("UPDATE kv SET n=8 WHERE k='ours'");
  put(backend(), "ours", "again");
  EXPECT_EQ(other.value("SELECT n FROM kv WHERE k='ours'"), "8");
}

TEST_F(SqliteBackendTest, AColumnWithoutANameIsNotThere) {
  given("CREATE TABLE kv(k TEXT PRIMARY KEY, v TEXT, etag, modified, token, request_id)");
  for (auto optional : {&backends::SqliteColumns::etag, &backends::SqliteColumns::content_type}) {
    auto with = options();
    with.table = "kv";
    with.mapped = true;
    with.columns = {.key = "k",
                    .value = "v",
                    .content_type = "",
                    .etag = "",
                    .modified = "",
                    .token = "",
                    .request_id = ""};
    with.columns.*optional = optional == &backends::SqliteColumns::etag ? "etag" : "";
    open(std::move(with));
    put(backend(), "a", "x", {{"Content-Type", "text/x"}}, stamp_of("k", 3));
    EXPECT_EQ(get(backend(), "a").content, "x");
  }
  auto other = foreign();
  other.run("UPDATE kv SET token='secret', request_id='theirs', modified='x'");
  put(backend(), "a", "y", {}, stamp_of("k", 4));
  EXPECT_EQ(other.value("SELECT token || request_id || modified FROM kv"), "secrettheirsx");
  EXPECT_FALSE(*backend().find_stamp("a"));
}

TEST_F(SqliteBackendTest, AMappedTableIsNotMade) {
  auto with = options();
  with.table = "theirs";
  with.mapped = true;
  const auto opened = try_open(std::move(with));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find("it is not there"), std::string::npos)
      << opened.error().detail;
}

TEST_F(SqliteBackendTest, WhoWritesTheTableTooMayLeaveTheTagOut) {
  open();
  const std::string old = put(backend(), "a", "ours").field("ETag");
  foreign().run("UPDATE documents SET body='theirs', etag=NULL WHERE name='a'");
  const std::string tag = get(backend(), "a").field("ETag");
  EXPECT_NE(tag, old);
  EXPECT_EQ(tag, get(backend(), "a").field("ETag"));
  EXPECT_EQ(put(backend(), "a", "x", {{"If-Match", old}}).error_name(), "precondition-failed");
  EXPECT_EQ(put(backend(), "a", "x", {{"If-Match", tag}}).status, 204);
  foreign().run(
      "UPDATE documents SET etag='no \"tag\"', content_type='a' || char(13, 10) || 'b: c'");
  const Answer answer = get(backend(), "a");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Type"), "application/octet-stream") << "no header is injected";
  EXPECT_TRUE(answer.field("ETag").starts_with("\"sha256-"));
}

TEST_F(SqliteBackendTest, AConstraintOfAMappedTableIsAConflict) {
  given("CREATE TABLE kv(k TEXT PRIMARY KEY, v TEXT CHECK (length(v) < 5), must TEXT NOT NULL)");
  auto with = options();
  with.table = "kv";
  with.columns.key = "k";
  with.columns.value = "v";
  open(std::move(with));
  const Answer created = put(backend(), "a", "x");
  EXPECT_EQ(created.error_name(), "constraint-failed");
  EXPECT_NE(created.error->detail.find("NOT NULL constraint failed: kv.must"), std::string::npos)
      << created.error->detail;
  foreign().run("INSERT INTO kv VALUES('a', 'x', 'y')");
  EXPECT_EQ(put(backend(), "a", "y").status, 204);
  EXPECT_EQ(put(backend(), "a", "too long").error_name(), "constraint-failed");
  EXPECT_EQ(get(backend(), "a").content, "y");
}

TEST_F(SqliteBackendTest, StrangeNamesAreQuoted) {
  auto with = options();
  with.table = "my \"docs\"; DROP TABLE x";
  with.columns.key = "select";
  with.columns.value = "a'b\"c";
  with.marks = "marks; --";
  open(std::move(with));
  EXPECT_EQ(put(backend(), "a", "x", {}, stamp_of("k", 3)).status, 201);
  EXPECT_EQ(get(backend(), "a").content, "x");
  EXPECT_EQ(names_of(get(backend(), "")), (Names{"a"}));
  EXPECT_EQ(remove(backend(), "a").status, 204);
}

TEST_F(SqliteBackendTest, TablesOfAnotherShapeAreRefusedWithTheReason) {
  given(
      "CREATE TABLE no_value(name TEXT PRIMARY KEY); "
      "CREATE TABLE number_key(name INTEGER PRIMARY KEY, body);"
      "CREATE TABLE nocase(name TEXT COLLATE NOCASE PRIMARY KEY, body);"
      "CREATE TABLE not_unique(name TEXT, body);"
      "CREATE TABLE pair(name TEXT, other TEXT, body, PRIMARY KEY(name, other));"
      "CREATE TABLE partial(name TEXT, body); CREATE UNIQUE INDEX i ON partial(name) WHERE body > "
      "1;"
      "CREATE TABLE nocase_index(name TEXT, body);"
      "CREATE UNIQUE INDEX j ON nocase_index(name COLLATE NOCASE);"
      "CREATE TABLE text_time(name TEXT PRIMARY KEY, body, modified TEXT);"
      "CREATE VIEW view_of AS SELECT name, body FROM not_unique;"
      "CREATE TABLE good(name TEXT PRIMARY KEY, body) WITHOUT ROWID;");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"no_value", "no column \"body\""},
      {"number_key", "is a number"},
      {"nocase", "compared by its bytes"},
      {"not_unique", "not unique"},
      {"pair", "not unique"},
      {"partial", "not unique"},
      {"nocase_index", "not unique"},
      {"text_time", "seconds since 1970"},
      {"view_of", "a view"},
      {"sqlite_schema", "sqlite_"},
      {"fenceline_marks", "of the marks"}};
  for (const auto& [table, part] : cases) {
    auto with = options();
    with.table = table;
    const auto opened = try_open(std::move(with));
    ASSERT_FALSE(opened) << table;
    EXPECT_EQ(opened.error().kind, base::ErrorKind::kStorageFailed);
    EXPECT_NE(opened.error().detail.find(part), std::string::npos) << opened.error().detail;
    EXPECT_NE(opened.error().detail.find(database()), std::string::npos) << opened.error().detail;
  }
  auto missing = options();
  missing.table = "good";
  missing.columns.etag = "etga";
  EXPECT_FALSE(try_open(std::move(missing))) << "a column that was named must be there";
  auto twice = options();
  twice.table = "new";
  twice.columns.etag = "BODY";
  EXPECT_FALSE(try_open(std::move(twice))) << "two things in one column";
  auto good = options();
  good.table = "good";
  EXPECT_TRUE(try_open(std::move(good)));
}

TEST_F(SqliteBackendTest, WhatTheBackendSaysOfItself) {
  open();
  EXPECT_EQ(backend().capabilities().guarantee, backends::Guarantee::kStrict);
  EXPECT_EQ(backend().allowed_methods(), "GET, HEAD, PUT, DELETE");
  EXPECT_FALSE(backend().displaced());
  EXPECT_EQ(post(backend(), "a", "{}").error_name(), "method-not-allowed");
  auto with = options();
  with.table = "";
  with.statements = {{"s", backends::StatementMode::kWrite, "SELECT 1"}};
  open(std::move(with));
  EXPECT_EQ(backend().allowed_methods(), "POST");
  EXPECT_EQ(get(backend(), "a").error_name(), "method-not-allowed");
  EXPECT_EQ(put(backend(), "a", "x").error_name(), "method-not-allowed");
  EXPECT_EQ(post(backend(), "s", "").content, R"({"rows":[{"1":1}],"changes":0})");
}

}  // namespace
}  // namespace fenceline::testing
