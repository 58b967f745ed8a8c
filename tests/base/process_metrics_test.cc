#include "base/process_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace fenceline::base {
namespace {

/// The value of a metric without labels; -1 if there is none.
double value_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(name + " ")) {
      return std::stod(line.substr(name.size()));
    }
  }
  return -1;
}

TEST(ProcessMetricsTest, AreReadWhenTheyAreScraped) {
  MetricRegistry registry;
  add_process_metrics(registry);
  const std::string before = registry.text();
  EXPECT_GT(value_of(before, "process_resident_memory_bytes"), 1e5);
  EXPECT_GT(value_of(before, "process_max_fds"), value_of(before, "process_open_fds"));
  const double now = static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
  EXPECT_NEAR(value_of(before, "process_start_time_seconds"), now, 300);

  const std::ifstream one("/dev/null");
  const std::ifstream two("/dev/null");
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  double cpu = value_of(before, "process_cpu_seconds_total");
  while (value_of(registry.text(), "process_cpu_seconds_total") <= cpu) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "computing takes no time";
  }
  EXPECT_EQ(value_of(registry.text(), "process_open_fds"),
            value_of(before, "process_open_fds") + 2);
  EXPECT_NE(before.find("# TYPE process_cpu_seconds_total counter"), std::string::npos);
}

TEST(ProcessMetricsTest, TheNameOfTheProgramMayHoldAnything) {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
  EXPECT_EQ(start_ticks_of("42 (fenceline)" + rest), 4711);
  EXPECT_EQ(start_ticks_of("42 (a) b) (c )" + rest), 4711);
  EXPECT_EQ(start_ticks_of(""), std::nullopt);
  EXPECT_EQ(start_ticks_of("42 (fenceline) S 1 2"), std::nullopt);
}

TEST(MetricRegistryTest, WhatIsAskedForAtAScrapeIsInIt) {
  MetricRegistry registry;
  Gauge gauge = registry.gauge("fresh", "Set by the scrape.", {});
  int scrapes = 0;
  registry.on_scrape([gauge, &scrapes]() mutable { gauge.set(++scrapes); });
  EXPECT_EQ(value_of(registry.text(), "fresh"), 1);
  EXPECT_EQ(value_of(registry.text(), "fresh"), 2);
}

}  // namespace
}  // namespace fenceline::base
