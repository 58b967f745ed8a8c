#pragma once

#include <string>
#include <string_view>

namespace fenceline::base {

/// Appends `text` to `out` as the text of an XML element or attribute (XML 1.0, 2.2 and 2.4).
/// Does: escapes what is markup, and carriage returns, which a reader would turn into line ends.
/// What no XML can hold becomes U+FFFD: control bytes, U+FFFE and U+FFFF, and every byte that is
/// not part of valid UTF-8; so the result is always well formed, whatever a client sent. Failure:
/// none. Pure but for `out`, to which it only appends.
void append_xml_text(std::string& out, std::string_view text);

/// Appends `<name>`, `text` as above, `</name>`. `name`: one that needs no escaping. Pure but for
/// `out`.
void append_xml_element(std::string& out, std::string_view name, std::string_view text);

}  // namespace fenceline::base
