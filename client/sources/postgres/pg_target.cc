#include "client/sources/postgres/pg_target.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "client/source_url.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;

constexpr std::string_view kTable = "table=";
constexpr std::string_view kDefaultTable = "fenceline_leases";
constexpr std::size_t kMaxNameBytes = 63;  // PostgreSQL cuts longer names.
constexpr Milliseconds kConnect{5'000};
constexpr Milliseconds kShortestConnect{1'000};

using Settings = std::vector<std::pair<std::string, std::string>>;

tl::unexpected<base::Error> wrong(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

/// The URL without our options, and the table.
Result<std::pair<std::string, std::string>> take_table(std::string_view url) {
  const std::size_t question = url.find('?');
  std::string rest(url.substr(0, question));
  std::optional<std::string> table;
  char separator = '?';
  std::string_view options = question == std::string_view::npos ? "" : url.substr(question + 1);
  while (!options.empty()) {
    const std::size_t end = options.find('&');
    const std::string_view option = options.substr(0, end);
    if (!option.starts_with(kTable)) {
      rest += separator;
      rest += option;
      separator = '&';
    } else if (table) {
      return wrong("The option 'table' is in the source's URL twice.");
    } else {
      table = option.substr(kTable.size());
    }
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
  }
  return std::pair(std::move(rest), table.value_or(std::string(kDefaultTable)));
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= kMaxNameBytes && std::ranges::all_of(text, fits);
}

Result<std::string> quoted(const std::string& table) {
  const std::size_t dot = table.find('.');
  const bool has_schema = dot != std::string::npos;
  const std::string_view schema(table.data(), has_schema ? dot : 0);
  const std::string_view name = std::string_view(table).substr(has_schema ? dot + 1 : 0);
  if (!is_name(name) || (has_schema && !is_name(schema))) {
    return wrong(
        fmt::format("The table '{}' of the source's URL is no name or schema.name of letters, "
                    "digits and underscores, at most 63 each.",
                    table));
  }
  return has_schema ? fmt::format("\"{}\".\"{}\"", schema, name) : fmt::format("\"{}\"", name);
}

Result<Settings> read_with_libpq(const std::string& url) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(url.c_str(), &message), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> text(message, &PQfreemem);
  if (!options) {
    const std::string_view said = text ? text.get() : "out of memory";
    // Its other messages can quote the password.
    const bool is_harmless = said.starts_with("invalid URI query parameter");
    return wrong(
        fmt::format("libpq cannot read the source's URL{}{}. Write it as "
                    "postgres://user:password@host:5432/database?option=value, with reserved "
                    "characters as %XX.",
                    is_harmless ? ": " : "",
                    is_harmless ? said.substr(0, said.find_last_not_of('\n') + 1) : ""));
  }
  Settings settings;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      settings.emplace_back(option->keyword, option->val);
    }
  }
  return settings;
}

std::string* find(Settings& settings, std::string_view name) {
  const auto found =
      std::ranges::find_if(settings, [&](const auto& each) { return each.first == name; });
  return found == settings.end() ? nullptr : &found->second;
}

void add_default(Settings& settings, std::string_view name, std::string_view value) {
  if (find(settings, name) == nullptr) {
    settings.emplace_back(name, value);
  }
}

std::vector<std::string> split(const std::string* list) {
  std::vector<std::string> parts;
  std::string_view rest = list == nullptr ? std::string_view() : *list;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    parts.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return parts;
}

void set_one(Settings& settings, std::string_view name, const std::vector<std::string>& values,
             std::size_t index) {
  if (std::string* const value = find(settings, name); value != nullptr && values.size() > 1) {
    *value = index < values.size() ? values[index] : "";
  }
}

std::vector<PgServer> cut_apart(Settings& settings) {
  const std::vector<std::string> hosts = split(find(settings, "host"));
  const std::vector<std::string> addresses = split(find(settings, "hostaddr"));
  const std::vector<std::string> ports = split(find(settings, "port"));
  const std::size_t count = std::max({std::size_t{1}, hosts.size(), addresses.size()});
  std::vector<PgServer> servers;
  for (std::size_t i = 0; i < count; ++i) {
    PgServer server{.name = {}, .settings = settings};
    set_one(server.settings, "host", hosts, i);
    set_one(server.settings, "hostaddr", addresses, i);
    set_one(server.settings, "port", ports, i);
    const std::vector<std::string>& named = hosts.empty() ? addresses : hosts;
    server.name = i < named.size() ? named[i] : "the local server";
    const std::string* const port = find(server.settings, "port");
    server.name += fmt::format(":{}", port == nullptr || port->empty() ? "5432" : *port);
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace

Result<PgTarget> parse_pg_url(std::string_view url) {
  auto taken = take_table(url);
  if (!taken) {
    return base::pass_on(taken.error());
  }
  auto& [rest, table] = *taken;
  auto quoted_table = quoted(table);
  if (!quoted_table) {
    return base::pass_on(quoted_table.error());
  }
  auto settings = read_with_libpq(rest);
  if (!settings) {
    return base::pass_on(settings.error());
  }
  add_default(*settings, "target_session_attrs", "read-write");
  add_default(*settings, "application_name", "fenceline");
  add_default(*settings, "client_encoding", "UTF8");

  PgTarget target{.servers = cut_apart(*settings),
                  .connect = {},
                  .table = std::move(*quoted_table),
                  .plain_table = std::move(table)};
  target.connect = std::max(kShortestConnect, kConnect / static_cast<int>(target.servers.size()));
  if (const std::string* const limit = find(*settings, "connect_timeout"); limit != nullptr) {
    int seconds = 0;
    std::from_chars(limit->data(), limit->data() + limit->size(), seconds);
    target.connect = seconds > 0 ? std::chrono::seconds(seconds) : target.connect;
  }
  return target;
}

}  // namespace fenceline::client
