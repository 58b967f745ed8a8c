#include "backends/files/errors.h"

#include <fmt/format.h>

#include <cerrno>

namespace fenceline::backends::files {

using base::Error;
using base::ErrorKind;

Error forbidden(std::string_view name) {
  return {ErrorKind::kForbiddenName,
          fmt::format("\"{}\" reaches a symlink, a special file or another file system; only plain "
                      "files and directories of one file system are served",
                      name)};
}

Error is_directory(std::string_view name) {
  return {ErrorKind::kNameConflict,
          fmt::format("\"{}\" is a directory; name a file in it, or use another name", name)};
}

Error not_found(std::string_view name) {
  return {ErrorKind::kNotFound, fmt::format("there is no file \"{}\"", name)};
}

Error error_of(int code, Use use, std::string_view name) {
  switch (-code) {
    case ENOENT:
      return not_found(name);
    case ENOTDIR:
      if (use != Use::kPut) {
        return not_found(name);
      }
      return {ErrorKind::kNameConflict,
              fmt::format("a part of \"{}\" is a file, so nothing can lie below it", name)};
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY:
      return is_directory(name);
    case ELOOP:
    case EXDEV:
    case ENXIO:
    case ENODEV:
    case EBUSY:
      return forbidden(name);
    case EACCES:
    case EPERM:
      return {
          ErrorKind::kForbiddenName,
          fmt::format("the server may not use \"{}\": its owner or mode does not allow it", name)};
    case ENAMETOOLONG:
      return {ErrorKind::kTargetTooLong, "a segment of the name is longer than 255 bytes"};
    case EMFILE:
    case ENFILE:
      return {ErrorKind::kOverloaded, "the server has no file descriptor left; try again later"};
    default:
      return base::error_from_errno(-code, fmt::format("\"{}\"", name));
  }
}

}  // namespace fenceline::backends::files
