#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field_syntax.h"

namespace fenceline::base {

using OwnedField = std::pair<std::string, std::string>;

/// The name of a field that we set, checked when the program is compiled.
class FieldName {
 public:
  /// Does not compile for what is no token, and for the fields that only the session may set.
  // NOLINTNEXTLINE(google-explicit-constructor): reads like a plain name.
  consteval FieldName(const char* literal) : name_(literal) {
    if (!may_be_set(name_)) {
      throw "not the name of a field that may be set";
    }
  }

  [[nodiscard]] constexpr std::string_view text() const { return name_; }

  /// True for a token that is not `only_for_session`.
  static constexpr bool may_be_set(std::string_view name);

  /// True for `Date`, `Content-Length`, `Transfer-Encoding` and `Connection`: a second copy of
  /// these would let the client frame the answer differently than we do.
  static constexpr bool only_for_session(std::string_view name);

 private:
  std::string_view name_;
};

/// The fields of an answer, kept as the bytes that go out (RFC 9112, 5): one allocation for all of
/// them and one copy at the end.
class FieldLines {
 public:
  /// Appends a field. A value with a control byte other than TAB is not appended; `valid` is false
  /// from then on.
  void add(FieldName name, std::string_view value) {
    if (is_field_value(value)) {
      append(name.text(), value);
    } else {
      valid_ = false;
    }
  }

  /// The same for a name that is only known now; refused like a value if it may not be set.
  void add_named(std::string_view name, std::string_view value);

  /// The same for a field of a head that one of our parsers gave (`RequestHead`, `ResponseHead`):
  /// it has checked that the name is a token and the value has no such byte, so that is not done
  /// again.
  void add_parsed(std::string_view name, std::string_view value);

  /// False if a field was refused: the answer must not go out.
  [[nodiscard]] bool valid() const { return valid_; }

  /// True if there is a `Server` field.
  [[nodiscard]] bool names_server() const { return names_server_; }

  /// All fields, each as `Name: value` with CR LF.
  [[nodiscard]] std::string_view text() const { return {memory_.get(), size_}; }

  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// The value of the first field of this name, without regard to case; nothing if there is none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

  /// The fields one by one, for whoever is in no hurry.
  [[nodiscard]] std::vector<OwnedField> list() const;

 private:
  static constexpr std::string_view kColon = ": ";
  static constexpr std::string_view kEnd = "\r\n";

  /// Both have been checked. Here, so that a name which is known when the program is compiled costs
  /// two or three moves.
  void append(std::string_view name, std::string_view value) {
    names_server_ = names_server_ || equal_names(name, "Server");
    const std::size_t bytes = name.size() + kColon.size() + value.size() + kEnd.size();
    if (bytes > capacity_ - size_) {
      grow(bytes);
    }
    char* const out = memory_.get() + size_;
    std::memcpy(out, name.data(), name.size());
    std::memcpy(out + name.size(), kColon.data(), kColon.size());
    std::memcpy(out + name.size() + kColon.size(), value.data(), value.size());
    std::memcpy(out + bytes - kEnd.size(), kEnd.data(), kEnd.size());
    size_ += bytes;
  }

  void grow(std::size_t bytes);

  /// Not a string: its bytes would be set before they are written.
  std::unique_ptr<char[]> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool valid_ = true;
  bool names_server_ = false;
};

/// See `FieldName::only_for_session`.
inline constexpr NameSet<4> kOnlyForSession = {
    {"Content-Length", "Transfer-Encoding", "Connection", "Date"}};

constexpr bool FieldName::only_for_session(std::string_view name) {
  return kOnlyForSession.contains(name);
}

constexpr bool FieldName::may_be_set(std::string_view name) {
  return !only_for_session(name) && is_token(name);
}

}  // namespace fenceline::base
