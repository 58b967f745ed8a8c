#include "base/http_date.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace fenceline::base {
namespace {

constexpr std::int64_t kExample = 784111777;  // The date that RFC 9110 uses in 5.6.7.

TEST(HttpDate, ReadsAllThreeForms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), kExample);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), kExample);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), kExample);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994"), kExample + 10 * 86400);
}

TEST(HttpDate, TwoDigitYearsTurnAt70) {
  EXPECT_EQ(parse_http_date("Thursday, 01-Jan-70 00:00:00 GMT"), 0);
  EXPECT_EQ(parse_http_date("Tuesday, 01-Jan-69 00:00:00 GMT"), 3124224000);
}

TEST(HttpDate, KnowsLeapYearsAndLeapSeconds) {
  EXPECT_EQ(parse_http_date("Tue, 29 Feb 2000 00:00:00 GMT"), 951782400);
  EXPECT_EQ(parse_http_date("Thu, 29 Feb 2024 00:00:00 GMT"), 1709164800);
  EXPECT_FALSE(parse_http_date("Thu, 29 Feb 1900 00:00:00 GMT"));
  EXPECT_FALSE(parse_http_date("Wed, 29 Feb 2023 00:00:00 GMT"));
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT"),
            parse_http_date("Sun, 01 Jan 2017 00:00:00 GMT"));
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const char* text : {"",
                           "x",
                           ",",
                           "Sun",
                           "Sun,",
                           "Sun, ",
                           "Sun, 06 Nov 1994 08:49:37",
                           "0",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 NOV 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 0000 08:49:37 GMT",
                           "Sun, 06 Nov -994 08:49:37 GMT",
                           "Sun, 06 Nov 19940 08:49:37 GMT",
                           "Sun, 06 Nov 1994 +8:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 94",
                           "784111777"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

TEST(HttpDate, WritesWhatItReads) {
  EXPECT_EQ(format_http_date(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(format_http_date(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
  for (std::int64_t day = -400'000; day <= 400'000; day += 331) {
    const std::int64_t seconds = day * 86400 + (day * 7919) % 86400;
    EXPECT_EQ(parse_http_date(format_http_date(seconds)), seconds);
  }
}

TEST(HttpDate, TimesOutOfRangeAreCutNotOverflowed) {
  EXPECT_EQ(format_http_date(std::numeric_limits<std::int64_t>::min()),
            "Mon, 01 Jan 0001 00:00:00 GMT");
  EXPECT_EQ(format_http_date(std::numeric_limits<std::int64_t>::max()),
            "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(HttpDate, WritesRfc3339) {
  EXPECT_EQ(format_rfc3339(kExample), "1994-11-06T08:49:37Z");
  EXPECT_EQ(format_rfc3339(951782400), "2000-02-29T00:00:00Z");
}

}  // namespace
}  // namespace fenceline::base
