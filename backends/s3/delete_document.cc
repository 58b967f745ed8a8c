#include "backends/s3/delete_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/s3/object_name.h"
#include "backends/s3/xml_characters.h"
#include "backends/s3/xml_reader.h"

namespace fenceline::backends::s3 {
namespace {

using base::Result;
using Kind = XmlEvent::Kind;

constexpr std::string_view kSpace = "http://s3.amazonaws.com/doc/2006-03-01/";

tl::unexpected<base::Error> refuse(std::string detail) {
  return tl::unexpected(base::Error{.kind = base::ErrorKind::kMalformedRequest,
                                    .detail = "The document of deletions " + std::move(detail),
                                    .code = "MalformedXML"});
}

bool is_blank(std::string_view text) { return std::ranges::all_of(text, is_xml_blank); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_xml_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_xml_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view xml) : reader_(xml) {}

  Result<DeleteDocument> parse() {
    auto root = reader_.next();
    if (!root) {
      return base::pass_on(root.error());
    }
    if (root->name != "Delete" || (!root->space.empty() && root->space != kSpace)) {
      return refuse(fmt::format("is no `Delete` of the namespace {}.", kSpace));
    }
    space_ = root->space;
    auto done = read_root();
    if (!done) {
      return base::pass_on(done.error());
    }
    // Nothing may follow, and the reader says so.
    auto end = reader_.next();
    if (!end) {
      return base::pass_on(end.error());
    }
    if (document_.deletions.empty()) {
      return refuse("has no `Object`.");
    }
    return std::move(document_);
  }

 private:
  /// The name of the next element inside the current one; empty at the end of that.
  Result<std::string> next_child() {
    while (true) {
      auto event = reader_.next();
      if (!event) {
        return base::pass_on(event.error());
      }
      if (event->kind == Kind::kEnd) {
        return std::string();
      }
      if (event->kind == Kind::kStart) {
        return event->space == space_ ? Result<std::string>(std::move(event->name))
                                      : refuse("has an element of another namespace.");
      }
      if (!is_blank(event->text)) {
        return refuse("has text where only elements may be.");
      }
    }
  }

  /// The text of the element that has just begun, up to its end.
  Result<std::string> read_text() {
    std::string text;
    while (true) {
      auto event = reader_.next();
      if (!event) {
        return base::pass_on(event.error());
      }
      if (event->kind == Kind::kEnd) {
        return text;
      }
      if (event->kind != Kind::kText) {
        return refuse("has an element where only text may be.");
      }
      text = std::move(event->text);
    }
  }

  Result<void> read_root() {
    bool has_quiet = false;
    while (true) {
      auto child = next_child();
      Result<void> done;
      if (!child) {
        return base::pass_on(child.error());
      }
      if (child->empty()) {
        return {};
      }
      if (*child == "Object") {
        done = document_.deletions.size() < kMaxDeletions
                   ? read_object()
                   : refuse(fmt::format("has more than {} objects.", kMaxDeletions));
      } else if (*child == "Quiet" && !has_quiet) {
        has_quiet = true;
        done = read_quiet();
      } else {
        done = refuse(fmt::format("has a second or unknown element `{}` in `Delete`.", *child));
      }
      if (!done) {
        return done;
      }
    }
  }

  Result<void> read_quiet() {
    auto text = read_text();
    if (!text) {
      return base::pass_on(text.error());
    }
    const std::string_view value = trimmed(*text);
    document_.quiet = value == "true" || value == "1";
    return document_.quiet || value == "false" || value == "0"
               ? Result<void>()
               : refuse("has a `Quiet` that is neither `true` nor `false`.");
  }

  Result<void> read_object() {
    std::optional<std::string> key;
    std::optional<std::string> version;
    std::optional<std::string> etag;
    while (true) {
      auto child = next_child();
      if (!child) {
        return base::pass_on(child.error());
      }
      if (child->empty()) {
        break;
      }
      std::optional<std::string>* const field = *child == "Key"         ? &key
                                                : *child == "VersionId" ? &version
                                                : *child == "ETag"      ? &etag
                                                                        : nullptr;
      if (field == nullptr || *field) {
        return refuse(fmt::format("has a second or unknown element `{}` in an `Object`.", *child));
      }
      auto text = read_text();
      if (!text) {
        return base::pass_on(text.error());
      }
      field->emplace(*std::move(text));
    }
    return keep(key, version, etag);
  }

  Result<void> keep(std::optional<std::string>& key, std::optional<std::string>& version,
                    std::optional<std::string>& etag) {
    if (!key) {
      return refuse("has an `Object` without a `Key`.");
    }
    if (auto checked = check_key(*key); !checked) {
      return refuse("has a key that cannot be: " + checked.error().detail);
    }
    // An empty one could mean the current version, or that somebody forgot it.
    for (const auto* const text : {&version, &etag}) {
      if (*text && ((*text)->empty() || !check_key(**text))) {
        return refuse("has a `VersionId` or `ETag` that is empty, too long or has control bytes.");
      }
    }
    document_.deletions.push_back({.key = *std::move(key),
                                   .version = std::move(version).value_or(""),
                                   .etag = std::move(etag).value_or("")});
    return {};
  }

  XmlReader reader_;
  std::string space_;
  DeleteDocument document_;
};

void append_element(std::string& xml, std::string_view name, std::string_view text) {
  xml += fmt::format("<{}>", name);
  for (const char c : text) {
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      default:
        xml += c;
    }
  }
  xml += fmt::format("</{}>", name);
}

}  // namespace

Result<DeleteDocument> parse_delete_document(std::string_view xml) {
  if (xml.size() > kMaxDeleteDocumentBytes) {
    return refuse(fmt::format("has more than {} bytes.", kMaxDeleteDocumentBytes));
  }
  return Parser(xml).parse();
}

std::string write_delete_document(const DeleteDocument& document) {
  std::string xml =
      fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="{}">)", kSpace);
  for (const Deletion& deletion : document.deletions) {
    xml += "<Object>";
    append_element(xml, "Key", deletion.key);
    if (!deletion.version.empty()) {
      append_element(xml, "VersionId", deletion.version);
    }
    if (!deletion.etag.empty()) {
      append_element(xml, "ETag", deletion.etag);
    }
    xml += "</Object>";
  }
  if (document.quiet) {
    append_element(xml, "Quiet", "true");
  }
  return xml + "</Delete>";
}

}  // namespace fenceline::backends::s3
