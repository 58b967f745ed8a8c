#include "backends/files/listing.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "backends/files/errors.h"
#include "backends/files/paths.h"
#include "base/fence_key.h"
#include "base/http_date.h"
#include "base/json_text.h"

namespace fenceline::backends::files {
namespace {

using base::ErrorKind;
using base::Result;

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

// Keeps the smallest names that it is given, in memory for one page and one more.
class Smallest {
 public:
  explicit Smallest(std::size_t limit) : room_(limit + 1) {}

  [[nodiscard]] bool wants(std::string_view name) const {
    return names_.size() < room_ || name < names_.front();
  }

  void take(std::string_view name) {
    names_.emplace_back(name);
    std::ranges::push_heap(names_);
    if (names_.size() > room_) {
      std::ranges::pop_heap(names_);
      names_.pop_back();
    }
  }

  [[nodiscard]] std::vector<std::string> sorted() && {
    std::ranges::sort_heap(names_);
    return std::move(names_);
  }

 private:
  std::size_t room_;
  std::vector<std::string> names_;  // A heap: the largest is in front.
};

bool is_listable(const struct stat& status, dev_t device) {
  return (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && status.st_dev == device;
}

// By the directory entry alone where it tells, because most entries of a large directory are not on
// the page.
bool may_list(Store& store, int fd, const dirent& entry) {
  if (entry.d_type == DT_REG || entry.d_type == DT_DIR) {
    return true;
  }
  struct stat status {};
  return entry.d_type == DT_UNKNOWN && store.calls.stat_at(fd, &entry.d_name[0], status) == 0 &&
         is_listable(status, store.directory.device);
}

bool can_be_named(std::string_view name, bool is_root) {
  return name != "." && name != ".." && !(is_root && name == kPrivateName) &&
         !base::has_control_byte(name) && name.find('\\') == std::string_view::npos &&
         base::is_valid_utf8(name);
}

Result<std::vector<std::string>> choose_names(Store& store, DIR* stream, const ListingPage& page,
                                              bool is_root) {
  Smallest smallest(page.limit);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream);
    if (entry == nullptr) {
      if (errno != 0) {
        return tl::unexpected(base::error_from_errno(errno, "read the directory"));
      }
      return std::move(smallest).sorted();
    }
    const std::string_view name(&entry->d_name[0]);
    if (name > page.after && smallest.wants(name) && can_be_named(name, is_root) &&
        may_list(store, ::dirfd(stream), *entry)) {
      smallest.take(name);
    }
  }
}

void append_entry(std::string& json, std::string_view name, const struct stat& status) {
  json.append(json.ends_with('[') ? "{\"name\":" : ",{\"name\":");
  base::append_json_string(json, name);
  if (S_ISDIR(status.st_mode)) {
    json.append(",\"type\":\"directory\"");
  } else {
    fmt::format_to(std::back_inserter(json), ",\"type\":\"file\",\"size\":{}", status.st_size);
  }
  fmt::format_to(std::back_inserter(json), ",\"modified\":\"{}\"}}",
                 base::format_rfc3339(status.st_mtim.tv_sec));
}

}  // namespace

Result<std::string> list_directory(Store& store, base::UniqueFd directory, const ListingPage& page,
                                   bool is_root) {
  const DirectoryStream stream(::fdopendir(directory.get()));
  if (!stream) {
    return tl::unexpected(error_of(-errno, Use::kRead, "the directory"));
  }
  const int fd = directory.release();  // The stream closes it.
  auto names = choose_names(store, stream.get(), page, is_root);
  if (!names) {
    return tl::unexpected(std::move(names.error()));
  }
  const bool has_more = names->size() > page.limit;
  if (has_more) {
    names->pop_back();
  }
  std::string json = "{\"entries\":[";
  for (const std::string& name : *names) {
    struct stat status {};
    if (store.calls.stat_at(fd, name.c_str(), status) == 0 &&
        is_listable(status, store.directory.device)) {
      append_entry(json, name, status);
    }
  }
  json.push_back(']');
  if (has_more) {
    json.append(",\"next\":");
    base::append_json_string(json, names->back());
  }
  json.push_back('}');
  return json;
}

}  // namespace fenceline::backends::files
