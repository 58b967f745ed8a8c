#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http.h"

namespace fenceline::backends::http {

/// The fields of one message that end at this hop (RFC 9110, 7.6.1). Views into the message.
class HopByHop {
 public:
  explicit HopByHop(const std::vector<base::Field>& fields);

  /// True for a field that must not be forwarded: one that always belongs to a connection, or that
  /// `Connection` names. What belongs to everybody cannot be named away by `Connection`: that would
  /// take a condition off a write, or credentials off a request.
  [[nodiscard]] bool covers(std::string_view name) const;

 private:
  std::vector<std::string_view> named_;
};

}  // namespace fenceline::backends::http
