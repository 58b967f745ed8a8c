#include "backends/s3/client_conditions.h"

#include <algorithm>

#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

// True for `*` on what exists, and if one of the list is its tag.
bool matches(std::string_view list, const ObjectState& state) {
  while (state.visible() && !list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const std::string_view tag = base::trim_blanks(one);
    if (tag == "*" || (!tag.empty() && bare_tag(tag) == bare_tag(state.etag))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view bare_tag(std::string_view tag) {
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') {
    return tag.substr(1, tag.size() - 2);
  }
  return tag;
}

ClientConditions::ClientConditions(const base::RequestHead& head)
    : if_match_(head.joined("If-Match")), if_none_match_(head.joined("If-None-Match")) {}

base::Result<void> ClientConditions::check(const ObjectState& state) const {
  if (if_match_ && !state.visible()) {
    auto absent = base::fail(base::ErrorKind::kNotFound,
                             "there is no such object, so If-Match cannot hold; nothing was done");
    absent.value().code = "NoSuchKey";
    return absent;
  }
  if ((if_match_ && !matches(*if_match_, state)) ||
      (if_none_match_ && matches(*if_none_match_, state))) {
    auto failed = base::fail(base::ErrorKind::kPreconditionFailed,
                             "the object is not in the state that If-Match or If-None-Match asks "
                             "for; read it again and decide anew");
    failed.value().code = "PreconditionFailed";
    return failed;
  }
  return {};
}

}  // namespace fenceline::backends::s3
