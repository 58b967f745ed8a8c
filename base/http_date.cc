#include "base/http_date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace fenceline::base {
namespace {

using Seconds = std::int64_t;

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

constexpr Seconds kSecondsPerDay = 86400;
constexpr Seconds kYear0001 = -62135596800;
constexpr Seconds kYear9999End = 253402300799;

struct Civil {
  int year = 0;
  int month = 0;  // 1 … 12
  int day = 0;    // 1 … 31
  int hour = 0;
  int minute = 0;
  int second = 0;
};

constexpr bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

constexpr int days_in(int year, int month) {
  constexpr std::array<int, 12> kLengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kLengths.at(static_cast<std::size_t>(month - 1));
}

// Whole days before the first of January of `year` (1 … 9999), counted from 0001-01-01.
constexpr Seconds days_before_year(int year) {
  const Seconds past = year - 1;
  return past * 365 + past / 4 - past / 100 + past / 400;
}

constexpr Seconds to_seconds(const Civil& civil) {
  Seconds days = days_before_year(civil.year) + civil.day - 1;
  for (int month = 1; month < civil.month; ++month) {
    days += days_in(civil.year, month);
  }
  return kYear0001 + days * kSecondsPerDay + civil.hour * 3600 + civil.minute * 60 + civil.second;
}

// Also gives the whole days since 1970-01-01.
Civil to_civil(Seconds seconds, std::chrono::sys_days& day) {
  const std::chrono::sys_seconds time{
      std::chrono::seconds(std::clamp(seconds, kYear0001, kYear9999End))};
  day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto rest = static_cast<int>((time - day).count());
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .hour = rest / 3600,
          .minute = rest / 60 % 60,
          .second = rest % 60};
}

// Takes pieces off the front of a text; the first that does not fit makes everything fail.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) {
    ok_ = ok_ && rest_.starts_with(expected);
    if (ok_) {
      rest_.remove_prefix(expected.size());
    }
  }

  int number(std::size_t digits) {
    if (!ok_ || rest_.size() < digits) {
      ok_ = false;
      return 0;
    }
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      ok_ = ok_ && c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // asctime pads the day of the month with a blank.
  int padded_number() {
    if (ok_ && rest_.starts_with(' ')) {
      rest_.remove_prefix(1);
      return number(1);
    }
    return number(2);
  }

  // The position of the name in `names`, counted from 0.
  template <std::size_t N>
  int name(const std::array<std::string_view, N>& names) {
    for (std::size_t i = 0; ok_ && i < N; ++i) {
      if (rest_.starts_with(names.at(i))) {
        rest_.remove_prefix(names.at(i).size());
        return static_cast<int>(i);
      }
    }
    ok_ = false;
    return 0;
  }

  void time_of_day(Civil& civil) {
    civil.hour = number(2);
    literal(":");
    civil.minute = number(2);
    literal(":");
    civil.second = number(2);
  }

  [[nodiscard]] std::optional<Seconds> finish(const Civil& civil) const {
    const bool valid = ok_ && rest_.empty() && civil.year >= 1 && civil.day >= 1 &&
                       civil.day <= days_in(civil.year, civil.month) && civil.hour <= 23 &&
                       civil.minute <= 59 && civil.second <= 60;
    return valid ? std::optional(to_seconds(civil)) : std::nullopt;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::optional<Seconds> parse_imf(std::string_view text) {
  Scanner scan(text);
  Civil civil;
  scan.name(kDays);
  scan.literal(", ");
  civil.day = scan.number(2);
  scan.literal(" ");
  civil.month = scan.name(kMonths) + 1;
  scan.literal(" ");
  civil.year = scan.number(4);
  scan.literal(" ");
  scan.time_of_day(civil);
  scan.literal(" GMT");
  return scan.finish(civil);
}

std::optional<Seconds> parse_rfc850(std::string_view text) {
  Scanner scan(text);
  Civil civil;
  scan.name(kLongDays);
  scan.literal(", ");
  civil.day = scan.number(2);
  scan.literal("-");
  civil.month = scan.name(kMonths) + 1;
  scan.literal("-");
  const int two_digits = scan.number(2);
  civil.year = two_digits + (two_digits >= 70 ? 1900 : 2000);
  scan.literal(" ");
  scan.time_of_day(civil);
  scan.literal(" GMT");
  return scan.finish(civil);
}

std::optional<Seconds> parse_asctime(std::string_view text) {
  Scanner scan(text);
  Civil civil;
  scan.name(kDays);
  scan.literal(" ");
  civil.month = scan.name(kMonths) + 1;
  scan.literal(" ");
  civil.day = scan.padded_number();
  scan.literal(" ");
  scan.time_of_day(civil);
  scan.literal(" ");
  civil.year = scan.number(4);
  return scan.finish(civil);
}

/// Writes `count` decimal digits of `value` over what is at `at`.
void put_digits(std::array<char, 29>& text, std::size_t at, std::size_t count, int value) {
  for (std::size_t i = count; i > 0; --i) {
    text[at + i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

void put_name(std::array<char, 29>& text, std::size_t at, std::string_view name) {
  text[at] = name[0];
  text[at + 1] = name[1];
  text[at + 2] = name[2];
}

}  // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  if (text.size() > 3 && text[3] == ',') {
    return parse_imf(text);
  }
  return text.find(',') != std::string_view::npos ? parse_rfc850(text) : parse_asctime(text);
}

std::string format_http_date(std::int64_t seconds) {
  const std::array<char, 29> text = http_date_text(seconds);
  return {text.data(), text.size()};
}

std::array<char, 29> http_date_text(std::int64_t seconds) {
  std::chrono::sys_days day;
  const Civil civil = to_civil(seconds, day);
  // By hand, because every answer has one of these: fmt takes ten times the instructions.
  constexpr std::string_view kForm = "Ddd, 00 Mmm 0000 00:00:00 GMT";
  std::array<char, kForm.size()> text;  // NOLINT: filled by the next line.
  std::memcpy(text.data(), kForm.data(), kForm.size());
  put_name(text, 0, kDays.at(std::chrono::weekday(day).c_encoding()));
  put_digits(text, 5, 2, civil.day);
  put_name(text, 8, kMonths.at(static_cast<std::size_t>(civil.month - 1)));
  put_digits(text, 12, 4, civil.year);
  put_digits(text, 17, 2, civil.hour);
  put_digits(text, 20, 2, civil.minute);
  put_digits(text, 23, 2, civil.second);
  return text;
}

std::string format_rfc3339(std::int64_t seconds) {
  std::chrono::sys_days day;
  const Civil civil = to_civil(seconds, day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", civil.year, civil.month, civil.day,
                     civil.hour, civil.minute, civil.second);
}

}  // namespace fenceline::base
