#include "config/loader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "config/readers.h"
#include "config/section.h"
#include "config/validate.h"
#include "config/yaml_tree.h"

namespace fenceline::config {
namespace {

void read_routes(Section& top, Config& config, Report& report) {
  const YamlNode* node = top.value("routes", Need::kRequired);
  const auto items = top.has("routes") && node != nullptr
                         ? top.list("routes", Need::kRequired)
                         : std::optional<std::vector<const YamlNode*>>();
  if (!items) {
    return;
  }
  if (node->items.size() > kMaxRoutes) {
    top.problem("routes", *node,
                fmt::format("{} routes are too many; at most {} are allowed", node->items.size(),
                            kMaxRoutes));
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    auto route = read_route(node->items[i], fmt::format("routes[{}]", i), config.timeouts, report);
    if (route) {
      config.routes.push_back(std::move(*route));
    }
  }
}

}  // namespace

Loaded load(std::string_view text, const std::string& file, const Environment& environment,
            const ResolvePath& resolve) {
  Report report(file);
  const auto root = read_yaml(text, Variables(environment), report);
  auto top = root ? Section::open(*root, "", report) : std::nullopt;
  if (!top) {
    return tl::unexpected(report.take());
  }
  Config config;
  read_server(*top, config);
  read_routes(*top, config, report);
  validate(config, resolve, report);
  if (!report.empty()) {
    return tl::unexpected(report.take());
  }
  return config;
}

Loaded load_file(const std::string& path) {
  const auto fail = [&path](std::string message) {
    return tl::unexpected(std::vector<Problem>{{path, 0, 0, std::move(message)}});
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return fail("this is a directory, not a configuration file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(
        fmt::format("cannot open the configuration: {}", std::generic_category().message(errno)));
  }
  // One byte more than allowed, so that `load` sees that it is too big without reading all of it.
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) {
    return fail("the configuration cannot be read to its end");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return load(text, path, process_environment, canonical_path);
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): see loader.h
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string canonical_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) {
    absolute = path;
  }
  fs::path canonical = fs::weakly_canonical(absolute, error);
  if (error) {
    canonical = absolute.lexically_normal();
  }
  std::string text = canonical.string();
  while (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

}  // namespace fenceline::config
