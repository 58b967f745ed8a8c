#include "proxy/fences_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

#include "proxy/shell_text.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

/// A member as text; `-` where there is none, null or an empty text.
std::string text_of(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || value->is_null()) {
    return "-";
  }
  if (const json::string* const text = value->if_string()) {
    return text->empty() ? "-" : std::string(*text);
  }
  return json::serialize(*value);
}

const json::array& array_of(const json::object& object, std::string_view name) {
  static const json::array empty;
  const json::value* const value = object.if_contains(name);
  const json::array* const array = value == nullptr ? nullptr : value->if_array();
  return array == nullptr ? empty : *array;
}

std::string joined(const json::array& texts) {
  std::string all;
  for (const json::value& each : texts) {
    all += all.empty() ? "" : ", ";
    all += each.is_string() ? std::string(each.get_string()) : json::serialize(each);
  }
  return all.empty() ? "none" : all;
}

/// Characters, not bytes: a column of UTF-8 text is as wide as it looks, but for double width.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// In whole seconds.
std::string age_text(const json::object& write) {
  const json::value* const age = write.if_contains("age_ms");
  return age == nullptr || !age->is_int64() ? "-" : fmt::format("{}s", age->get_int64() / 1000);
}

std::string warning_of(const json::object& fence, const json::object& suspicion) {
  const std::string holders = text_of(suspicion, "holders");
  return fmt::format(
      "\nThe token source may have been reset: {} rising tokens{}, the last of them {}, were "
      "refused below\nthe mark {}, and no request with the mark's own token came through. If it "
      "was reset, end the holders\nof before, and set the mark to the token of the present "
      "lease:\n  fenceline fences reset {} --to {} --from {} --reason '…'\n",
      text_of(suspicion, "tokens"), holders == "0" ? "" : fmt::format(" of {} holders", holders),
      text_of(suspicion, "presented"), text_of(fence, "mark"), shell_quoted(text_of(fence, "key")),
      text_of(suspicion, "presented"), text_of(fence, "mark"));
}

}  // namespace

std::string table_text(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string table;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

std::string fences_text(const json::object& page) {
  std::vector<std::vector<std::string>> rows = {{"KEY", "MARK", "HOLDER", ""}};
  for (const json::value& each : array_of(page, "fences")) {
    const json::object& fence = each.as_object();
    rows.push_back({text_of(fence, "key"), text_of(fence, "mark"), text_of(fence, "holder"),
                    fence.contains("source_reset_suspected") ? "token source reset?" : ""});
  }
  return table_text(rows);
}

std::string fence_text(const json::object& fence) {
  std::vector<std::vector<std::string>> rows;
  for (const char* name : {"key", "mark", "holder", "announced", "inside", "waiting"}) {
    if (fence.contains(name)) {
      rows.push_back({name, text_of(fence, name)});
    }
  }
  if (fence.contains("unsettled")) {
    rows.push_back({"unsettled", joined(array_of(fence, "unsettled"))});
  }
  for (const json::value& each : array_of(fence, "resets")) {
    const json::object& reset = each.as_object();
    rows.push_back(
        {"reset",
         fmt::format("{}: from {} (holder {}) to {} by {} from {}: {}", text_of(reset, "time"),
                     text_of(reset, "from"), text_of(reset, "holder"), text_of(reset, "to"),
                     text_of(reset, "by"), text_of(reset, "peer"), text_of(reset, "reason"))});
  }
  std::string text = table_text(rows);
  if (const json::value* const suspicion = fence.if_contains("source_reset_suspected");
      suspicion != nullptr && suspicion->is_object()) {
    text += warning_of(fence, suspicion->get_object());
  }
  return text;
}

std::string change_text(const json::object& change) {
  const json::value* const changed = change.if_contains("changed");
  if (changed != nullptr && *changed == json::value(true)) {
    return fmt::format("{}: the mark is {} now, it was {}\n", text_of(change, "key"),
                       text_of(change, "mark"), text_of(change, "previous"));
  }
  return fmt::format("{}: the mark is {}, nothing to change\n", text_of(change, "key"),
                     text_of(change, "mark"));
}

std::string unsettled_text(const json::object& page) {
  std::vector<std::vector<std::string>> rows = {{"KEY", "TOKEN", "ROUTE", "AGE", "DATA"}};
  for (const json::value& each : array_of(page, "unsettled")) {
    const json::object& write = each.as_object();
    rows.push_back({text_of(write, "key"), text_of(write, "token"), text_of(write, "route"),
                    age_text(write), text_of(write, "data")});
  }
  return table_text(rows);
}

std::string settled_text(const json::object& settled) {
  std::string text;
  for (const json::value& each : array_of(settled, "settled")) {
    const json::object& write = each.as_object();
    text += fmt::format("{}: the write with token {} on route {} is settled, after {}\n",
                        text_of(settled, "key"), text_of(write, "token"), text_of(write, "route"),
                        age_text(write));
  }
  return text;
}

std::string problem_text(int status, std::string_view body) {
  boost::system::error_code error;
  const json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  const json::object* const problem = error ? nullptr : value.if_object();
  if (problem == nullptr || !problem->contains("detail")) {
    return fmt::format("answered with status {}, which is no answer of an admin listener", status);
  }
  const bool unknown = text_of(*problem, "applied") == "unknown";
  return fmt::format("{}: {}{}", text_of(*problem, "title"), text_of(*problem, "detail"),
                     unknown ? " (applied: unknown)" : "");
}

}  // namespace fenceline::proxy
