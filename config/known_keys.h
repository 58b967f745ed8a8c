#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::config {

/// One key that the configuration may have.
struct KnownKey {
  std::string_view path;  ///< From the top, `routes[].files.root`; `[]` is any item or name.
  std::string_view type;  ///< As in `docs/config.md`.
  std::string_view default_value;  ///< As it would be written; "required" or "none" without one.
  bool available = true;           ///< False: reserved, refused with "not in this version".
};

/// Every key there is: the loader reads only these, and `docs/config.md` has a row for each.
std::span<const KnownKey> known_keys();

/// The row of this path; null if there is none.
const KnownKey* find_key(std::string_view path);

/// The names directly below `section` ("" for the top), in the order of the table, without the
/// reserved ones.
std::vector<std::string_view> names_in(std::string_view section);

}  // namespace fenceline::config
