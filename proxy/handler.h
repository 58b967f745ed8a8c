#pragma once

#include <string_view>

#include "base/async.h"
#include "base/http.h"
#include "base/timer_wheel.h"

namespace fenceline::proxy {

class ClientWatch;

/// One request on its way through a handler. Everything outlives the call to `handle`.
struct Request {
  const base::RequestHead& head;
  base::BodySource& body;
  std::string_view peer;          ///< "address:port" of the client, for logs.
  std::string_view request_id;    ///< Unique in this process; visible ASCII, at most 64 bytes.
  base::TimerWheel& timers;       ///< The time-outs of the core that runs this request.
  bool over_tls = false;          ///< The client's connection is encrypted.
  ClientWatch* client = nullptr;  ///< Tells when the client goes; null in tests without one.
};

/// What a listener's sessions call for every request that passed framing and limits: the pipeline
/// on the public listener, the admin API on the admin listener.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// Answers one request.
  /// Does: reads as much of the body as it needs. A body that is not read to its end is drained or
  /// cut off by the session, so that the client reads the answer and no request is parsed out of a
  /// body.
  /// Success and failure: always a Reply; errors are problem documents (`proxy/problem.h`).
  /// Concurrency: many requests at once, each on the core of its connection. Must not throw; the
  /// session answers 500 and logs if it does.
  virtual base::Awaitable<base::Reply> handle(Request request) = 0;
};

}  // namespace fenceline::proxy
