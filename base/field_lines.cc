#include "base/field_lines.h"

#include <algorithm>
#include <cstring>

#include "base/http.h"

namespace fenceline::base {
namespace {

constexpr std::size_t kUsualBytes = 384;

/// Takes the first line off `rest`.
Field take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  const std::size_t colon = line.find(": ");
  return {.name = line.substr(0, colon), .value = line.substr(colon + 2)};
}

}  // namespace

void FieldLines::add_named(std::string_view name, std::string_view value) {
  if (!FieldName::may_be_set(name) || !is_field_value(value)) {
    valid_ = false;
    return;
  }
  append(name, value);
}

void FieldLines::add_parsed(std::string_view name, std::string_view value) {
  if (FieldName::only_for_session(name)) {
    valid_ = false;
    return;
  }
  append(name, value);
}

/// Makes room for so many bytes more.
void FieldLines::grow(std::size_t bytes) {
  const std::size_t capacity = std::max(kUsualBytes, 2 * (size_ + bytes));
  auto memory = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) {
    std::memcpy(memory.get(), memory_.get(), size_);
  }
  memory_ = std::move(memory);
  capacity_ = capacity;
}

std::optional<std::string_view> FieldLines::find(std::string_view name) const {
  std::string_view rest = text();
  while (!rest.empty()) {
    const Field field = take_line(rest);
    if (equal_names(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

std::vector<OwnedField> FieldLines::list() const {
  std::vector<OwnedField> fields;
  std::string_view rest = text();
  while (!rest.empty()) {
    const Field field = take_line(rest);
    fields.emplace_back(field.name, field.value);
  }
  return fields;
}

}  // namespace fenceline::base
