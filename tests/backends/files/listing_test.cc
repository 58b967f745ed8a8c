#include "backends/files/listing.h"

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/http_date.h"
#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using backends::parse_listing_query;

std::vector<std::string> names_of(const json::value& listing) {
  std::vector<std::string> names;
  for (const auto& entry : listing.at("entries").as_array()) {
    names.emplace_back(entry.at("name").as_string());
  }
  return names;
}

TEST(ListingQuery, ReadsLimitAndAfter) {
  EXPECT_EQ(parse_listing_query("")->limit, 1000U);
  EXPECT_EQ(parse_listing_query("limit=7&after=a%2Fb+c%c3%a4")->limit, 7U);
  EXPECT_EQ(parse_listing_query("limit=7&after=a%2Fb+c%c3%a4")->after, "a/b c\xc3\xa4");
  EXPECT_EQ(parse_listing_query("after=")->after, "");
  EXPECT_EQ(parse_listing_query("&limit=1&")->limit, 1U);
}

TEST(ListingQuery, RefusesTheRest) {
  for (const char* query :
       {"limit=0", "limit=1001", "limit=", "limit", "limit=-1", "limit=+1", "limit=1x",
        "limit=99999999999999999999", "after=%", "after=%4", "after=%zz", "limit=1&limit=1",
        "after=a&after=a", "page=2", "=", "x"}) {
    EXPECT_FALSE(parse_listing_query(query)) << query;
  }
}

TEST_F(FilesBackendTest, AListingShowsFilesAndDirectoriesSorted) {
  open();
  put(backend(), "b", "12345");
  put(backend(), "a/x", "1");
  put(backend(), "B", "");
  put(backend(), "\xc3\xa4 \"q\"", "1");
  fs::create_symlink("b", root() / "link");
  write(root() / "bad\xff", "x");
  write(root() / "bad\n", "x");
  for (const char* name : {"", "/"}) {
    const Answer answer = get(backend(), name);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("Content-Type"), "application/json");
    const json::value listing = json::parse(answer.content);
    EXPECT_EQ(names_of(listing), (std::vector<std::string>{"B", "a", "b", "\xc3\xa4 \"q\""}));
    EXPECT_EQ(listing.as_object().if_contains("next"), nullptr);
    const auto& entries = listing.at("entries").as_array();
    EXPECT_EQ(entries[1].at("type").as_string(), "directory");
    EXPECT_EQ(entries[1].as_object().if_contains("size"), nullptr);
    EXPECT_EQ(entries[2].at("type").as_string(), "file");
    EXPECT_EQ(entries[2].at("size").as_int64(), 5);
    EXPECT_EQ(entries[2].at("modified").as_string().size(), 20U);
  }
  EXPECT_EQ(names_of(json::parse(get(backend(), "a/").content)), std::vector<std::string>{"x"});
  EXPECT_EQ(get(backend(), "a").content, get(backend(), "a/").content);
  EXPECT_EQ(get(backend(), "missing/").error_name(), "not-found");
}

TEST_F(FilesBackendTest, PagesCoverEveryNameOnce) {
  open();
  std::vector<std::string> expected;
  for (int i = 0; i < 57; ++i) {
    expected.push_back("d/n" + std::to_string(100 + i));
    write(root() / expected.back(), "x");
    expected.back().erase(0, 2);
  }
  for (const std::size_t limit : {1U, 10U, 19U, 56U, 57U, 1000U}) {
    std::vector<std::string> seen;
    std::string after;
    for (std::size_t page = 0; page <= 57; ++page) {
      const Answer answer =
          get(backend(), "d", {}, "limit=" + std::to_string(limit) + "&after=" + after);
      const json::value listing = json::parse(answer.content);
      const auto names = names_of(listing);
      EXPECT_LE(names.size(), limit);
      seen.insert(seen.end(), names.begin(), names.end());
      const auto* next = listing.as_object().if_contains("next");
      if (next == nullptr) {
        break;
      }
      after = next->as_string();
    }
    EXPECT_EQ(seen, expected) << "limit " << limit;
  }
}

TEST_F(FilesBackendTest, HeadOfAListingAndAnEmptyOne) {
  open();
  fs::create_directory(root() / "empty");
  EXPECT_EQ(get(backend(), "empty").content, "{\"entries\":[]}");
  const Answer shown = head(backend(), "empty/");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.head_length_bytes, 14U);
  EXPECT_EQ(shown.content, "");
  EXPECT_EQ(get(backend(), "empty", {}, "limit=0").error_name(), "malformed-request");
}

}  // namespace
}  // namespace fenceline::testing
