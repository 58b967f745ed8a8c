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
#include <limits>
#include <utility>

#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/reset.h"
#include "proxy/admin_client.h"
#include "proxy/commands.h"
#include "proxy/fences_address.h"
#include "proxy/fences_text.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;
using Command = FencesOptions::Command;

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
    return pages("/v1/fences", "fences", options_.after,
                 [](const json::object& page) { return fences_text(page); });
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

  OrStop<void> unsettled() {
    return pages("/v1/unsettled", "unsettled", {},
                 [](const json::object& page) { return unsettled_text(page); });
  }

  OrStop<void> settle() {
    json::object body{{"reason", options_.reason}, {"by", who()}};
    if (!options_.token.empty()) {
      body["token"] = options_.token;
    }
    auto settled =
        ask({"POST", "/v1/unsettled/" + percent_encoded(options_.key), json::serialize(body)});
    if (!settled) {
      return tl::unexpected<Stop>(settled.error());
    }
    print(*settled, settled_text(*settled));
    return {};
  }

 private:
  /// Prints what `path` lists under `name`, from `after` on, up to the limit.
  template <typename Text>
  OrStop<void> pages(std::string_view path, std::string_view name, std::string after, Text text) {
    constexpr std::size_t kPage = 1000;
    std::size_t left =
        options_.limit == 0 ? std::numeric_limits<std::size_t>::max() : options_.limit;
    json::array all;
    while (left > 0) {
      const std::size_t page_size = std::min(left, kPage);
      auto page =
          ask({"GET",
               fmt::format("{}?prefix={}&after={}&limit={}", path, percent_encoded(options_.prefix),
                           percent_encoded(after), page_size),
               {}});
      if (!page) {
        return tl::unexpected<Stop>(page.error());
      }
      const json::value* const next = page->if_contains("next");
      after = next != nullptr && next->is_string() ? std::string(next->get_string()) : "";
      if (options_.json) {
        append(all, *page, name);
      } else {
        fmt::print("{}", text(*page));
      }
      left -= page_size;
      if (after.empty()) {
        break;
      }
    }
    finish_list(std::move(all), name, after);
    return {};
  }

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

  static void append(json::array& all, json::object& page, std::string_view name) {
    if (json::value* const rows = page.if_contains(name); rows != nullptr && rows->is_array()) {
      for (json::value& row : rows->get_array()) {
        all.push_back(std::move(row));
      }
    }
  }

  void finish_list(json::array all, std::string_view name, const std::string& next) const {
    if (options_.json) {
      json::object page{{name, std::move(all)}};
      if (!next.empty()) {
        page["next"] = next;
      }
      fmt::print("{}\n", json::serialize(page));
    } else if (!next.empty()) {
      const bool by_key = options_.command == Command::kList;
      fmt::print(stderr, "there are more: {}--limit 0\n",
                 by_key ? fmt::format("--after '{}', or ", next) : std::string());
    }
  }

  AdminAddress address_;
  const FencesOptions& options_;
};

/// What can be known to be wrong before anybody is asked.
OrStop<void> check(const FencesOptions& options) {
  for (const auto& [name, text] :
       {std::pair("--to", options.to), {"--from", options.from}, {"--token", options.token}}) {
    if (!text.empty() && !base::Token::parse(text)) {
      return complain(kExitUsage, fmt::format("{} {}: {}", name, text,
                                              base::Token::parse(text).error().detail));
    }
  }
  const bool lists = options.command == Command::kList || options.command == Command::kUnsettled;
  if (!lists && !base::FenceKey::parse(options.key)) {
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
    case Command::kUnsettled:
      outcome = asker.unsettled();
      break;
    case Command::kSettle:
      outcome = asker.settle();
      break;
  }
  return outcome ? kExitOk : outcome.error().exit_code;
}

}  // namespace fenceline::proxy
