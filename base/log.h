#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::base {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

/// One `name=value` of a line. Views must live until `log` returns.
struct LogField {
  std::string_view name;
  std::string_view value;
};

/// Chooses how lines look and which are written. Does: lines go to standard error, each written
/// whole. Call once, before threads start; until then the format is text and the level info.
void start_log(LogFormat format, LogLevel level);

/// Changes which lines are written, from now on. Thread-safe.
void set_log_level(LogLevel level);

/// Writes one structured line.
/// Does: `event` is a stable, short name such as `takeover`; `message` is a sentence; the fields
/// follow in order. Values are escaped: a client cannot forge a line (control bytes, quotes,
/// invalid UTF-8). Failure: none; a line that cannot be written is lost. Thread-safe.
void log(LogLevel level, std::string_view event, std::string_view message,
         std::initializer_list<LogField> fields = {});

/// One line as it would be written, without time and newline. Pure.
std::string format_line(LogFormat format, LogLevel level, std::string_view event,
                        std::string_view message, std::initializer_list<LogField> fields);

}  // namespace fenceline::base
