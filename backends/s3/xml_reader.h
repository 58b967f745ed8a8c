#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fenceline::backends::s3 {

/// One thing in a document.
struct XmlEvent {
  enum class Kind : std::uint8_t {
    kStart,  ///< The start tag of an element.
    kEnd,    ///< Its end; also of `<a/>`.
    kText,   ///< Text between two tags: all of it, with CDATA and references resolved.
    kDone,   ///< The document is complete, and nothing follows.
  };

  Kind kind = Kind::kDone;
  std::string space;  ///< With `kStart`: the namespace; empty: none.
  std::string name;   ///< With `kStart`: without its prefix.
  std::string text;   ///< With `kText`; never empty.
};

/// Reads small documents of strangers: XML 1.0 with namespaces, in UTF-8, strictly.
///
/// Our own, because pugixml, the library at hand, takes much that is no XML (unknown entities,
/// bytes that are no characters, the same attribute twice, `--` in comments, unbound prefixes), and
/// two readers that disagree about a list of deletions are what must not be. Refused beyond what is
/// ill-formed: document types, and so all entities of one's own; processing instructions; another
/// encoding than UTF-8; names that are not ASCII; more than `kMaxDepth` elements inside each other
/// or `kMaxAttributes` of one. Attributes are checked and, but for namespaces, dropped. Not
/// thread-safe; `xml` outlives it.
class XmlReader {
 public:
  static constexpr std::size_t kMaxDepth = 16;
  static constexpr std::size_t kMaxAttributes = 16;

  explicit XmlReader(std::string_view xml) : xml_(xml) {}

  /// The next thing.
  /// Failure: `kMalformedRequest` with `MalformedXML`, and where in the document that is. Do not
  /// call it again after that or after `kDone`.
  base::Result<XmlEvent> next();

 private:
  struct Element {
    std::string_view tag;      ///< As it was written, with its prefix.
    std::size_t bindings = 0;  ///< How many there were outside of it.
  };
  struct Attribute {
    std::string_view name;
    std::string value;
  };
  struct QualifiedName {
    std::string_view space;
    std::string_view local;
    friend bool operator==(const QualifiedName&, const QualifiedName&) = default;
  };

  base::Result<void> begin();
  base::Result<void> read_declaration();
  base::Result<void> skip_around_root();
  /// Reads text, CDATA and comments up to the next tag.
  base::Result<void> read_content(std::string& text);
  base::Result<void> read_comment();
  base::Result<void> read_cdata(std::string& text);
  base::Result<void> read_reference(std::string& text);
  base::Result<XmlEvent> read_start_tag();
  base::Result<XmlEvent> read_end_tag();
  base::Result<std::vector<Attribute>> read_attributes();
  base::Result<std::string_view> read_name();
  base::Result<std::string> read_quoted();
  base::Result<void> bind(const std::vector<Attribute>& attributes);
  base::Result<void> check_attributes(const std::vector<Attribute>& attributes) const;
  [[nodiscard]] base::Result<QualifiedName> resolve(std::string_view name, bool is_element) const;
  XmlEvent close_element();

  [[nodiscard]] std::string_view rest() const { return xml_.substr(at_); }
  /// Goes behind `expected`, if that is next.
  bool take(std::string_view expected);
  /// True if there was at least one.
  bool take_blanks();
  [[nodiscard]] tl::unexpected<base::Error> refuse(std::string_view why) const;

  std::string_view xml_;
  std::size_t at_ = 0;
  bool begun_ = false;
  bool root_seen_ = false;
  bool closes_ = false;  ///< The last start tag was `<a/>`.
  std::vector<Element> open_;
  std::vector<std::pair<std::string_view, std::string>> bindings_;  ///< The innermost last.
};

}  // namespace fenceline::backends::s3
