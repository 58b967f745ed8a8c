// What can be decided about PostgreSQL without a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/sources/postgres/pg_failure.h"
#include "client/sources/postgres/pg_target.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string setting(const PgServer& server, std::string_view name) {
  const auto found =
      std::ranges::find_if(server.settings, [&](const auto& each) { return each.first == name; });
  return found == server.settings.end() ? "(none)" : found->second;
}

TEST(PgTarget, SeveralHostsAreCutApart) {
  const auto target =
      parse_pg_url("postgres://me:p%40ss@a:1,b,[::1]:3/db?table=jobs.locks&sslmode=require");
  ASSERT_TRUE(target) << target.error().detail;
  ASSERT_EQ(target->servers.size(), 3U);
  EXPECT_EQ(setting(target->servers[0], "host"), "a");
  EXPECT_EQ(setting(target->servers[0], "port"), "1");
  EXPECT_EQ(setting(target->servers[1], "host"), "b");
  EXPECT_EQ(setting(target->servers[2], "host"), "::1");
  EXPECT_EQ(setting(target->servers[2], "port"), "3");
  EXPECT_EQ(target->servers[1].name, "b:5432");
  for (const PgServer& server : target->servers) {
    EXPECT_EQ(setting(server, "password"), "p@ss");
    EXPECT_EQ(setting(server, "sslmode"), "require");
    EXPECT_EQ(setting(server, "target_session_attrs"), "read-write");
    EXPECT_EQ(setting(server, "client_encoding"), "UTF8");
  }
  EXPECT_EQ(target->table, R"("jobs"."locks")");
}

TEST(PgTarget, TheTableHasADefaultAndOptionsStayBehindIt) {
  const auto plain = parse_pg_url("postgres://h/db?target_session_attrs=any");
  ASSERT_TRUE(plain) << plain.error().detail;
  EXPECT_EQ(plain->table, R"("fenceline_leases")");
  EXPECT_EQ(setting(plain->servers[0], "target_session_attrs"), "any");
  const auto between = parse_pg_url("postgres://h/db?connect_timeout=7&table=t&sslmode=disable");
  ASSERT_TRUE(between) << between.error().detail;
  EXPECT_EQ(between->connect, base::Milliseconds(7'000));
  EXPECT_EQ(setting(between->servers[0], "sslmode"), "disable");
}

TEST(PgTarget, WhatIsWrongIsNamedWithoutThePassword) {
  const std::pair<const char*, const char*> cases[] = {
      {"postgres://h/db?colour=red", "colour"},
      {"postgres://me:secret%zz@h/db", "libpq cannot read"},
      {"postgres://h/db?table=a;drop", "'a;drop'"},
      {"postgres://h/db?table=", "The table ''"},
      {"postgres://h/db?table=a.b.c", "'a.b.c'"},
      {"postgres://h/db?table=a&table=b", "twice"},
  };
  for (const auto& [url, part] : cases) {
    const auto target = parse_pg_url(url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().kind, ErrorKind::kMalformedRequest);
    EXPECT_THAT(target.error().detail, HasSubstr(part));
    EXPECT_THAT(target.error().detail, Not(HasSubstr("secret")));
  }
}

PgRow row(const char* commit, const char* names, const char* standbys) {
  return {"on", "on", commit, names, standbys, "f", "p"};
}

TEST(PgSetup, AFailoverThatLosesTokensIsWarnedAbout) {
  EXPECT_THAT(*judge_setup(row("on", "", "0"), "t"), IsEmpty());
  EXPECT_THAT(*judge_setup(row("on", "ANY 1 (*)", "2"), "t"), IsEmpty());
  EXPECT_THAT(*judge_setup(row("on", "", "1"), "t"),
              ElementsAre(HasSubstr("synchronous_standby_names is empty")));
  EXPECT_THAT(*judge_setup(row("local", "ANY 1 (*)", "1"), "t"),
              ElementsAre(HasSubstr("synchronous_commit is local")));
  EXPECT_THAT(*judge_setup(row("local", "", "0"), "t"), IsEmpty());
}

TEST(PgSetup, ATableThatIsNotThereYetIsNoFault) {
  PgRow missing = row("on", "", "0");
  missing[6] = std::nullopt;
  EXPECT_THAT(*judge_setup(missing, "t"), IsEmpty());
}

TEST(PgFailure, SaysWhatToDoNext) {
  EXPECT_EQ(next_after({.sqlstate = {}, .message = {}, .rows = {}}), PgNext::kUse);
  EXPECT_EQ(next_after({.sqlstate = "40001", .message = {}, .rows = {}}), PgNext::kRepeat);
  EXPECT_EQ(next_after({.sqlstate = "42P01", .message = {}, .rows = {}}), PgNext::kMakeTable);
  EXPECT_EQ(next_after({.sqlstate = "53100", .message = {}, .rows = {}}), PgNext::kGiveUp);
  EXPECT_EQ(error_of({.sqlstate = "53100", .message = "disk full", .rows = {}}, "t", "C").detail,
            "PostgreSQL said: disk full (53100).");
}

}  // namespace
}  // namespace fenceline::client
