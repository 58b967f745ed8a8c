#include "proxy/fences_command.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/error_code.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "base/fence_key.h"
#include "base/token.h"
#include "config/config.h"
#include "fencing/reset.h"
#include "proxy/admin_client.h"
#include "proxy/commands.h"
#include "proxy/fences_text.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;
using Command = FencesOptions::Command;

/// Ends the command: what was wrong has been said.
struct Stop {
  int exit_code = kExitFailure;
};

template <typename T>
using OrStop = tl::expected<T, Stop>;

tl::unexpected<Stop> complain(int exit_code, std::string_view sentence) {
  fmt::print(stderr, "fenceline: {}\n", sentence);
  return tl::unexpected<Stop>(Stop{exit_code});
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string() : std::string(value);
}

OrStop<std::string> read_token_file(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) {
    token.pop_back();
  }
  if (!file.eof() && !file.good()) {
    return complain(kExitUsage, fmt::format("the token file {} cannot be read", path));
  }
  if (token.empty() || base::has_control_byte(token)) {
    return complain(kExitUsage,
                    fmt::format("the first line of the token file {} is no token", path));
  }
  return token;
}

OrStop<AdminAddress> configured_address(const config::Config& config, const std::string& file) {
  if (!config.admin) {
    return complain(kExitUsage, fmt::format("{} has no `admin.listen`: nobody can be asked", file));
  }
  const config::Endpoint& endpoint = config.admin->endpoint;
  if (endpoint.port == 0) {
    return complain(kExitUsage, fmt::format("{} leaves the port of `admin.listen` to the system: "
                                            "name it with --admin (the log line `serving` has it)",
                                            file));
  }
  AdminAddress address{endpoint.address, endpoint.port, {}};
  // Listening on every address it is also found on the loopback.
  if (address.host == "0.0.0.0") {
    address.host = "127.0.0.1";
  } else if (address.host == "::") {
    address.host = "::1";
  }
  return address;
}

OrStop<AdminAddress> find_address(const FencesOptions& options) {
  std::optional<config::Config> config;
  if (!options.config_file.empty()) {
    config = load_or_complain(options.config_file);
    if (!config) {
      return tl::unexpected<Stop>(Stop{kExitUsage});
    }
  }
  std::string url = options.admin_url;
  if (url.empty() && !config) {
    url = environment("FENCELINE_ADMIN");
    if (url.empty()) {
      return complain(kExitUsage,
                      "where is the admin listener? Give --admin http://host:port, "
                      "--config FILE, or set FENCELINE_ADMIN");
    }
  }
  AdminAddress address;
  if (!url.empty()) {
    auto parsed = parse_admin_url(url);
    if (!parsed) {
      return complain(kExitUsage, parsed.error().detail);
    }
    address = std::move(*parsed);
  } else {
    auto found = configured_address(*config, options.config_file);
    if (!found) {
      return found;
    }
    address = std::move(*found);
  }
  if (!options.token_file.empty()) {
    auto token = read_token_file(options.token_file);
    if (!token) {
      return tl::unexpected<Stop>(token.error());
    }
    address.bearer_token = std::move(*token);
  } else if (auto token = environment("FENCELINE_ADMIN_TOKEN"); !token.empty()) {
    if (base::has_control_byte(token)) {
      return complain(kExitUsage, "FENCELINE_ADMIN_TOKEN has a control byte");
    }
    address.bearer_token = std::move(token);
  } else if (config && config->admin && config->admin->token) {
    address.bearer_token = *config->admin->token;
  }
  return address;
}

/// Who gives the order, as this machine knows it.
std::string who() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  std::string user = environment("SUDO_USER");
  if (user.empty()) {
    const passwd* const entry = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
    user = entry == nullptr ? std::to_string(::geteuid()) : std::string(entry->pw_name);
  }
  std::string name = fmt::format("{}@{}", user, host.data());
  const bool usable = name.size() <= fencing::kMaxByBytes && base::is_valid_utf8(name) &&
                      !base::has_control_byte(name);
  return usable ? name : std::string();
}

class Asker {
 public:
  Asker(AdminAddress address, const FencesOptions& options)
      : address_(std::move(address)), options_(options) {}

  OrStop<void> list() {
    std::size_t left =
        options_.limit == 0 ? std::numeric_limits<std::size_t>::max() : options_.limit;
    std::string after = options_.after;
    json::array all;
    while (left > 0) {
      constexpr std::size_t kPage = 1000;
      const std::size_t page_size = std::min(left, kPage);
      auto page =
          ask({"GET",
               fmt::format("/v1/fences?prefix={}&after={}&limit={}",
                           percent_encoded(options_.prefix), percent_encoded(after), page_size),
               {}});
      if (!page) {
        return tl::unexpected<Stop>(page.error());
      }
      const json::value* const next = page->if_contains("next");
      after = next != nullptr && next->is_string() ? std::string(next->get_string()) : "";
      if (options_.json) {
        append(all, *page);
      } else {
        fmt::print("{}", fences_text(*page));
      }
      left -= page_size;
      if (after.empty()) {
        break;
      }
    }
    finish_list(std::move(all), after);
    return {};
  }

  OrStop<void> show() {
    auto fence = ask({"GET", target(), {}});
    if (!fence) {
      return tl::unexpected<Stop>(fence.error());
    }
    print(*fence, fence_text(*fence));
    return {};
  }

  OrStop<void> raise() { return order({{"action", "raise"}, {"to", options_.to}}); }

  OrStop<void> reset() {
    std::string from = options_.from;
    if (from.empty()) {
      // What is reset is the mark that there is now, and no other that comes meanwhile.
      auto fence = ask({"GET", target(), {}});
      if (!fence) {
        return tl::unexpected<Stop>(fence.error());
      }
      const json::value* const mark = fence->if_contains("mark");
      from = mark != nullptr && mark->is_string() ? std::string(mark->get_string()) : "";
    }
    return order({{"action", "reset"},
                  {"to", options_.to},
                  {"from", from},
                  {"reason", options_.reason},
                  {"by", who()}});
  }

 private:
  [[nodiscard]] std::string target() const { return "/v1/fences/" + percent_encoded(options_.key); }

  OrStop<void> order(const json::object& body) {
    auto change = ask({"POST", target(), json::serialize(body)});
    if (!change) {
      return tl::unexpected<Stop>(change.error());
    }
    print(*change, change_text(*change));
    return {};
  }

  /// The object that a 2xx answer has; all else is complained about.
  OrStop<json::object> ask(const AdminRequest& request) {
    const auto answer =
        ask_admin(address_, request, std::chrono::seconds(std::int64_t{options_.timeout_s}));
    if (!answer) {
      return complain(kExitFailure, answer.error().detail);
    }
    if (answer->status == 401) {
      return complain(kExitFailure,
                      fmt::format("{} wants another bearer token: give --token-file, or set "
                                  "FENCELINE_ADMIN_TOKEN",
                                  address_.url()));
    }
    if (answer->status < 200 || answer->status > 299) {
      const bool refused = answer->status == 404 || answer->status == 409;
      const bool usage = answer->status == 400 || answer->status == 414;
      const int otherwise = usage ? kExitUsage : kExitFailure;
      return complain(refused ? kExitRefused : otherwise,
                      problem_text(answer->status, answer->body));
    }
    boost::system::error_code error;
    json::value value = json::parse(answer->body, error);
    if (error || !value.is_object()) {
      return complain(kExitFailure,
                      fmt::format("{} does not answer as an admin listener", address_.url()));
    }
    return std::move(value.get_object());
  }

  void print(const json::object& answer, const std::string& text) const {
    fmt::print("{}", options_.json ? json::serialize(answer) + "\n" : text);
  }

  static void append(json::array& all, json::object& page) {
    if (json::value* const fences = page.if_contains("fences");
        fences != nullptr && fences->is_array()) {
      for (json::value& fence : fences->get_array()) {
        all.push_back(std::move(fence));
      }
    }
  }

  void finish_list(json::array all, const std::string& next) const {
    if (options_.json) {
      json::object page{{"fences", std::move(all)}};
      if (!next.empty()) {
        page["next"] = next;
      }
      fmt::print("{}\n", json::serialize(page));
    } else if (!next.empty()) {
      fmt::print(stderr, "there are more: --after '{}', or --limit 0\n", next);
    }
  }

  AdminAddress address_;
  const FencesOptions& options_;
};

/// What can be known to be wrong before anybody is asked.
OrStop<void> check(const FencesOptions& options) {
  for (const auto& [name, text] : {std::pair("--to", options.to), {"--from", options.from}}) {
    if (!text.empty() && !base::Token::parse(text)) {
      return complain(kExitUsage, fmt::format("{} {}: {}", name, text,
                                              base::Token::parse(text).error().detail));
    }
  }
  if (options.command != Command::kList && !base::FenceKey::parse(options.key)) {
    return complain(kExitUsage, base::FenceKey::parse(options.key).error().detail);
  }
  return {};
}

}  // namespace

int run_fences(const FencesOptions& options) {
  if (const auto right = check(options); !right) {
    return right.error().exit_code;
  }
  auto address = find_address(options);
  if (!address) {
    return address.error().exit_code;
  }
  Asker asker(std::move(*address), options);
  OrStop<void> outcome;
  switch (options.command) {
    case Command::kList:
      outcome = asker.list();
      break;
    case Command::kShow:
      outcome = asker.show();
      break;
    case Command::kRaise:
      outcome = asker.raise();
      break;
    case Command::kReset:
      outcome = asker.reset();
      break;
  }
  return outcome ? kExitOk : outcome.error().exit_code;
}

}  // namespace fenceline::proxy
