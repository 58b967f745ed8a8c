#include "client/run/guard_messages.h"

#include <fmt/format.h>

#include <charconv>

namespace fenceline::client {
namespace {

std::int64_t count_of(base::MonotonicTime time) { return time.time_since_epoch().count(); }

base::MonotonicTime time_of(std::int64_t count) {
  return base::MonotonicTime(base::MonotonicTime::duration(count));
}

/// Every field ends with a NUL, which no variable can hold.
void add(std::string& packet, std::string_view field) {
  packet += field;
  packet += '\0';
}

class Fields {
 public:
  explicit Fields(std::string_view packet) : rest_(packet) {}

  std::optional<std::string_view> text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }

  std::optional<std::int64_t> number() {
    const auto field = text();
    std::int64_t value = 0;
    if (!field) {
      return std::nullopt;
    }
    const char* const end = field->data() + field->size();
    const auto [last, error] = std::from_chars(field->data(), end, value);
    return error == std::errc() && last == end ? std::optional(value) : std::nullopt;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::string encode(const GuardOrder& order) {
  std::string packet;
  add(packet, fmt::to_string(static_cast<int>(order.kind)));
  add(packet, fmt::to_string(count_of(order.deadlines.term_at)));
  add(packet, fmt::to_string(count_of(order.deadlines.kill_at)));
  add(packet, fmt::to_string(order.signal));
  for (const std::string& variable : order.environment) {
    add(packet, variable);
  }
  return packet;
}

std::string encode(const GuardReport& report) {
  std::string packet;
  add(packet, fmt::to_string(static_cast<int>(report.kind)));
  add(packet, fmt::to_string(report.number));
  add(packet, report.is_lost ? "1" : "0");
  return packet;
}

std::optional<GuardOrder> decode_order(std::string_view packet) {
  Fields fields(packet);
  const auto kind = fields.number();
  const auto term_at = fields.number();
  const auto kill_at = fields.number();
  const auto signal = fields.number();
  if (!kind || !term_at || !kill_at || !signal || *kind < 0 ||
      *kind > static_cast<int>(GuardOrder::Kind::kSignal)) {
    return std::nullopt;
  }
  GuardOrder order;
  order.kind = static_cast<GuardOrder::Kind>(*kind);
  order.deadlines = {time_of(*term_at), time_of(*kill_at)};
  order.signal = static_cast<int>(*signal);
  while (!fields.at_end()) {
    const auto variable = fields.text();
    if (!variable) {
      return std::nullopt;
    }
    order.environment.emplace_back(*variable);
  }
  return order;
}

std::optional<GuardReport> decode_report(std::string_view packet) {
  Fields fields(packet);
  const auto kind = fields.number();
  const auto number = fields.number();
  const auto lost = fields.number();
  if (!kind || !number || !lost || !fields.at_end() || *kind < 0 ||
      *kind > static_cast<int>(GuardReport::Kind::kEnded)) {
    return std::nullopt;
  }
  return GuardReport{static_cast<GuardReport::Kind>(*kind), static_cast<int>(*number), *lost != 0};
}

}  // namespace fenceline::client
