// JSON listings of directories: pages, order, names that need escaping.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireListingTest : public WireTest {
 protected:
  static void plant(const std::string& directory, int files) {
    const std::string path = folder().at("exports/" + directory);
    std::filesystem::create_directories(path);
    for (int i = 0; i < files; ++i) {
      std::ofstream(path + "/f" + std::to_string(1000 + i)) << i;
    }
  }

  static std::size_t entries(const std::string& listing) {
    std::size_t count = 0;
    for (std::size_t at = listing.find("\"name\":"); at != std::string::npos;
         at = listing.find("\"name\":", at + 1)) {
      ++count;
    }
    return count;
  }
};

TEST_F(WireListingTest, WithAndWithoutASlash) {
  plant("plain/dir", 2);
  const Response listing = ask(get("/exports/plain/dir/"));
  EXPECT_EQ(listing.status, 200);
  EXPECT_EQ(listing.field("Content-Type"), "application/json");
  EXPECT_EQ(entries(listing.body), 2U) << listing.body;
  EXPECT_NE(listing.body.find(R"({"entries":[{"name":"f1000","type":"file","size":1,"modified":")"),
            std::string::npos)
      << listing.body;
  EXPECT_EQ(listing.body.find("\"next\""), std::string::npos) << listing.body;
  const Response same = ask(get("/exports/plain/dir"));
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, listing.body);
}

TEST_F(WireListingTest, Pages) {
  plant("pages", 25);
  std::string after;
  std::size_t total = 0;
  for (int page = 0; page < 3; ++page) {
    const Response listing =
        ask(get("/exports/pages/?limit=10" + (after.empty() ? "" : "&after=" + after)));
    EXPECT_EQ(listing.status, 200);
    total += entries(listing.body);
    const std::string start = "\"next\":\"";
    const std::size_t at = listing.body.find(start);
    ASSERT_EQ(at == std::string::npos, page == 2) << listing.body;
    if (page < 2) {
      after = listing.body.substr(at + start.size(), 5);
    }
  }
  EXPECT_EQ(total, 25U);
  EXPECT_EQ(after, "f1019");
}

TEST_F(WireListingTest, ThousandAtMost) {
  plant("many", 1001);
  const Response listing = ask(get("/exports/many/"));
  EXPECT_EQ(entries(listing.body), 1000U);
  EXPECT_NE(listing.body.find("\"next\":\"f1999\""), std::string::npos);
  EXPECT_EQ(entries(ask(get("/exports/many/?limit=1000")).body), 1000U);
}

TEST_F(WireListingTest, ParametersThatAreRefused) {
  plant("query", 2);
  for (const char* query : {"limit=0", "limit=1001", "limit=-1", "limit=+1", "limit=", "limit=x",
                            "limit=1.0", "limit", "limit=18446744073709551617", "limit=1&limit=2",
                            "after=a&after=b", "after=%zz", "limti=1"}) {
    SCOPED_TRACE(query);
    const Response answer = ask(get(std::string("/exports/query/?") + query));
    expect_problem(answer, 400, "malformed-request");
  }
}

TEST_F(WireListingTest, EmptyAndMissing) {
  std::filesystem::create_directories(folder().at("exports/empty/dir"));
  EXPECT_EQ(ask(get("/exports/empty/dir/")).body, R"({"entries":[]})");
  expect_problem(ask(get("/exports/missing/dir/")), 404, "not-found");
  expect_problem(ask(get("/exports/missing/")), 404, "not-found");
}

TEST_F(WireListingTest, NamesAreEscaped) {
  const std::string path = folder().at("exports/names");
  std::filesystem::create_directories(path);
  for (const char* name :
       {"quote\"", "back\\slash", "tab\t", "line\n", "\xE2\x82\xAC", "bad\xFF"}) {
    std::ofstream(path + "/" + name) << "x";
  }
  const Response listing = ask(get("/exports/names/"));
  EXPECT_EQ(listing.status, 200);
  EXPECT_NE(listing.body.find("quote\\\""), std::string::npos) << listing.body;
  EXPECT_NE(listing.body.find("\xE2\x82\xAC"), std::string::npos) << listing.body;
  for (const char byte : listing.body) {
    EXPECT_GE(static_cast<unsigned char>(byte), 0x20U) << listing.body;
    EXPECT_NE(static_cast<unsigned char>(byte), 0xFFU) << listing.body;
  }
}

TEST_F(WireListingTest, FencedLikeEveryRead) {
  plant("fenced", 1);
  const Response listing = ask(get("/exports/fenced/", "Fencing-Token: 8\r\n"));
  EXPECT_EQ(listing.status, 200);
  EXPECT_EQ(listing.field("Fencing-Highest"), "8");
  expect_problem(ask(get("/exports/fenced/", "Fencing-Token: 7\r\n")), 412, "stale-token");
}

}  // namespace
}  // namespace fenceline::testing
