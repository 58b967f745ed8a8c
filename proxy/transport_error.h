#pragma once

#include <boost/system/error_code.hpp>
#include <string_view>

#include "base/error.h"

namespace fenceline::proxy {

/// Why an operation of the connection ended: see `Transport`. `what` names the operation.
base::Error transport_error(const boost::system::error_code& error, bool deadline_passed,
                            std::string_view what);

}  // namespace fenceline::proxy
