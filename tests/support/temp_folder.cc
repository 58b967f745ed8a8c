#include "tests/support/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace fenceline::testing {

TempFolder::TempFolder() {
  std::string pattern =
      (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "fenceline-XXXXXX")
          .string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fenceline::testing
