#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "base/json_text.h"

namespace fenceline::base {
namespace {

std::atomic<LogFormat>& current_format() {
  static std::atomic<LogFormat> format = LogFormat::kText;
  return format;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

std::string_view name_of_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

/// ISO 8601 in UTC, so that lines of several machines sort; the line itself is made by us.
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("fenceline",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

bool needs_quotes(std::string_view value) {
  if (value.empty()) {
    return true;
  }
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-_./:@%+,").find(c) != std::string_view::npos;
    if (!plain) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string format_line(LogFormat format, LogLevel level, std::string_view event,
                        std::string_view message, std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::kJson) {
    // Without the braces: the sink's pattern puts them around, together with the time.
    line = fmt::format(R"("level":"{}","event":"{}","message":)", name_of_level(level), event);
    append_json_string(line, message);
    for (const LogField& field : fields) {
      line += ',';
      append_json_string(line, field.name);
      line += ':';
      append_json_string(line, field.value);
    }
    return line;
  }
  line = fmt::format("{} {}: ", name_of_level(level), event);
  for (const char c : message) {
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  for (const LogField& field : fields) {
    line += fmt::format(" {}=", field.name);
    if (needs_quotes(field.value)) {
      append_json_string(line, field.value);
    } else {
      line += field.value;
    }
  }
  return line;
}

void start_log(LogFormat format, LogLevel level) {
  current_format() = format;
  logger().set_pattern(format == LogFormat::kJson ? kJsonPattern : kTextPattern,
                       spdlog::pattern_time_type::utc);
  logger().set_level(to_spdlog(level));
}

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

void log(LogLevel level, std::string_view event, std::string_view message,
         std::initializer_list<LogField> fields) {
  if (!logger().should_log(to_spdlog(level))) {
    return;
  }
  // Passed as an argument, never as a format string.
  logger().log(to_spdlog(level), "{}",
               format_line(current_format(), level, event, message, fields));
}

}  // namespace fenceline::base
