#include "backends/s3/xml_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/s3/xml_characters.h"
#include "base/fence_key.h"

namespace fenceline::backends::s3 {
namespace {

using base::Result;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kXmlSpace = "http://www.w3.org/XML/1998/namespace";
constexpr std::string_view kXmlnsSpace = "http://www.w3.org/2000/xmlns/";
constexpr std::string_view kXmlnsPrefix = "xmlns:";

}  // namespace

tl::unexpected<base::Error> XmlReader::refuse(std::string_view why) const {
  return tl::unexpected(base::Error{
      .kind = base::ErrorKind::kMalformedRequest,
      .detail = fmt::format("The XML document cannot be read: {}, at byte {}.", why, at_),
      .code = "MalformedXML"});
}

bool XmlReader::take(std::string_view expected) {
  if (!rest().starts_with(expected)) {
    return false;
  }
  at_ += expected.size();
  return true;
}

bool XmlReader::take_blanks() {
  const std::size_t before = at_;
  while (at_ < xml_.size() && is_xml_blank(xml_[at_])) {
    ++at_;
  }
  return at_ > before;
}

Result<XmlEvent> XmlReader::next() {
  if (!begun_) {
    if (auto done = begin(); !done) {
      return base::pass_on(done.error());
    }
  }
  if (closes_) {
    return close_element();
  }
  XmlEvent event;
  auto done = open_.empty() ? skip_around_root() : read_content(event.text);
  if (!done) {
    return base::pass_on(done.error());
  }
  if (!event.text.empty()) {
    event.kind = XmlEvent::Kind::kText;
    return event;
  }
  if (at_ == xml_.size()) {
    return event;
  }
  return rest().starts_with("</") ? read_end_tag() : read_start_tag();
}

Result<void> XmlReader::begin() {
  begun_ = true;
  if (!base::is_valid_utf8(xml_)) {
    return refuse("it is not UTF-8");
  }
  if (!are_xml_characters(xml_)) {
    return refuse("it has a control character or another that XML does not have");
  }
  take(kByteOrderMark);
  return rest().starts_with("<?xml") ? read_declaration() : Result<void>();
}

Result<void> XmlReader::read_declaration() {
  take("<?xml");
  auto read = read_attributes();
  if (!read) {
    return base::pass_on(read.error());
  }
  const auto value_of = [&](std::size_t place, std::string_view name) -> std::string_view {
    return place < read->size() && (*read)[place].name == name ? (*read)[place].value
                                                               : std::string_view();
  };
  std::string encoding(value_of(1, "encoding"));
  std::ranges::transform(encoding, encoding.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  const std::string_view standalone = value_of(encoding.empty() ? 1 : 2, "standalone");
  const std::size_t known = 1U + (encoding.empty() ? 0U : 1U) + (standalone.empty() ? 0U : 1U);
  if (value_of(0, "version") != "1.0" || (!encoding.empty() && encoding != "UTF-8") ||
      (!standalone.empty() && standalone != "yes" && standalone != "no") || read->size() != known ||
      xml_.substr(0, at_).find('&') != xml_.npos || !take("?>")) {
    return refuse("its declaration is not that of XML 1.0 in UTF-8");
  }
  return {};
}

Result<void> XmlReader::skip_around_root() {
  while (take_blanks() || rest().starts_with("<!--")) {
    if (rest().starts_with("<!--")) {
      if (auto done = read_comment(); !done) {
        return done;
      }
    }
  }
  if (at_ == xml_.size()) {
    return root_seen_ ? Result<void>() : refuse("it has no element");
  }
  if (root_seen_) {
    return refuse("something follows its only element");
  }
  if (!rest().starts_with('<') || rest().starts_with("<!") || rest().starts_with("<?") ||
      rest().starts_with("</")) {
    return refuse("it does not begin with an element (document types are not taken)");
  }
  return {};
}

Result<void> XmlReader::read_content(std::string& text) {
  while (at_ < xml_.size()) {
    Result<void> done;
    if (rest().starts_with("<!--")) {
      done = read_comment();
    } else if (rest().starts_with("<![CDATA[")) {
      done = read_cdata(text);
    } else if (rest().starts_with("<!") || rest().starts_with("<?")) {
      done = refuse("declarations and processing instructions are not taken");
    } else if (xml_[at_] == '<') {
      return {};
    } else if (xml_[at_] == '&') {
      done = read_reference(text);
    } else if (rest().starts_with("]]>")) {
      done = refuse("`]]>` is in the text");
    } else {
      // XML 1.0, 2.11: CR LF and CR are LF.
      const bool is_cr = xml_[at_] == '\r';
      if (!is_cr || !rest().starts_with("\r\n")) {
        text.push_back(is_cr ? '\n' : xml_[at_]);
      }
      ++at_;
    }
    if (!done) {
      return done;
    }
  }
  return refuse("it ends within an element");
}

Result<void> XmlReader::read_comment() {
  take("<!--");
  const std::size_t end = rest().find("--");
  at_ = end == rest().npos ? xml_.size() : at_ + end;
  return take("-->") ? Result<void>() : refuse("a comment does not end with its first `--`");
}

Result<void> XmlReader::read_cdata(std::string& text) {
  take("<![CDATA[");
  const std::size_t length = rest().find("]]>");
  if (length == rest().npos) {
    return refuse("a CDATA section does not end");
  }
  const std::string_view content = rest().substr(0, length);
  for (std::size_t i = 0; i < length; ++i) {
    const bool is_cr = content[i] == '\r';
    if (!is_cr || !content.substr(i).starts_with("\r\n")) {
      text.push_back(is_cr ? '\n' : content[i]);
    }
  }
  at_ += length;
  take("]]>");
  return {};
}

Result<void> XmlReader::read_reference(std::string& text) {
  constexpr std::size_t kMaxNameBytes = 16;
  const std::string_view name = rest().substr(1, kMaxNameBytes + 1);
  const std::size_t end = name.find(';');
  const std::uint32_t code = end == name.npos ? 0 : referred_character(name.substr(0, end));
  if (code == 0) {
    return refuse("a `&` does not begin one of the five entities of XML or a character");
  }
  append_utf8(text, code);
  at_ += end + 2;
  return {};
}

Result<std::string_view> XmlReader::read_name() {
  const std::size_t begin = at_;
  std::size_t part = at_;  // Where the prefix, or what is behind it, begins.
  std::size_t colons = 0;
  while (at_ < xml_.size()) {
    const char c = xml_[at_];
    if (c == ':' && at_ > part && colons == 0) {
      ++colons;
      part = at_ + 1;
    } else if (at_ == part ? !starts_xml_name(c) : !goes_on_xml_name(c)) {
      break;
    }
    ++at_;
  }
  if (at_ == part) {
    return refuse("there is no name of an element or attribute");
  }
  return xml_.substr(begin, at_ - begin);
}

Result<std::string> XmlReader::read_quoted() {
  const char quote = at_ < xml_.size() ? xml_[at_] : '\0';
  if (quote != '"' && quote != '\'') {
    return refuse("the value of an attribute is not in quotes");
  }
  ++at_;
  std::string value;
  while (at_ < xml_.size() && xml_[at_] != quote && xml_[at_] != '<') {
    if (xml_[at_] == '&') {
      if (auto done = read_reference(value); !done) {
        return base::pass_on(done.error());
      }
      continue;
    }
    // XML 1.0, 3.3.3; CR LF is one.
    if (!rest().starts_with("\r\n")) {
      value.push_back(is_xml_blank(xml_[at_]) ? ' ' : xml_[at_]);
    }
    ++at_;
  }
  if (!take(std::string_view(&quote, 1))) {
    return refuse("the value of an attribute does not end, or has a `<`");
  }
  return value;
}

Result<std::vector<XmlReader::Attribute>> XmlReader::read_attributes() {
  std::vector<Attribute> all;
  while (true) {
    const bool apart = take_blanks();
    if (at_ == xml_.size() || xml_[at_] == '>' || xml_[at_] == '/' || xml_[at_] == '?') {
      return all;
    }
    if (!apart || all.size() == kMaxAttributes) {
      return refuse("a tag has something else than attributes, or too many of them");
    }
    const auto name = read_name();
    if (!name) {
      return tl::unexpected(name.error());
    }
    take_blanks();
    if (!take("=")) {
      return refuse("an attribute has no value");
    }
    take_blanks();
    auto value = read_quoted();
    if (!value) {
      return base::pass_on(value.error());
    }
    all.push_back({.name = *name, .value = *std::move(value)});
  }
}

Result<void> XmlReader::bind(const std::vector<Attribute>& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name != "xmlns" && !name.starts_with(kXmlnsPrefix)) {
      continue;
    }
    const std::string_view prefix = name.substr(std::min(kXmlnsPrefix.size(), name.size()));
    if (prefix == "xml" || prefix == "xmlns" || value == kXmlSpace || value == kXmlnsSpace ||
        (value.empty() && !prefix.empty())) {
      return refuse("a namespace is declared that cannot be");
    }
    bindings_.emplace_back(prefix, value);
  }
  return {};
}

Result<XmlReader::QualifiedName> XmlReader::resolve(std::string_view name, bool is_element) const {
  const std::size_t colon = name.find(':');
  const std::string_view prefix = colon == name.npos ? "" : name.substr(0, colon);
  QualifiedName qualified{.space = {}, .local = colon == name.npos ? name : name.substr(colon + 1)};
  if (prefix.empty() && !is_element) {
    return qualified;
  }
  if (prefix == "xml" || (prefix == "xmlns" && !is_element)) {
    qualified.space = prefix == "xml" ? kXmlSpace : kXmlnsSpace;
    return qualified;
  }
  const auto found = std::find_if(bindings_.rbegin(), bindings_.rend(),
                                  [&](const auto& binding) { return binding.first == prefix; });
  if (found != bindings_.rend()) {
    qualified.space = found->second;
  } else if (!prefix.empty()) {
    return refuse("a prefix is not bound to a namespace");
  }
  return qualified;
}

Result<void> XmlReader::check_attributes(const std::vector<Attribute>& attributes) const {
  std::vector<QualifiedName> seen;
  for (const Attribute& attribute : attributes) {
    const auto name = resolve(attribute.name, false);
    if (!name) {
      return tl::unexpected(name.error());
    }
    if (std::ranges::find(seen, *name) != seen.end()) {
      return refuse("an element has the same attribute twice");
    }
    seen.push_back(*name);
  }
  return {};
}

Result<XmlEvent> XmlReader::read_start_tag() {
  take("<");
  if (open_.size() == kMaxDepth) {
    return refuse("elements are nested too deep");
  }
  const auto tag = read_name();
  if (!tag) {
    return tl::unexpected(tag.error());
  }
  auto attributes = read_attributes();
  if (!attributes) {
    return base::pass_on(attributes.error());
  }
  closes_ = take("/");
  if (!take(">")) {
    return refuse("a tag does not end with `>`");
  }
  root_seen_ = true;
  open_.push_back({.tag = *tag, .bindings = bindings_.size()});
  auto done = bind(*attributes);
  if (done) {
    done = check_attributes(*attributes);
  }
  if (!done) {
    return base::pass_on(done.error());
  }
  const auto name = resolve(*tag, true);
  if (!name) {
    return tl::unexpected(name.error());
  }
  return XmlEvent{.kind = XmlEvent::Kind::kStart,
                  .space = std::string(name->space),
                  .name = std::string(name->local),
                  .text = {}};
}

Result<XmlEvent> XmlReader::read_end_tag() {
  take("</");
  if (!take(open_.back().tag)) {
    return refuse("an end tag is not that of the element that is open");
  }
  take_blanks();
  if (!take(">")) {
    return refuse("an end tag is not that of the element that is open");
  }
  return close_element();
}

XmlEvent XmlReader::close_element() {
  closes_ = false;
  bindings_.resize(open_.back().bindings);
  open_.pop_back();
  XmlEvent event;
  event.kind = XmlEvent::Kind::kEnd;
  return event;
}

}  // namespace fenceline::backends::s3
