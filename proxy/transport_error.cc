#include "proxy/transport_error.h"

#include <fmt/format.h>

#include <boost/asio/error.hpp>

namespace fenceline::proxy {

base::Error transport_error(const boost::system::error_code& error, bool deadline_passed,
                            std::string_view what) {
  using base::ErrorKind;
  if (deadline_passed) {
    return {ErrorKind::kRequestTimeout, fmt::format("{}: the time for it is over", what)};
  }
  if (error == boost::asio::error::operation_aborted ||
      error == boost::asio::error::bad_descriptor) {
    return {ErrorKind::kShuttingDown, fmt::format("{}: the server closed the connection", what)};
  }
  return {ErrorKind::kClientGone, fmt::format("{}: {}", what, error.message())};
}

}  // namespace fenceline::proxy
