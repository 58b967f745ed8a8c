#pragma once

// Behind `TlsContext`; included by the TLS .cc files only.

#include <boost/asio/ssl/context.hpp>

#include "proxy/tls_transport.h"

namespace fenceline::proxy {

class TlsContext {
 public:
  TlsContext() : context_(boost::asio::ssl::context::tls_server) {}

  boost::asio::ssl::context& context() { return context_; }

 private:
  boost::asio::ssl::context context_;
};

}  // namespace fenceline::proxy
