#pragma once

#include <string_view>

namespace fenceline::proxy {

/// The reason phrase for a status (RFC 9110, 15; RFC 6585; RFC 4918); empty for a status that is
/// not in the table, which is valid on the wire (RFC 9112, 4). Pure.
std::string_view reason_phrase(int status);

/// The whole first line of an answer with a status from 200 to 599, with its CR LF; valid for ever.
/// Thread-safe.
std::string_view status_line(int status);

}  // namespace fenceline::proxy
