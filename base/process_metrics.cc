#include "base/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>

namespace fenceline::base {
namespace {

std::string contents_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::optional<double> cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) {
    return std::nullopt;
  }
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::optional<double> resident_bytes() {
  std::istringstream text(contents_of("/proc/self/statm"));
  double all_pages = 0;
  double resident_pages = 0;
  if (!(text >> all_pages >> resident_pages)) {
    return std::nullopt;
  }
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> open_fds() {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  double count = 0;
  while (!error && entries != std::filesystem::directory_iterator()) {
    ++count;
    entries.increment(error);
  }
  if (error) {
    return std::nullopt;
  }
  return std::max(count - 1, 0.0);  // without the one that counts
}

std::optional<double> max_fds() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(limit.rlim_cur);
}

/// Seconds since 1970 at which the machine was booted.
std::optional<double> boot_time() {
  std::istringstream text(contents_of("/proc/stat"));
  std::string line;
  while (std::getline(text, line)) {
    if (line.starts_with("btime ")) {
      std::istringstream number(line.substr(6));
      double seconds = 0;
      return number >> seconds ? std::optional(seconds) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<double> start_time() {
  const auto ticks = start_ticks_of(contents_of("/proc/self/stat"));
  const auto boot = boot_time();
  if (!ticks || !boot) {
    return std::nullopt;
  }
  return *boot + *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void set_if_known(Gauge gauge, std::optional<double> value) {
  if (value) {
    gauge.set(*value);
  }
}

}  // namespace

std::optional<double> start_ticks_of(std::string_view stat) {
  // The second field is the program's name in parentheses; blanks count only behind it.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr int kFieldsBetween = 19;  // from the state, field 3, to field 22
  std::istringstream text(std::string(stat.substr(name_end + 1)));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) {
    text >> skipped;
  }
  double ticks = 0;
  return text >> ticks ? std::optional(ticks) : std::nullopt;
}

void add_process_metrics(MetricRegistry& registry) {
  Counter cpu = registry.counter("process_cpu_seconds_total",
                                 "User and system time of the process, in seconds.", {});
  const Gauge resident = registry.gauge("process_resident_memory_bytes", "Memory in RAM.", {});
  const Gauge open = registry.gauge("process_open_fds", "Open file descriptors.", {});
  const Gauge most = registry.gauge("process_max_fds", "The limit of open file descriptors.", {});
  const Gauge start = registry.gauge("process_start_time_seconds",
                                     "Start of the process, in seconds since 1970.", {});
  set_if_known(start, start_time());
  set_if_known(most, max_fds());
  const auto counted = std::make_shared<double>(0);
  registry.on_scrape([cpu, resident, open, counted]() mutable {
    set_if_known(resident, resident_bytes());
    set_if_known(open, open_fds());
    if (const auto seconds = cpu_seconds(); seconds && *seconds > *counted) {
      cpu.add(*seconds - *counted);
      *counted = *seconds;
    }
  });
}

}  // namespace fenceline::base
