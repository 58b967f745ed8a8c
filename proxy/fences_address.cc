#include "proxy/fences_address.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "base/fence_key.h"
#include "config/config.h"

namespace fenceline::proxy {
namespace {

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

}  // namespace

tl::unexpected<Stop> complain(int exit_code, std::string_view sentence) {
  fmt::print(stderr, "fenceline: {}\n", sentence);
  return tl::unexpected<Stop>(Stop{exit_code});
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string() : std::string(value);
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

}  // namespace fenceline::proxy
