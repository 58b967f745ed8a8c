// The configuration: any text is either a configuration that stands every check again, or a list of
// problems that an operator can act on.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fence_key.h"
#include "config/loader.h"
#include "config/validate.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

constexpr const char* kFile = "fuzz.yaml";

std::optional<std::string> environment(const std::string& name) {
  if (name == "SECRET") {
    return "a-long-secret-of-nobody";
  }
  if (name == "ROUTE") {
    return "/from/the/environment";
  }
  if (name == "BYTES") {
    return std::string("\x1b[31m: {\n- \xff", 12);
  }
  return std::nullopt;
}

/// Looks at no file system, so that a finding does not depend on the machine.
std::string resolve(const std::string& path) {
  std::string text = std::filesystem::path("/work/" + path).lexically_normal().string();
  if (path.starts_with('/')) {
    text = std::filesystem::path(path).lexically_normal().string();
  }
  while (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

void check_problem(const config::Problem& problem, std::string_view text) {
  const std::string shown = to_string(problem);
  check(problem.line >= 1 && problem.column >= 1, "a problem has a line and a column", shown);
  check(problem.line <= std::ranges::count(text, '\n') + 1, "its line is in the file", shown);
  check(shown.starts_with(fmt::format("{}:{}:{}: ", kFile, problem.line, problem.column)),
        "it is shown as file:line:column", shown);
  check(problem.message.find(' ') != std::string::npos, "a problem is a sentence", shown);
  // What YAML's escapes and the environment hold must not reach the operator's terminal as it is.
  check(!base::has_control_byte(problem.message), "no control byte in a message", shown);
  check(base::is_valid_utf8(problem.message), "a message is UTF-8", shown);
}

void check_loaded(const config::Config& config, std::string_view text) {
  for (int round = 0; round < 2; ++round) {
    config::Report report(kFile);
    config::validate(config, resolve, report);
    check(report.empty(), "what loads stands every check again", text);
  }
  check(!config.routes.empty(), "a configuration has a route", text);
  check(!config.ledger.sqlite.empty(), "a configuration has a ledger", text);
  for (const config::Route& route : config.routes) {
    check(!route.name.empty() && !route.methods.empty(), "a route has a name and a method", text);
    check(route.max_jump >= 0 && route.body_timeout.count() > 0 && route.drain_timeout.count() > 0,
          "numbers are in their ranges", text);
  }
}

void check_text(std::string_view text) {
  const config::Loaded loaded = config::load(text, kFile, environment, resolve);
  const config::Loaded again = config::load(text, kFile, environment, resolve);
  check(loaded.has_value() == again.has_value(), "loading twice gives the same", text);
  if (loaded) {
    check_loaded(*loaded, text);
    return;
  }
  check(!loaded.error().empty(), "a refusal names a problem", text);
  check(loaded.error() == again.error(), "the problems do not change", text);
  for (const config::Problem& problem : loaded.error()) {
    check_problem(problem, text);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fenceline::fuzz::check_text(fenceline::fuzz::as_text(data, size));
  return 0;
}
