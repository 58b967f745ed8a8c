#include "config/same_data.h"

#include <fmt/format.h>

namespace fenceline::config {

bool is_inside(const std::string& path, const std::string& directory) {
  if (!path.starts_with(directory)) {
    return false;
  }
  return path.size() == directory.size() || directory.ends_with('/') ||
         path[directory.size()] == '/';
}

std::optional<std::string> same_data_problem(const Route& first, const std::string& first_root,
                                             const Route& second, const std::string& second_root) {
  const std::string other =
      fmt::format("route `{}` (line {})", first.name, first.places.backend.line);
  if (first_root != second_root) {
    if (is_inside(first_root, second_root) || is_inside(second_root, first_root)) {
      return fmt::format(
          "the files root \"{}\" and that of {}, \"{}\", are inside one another; files must have "
          "one fence: use separate directories",
          second_root, other, first_root);
    }
    return std::nullopt;
  }
  if (!FenceTemplate::same_keys(first.fence, first.match, second.fence, second.match)) {
    return fmt::format(
        "the files root \"{}\" is also that of {}, but the fences \"{}\" and \"{}\" do not "
        "provably "
        "give the same file the same key; give both routes the same `fence`, with matches that "
        "capture alike",
        second_root, other, second.fence.text(), first.fence.text());
  }
  if (std::get<FilesBackend>(first.backend).sync != std::get<FilesBackend>(second.backend).sync) {
    return fmt::format("the files root \"{}\" is also that of {}, which has another `sync`",
                       second_root, other);
  }
  return std::nullopt;
}

}  // namespace fenceline::config
