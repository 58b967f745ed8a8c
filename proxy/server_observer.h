#pragma once

#include <chrono>
#include <string_view>

namespace fenceline::proxy {

/// One answered request. Views are valid during the call only.
struct RequestSummary {
  std::string_view listener;    ///< `ListenerOptions::name`.
  std::string_view peer;        ///< "address:port".
  std::string_view request_id;  ///< Empty if the head could not be parsed.
  int status = 0;               ///< As it was sent.
  /// From the complete head to the last byte handed to the kernel.
  std::chrono::nanoseconds duration{0};
  bool complete = false;  ///< False: the answer could not be sent to its end.
};

/// Metrics and log of the HTTP front. Called on the cores' threads, several at once: must be
/// thread-safe, fast, and must not throw. Every method does nothing unless overridden.
class ServerObserver {
 public:
  ServerObserver() = default;
  ServerObserver(const ServerObserver&) = delete;
  ServerObserver& operator=(const ServerObserver&) = delete;
  virtual ~ServerObserver() = default;

  virtual void connection_opened(std::string_view /*listener*/) {}
  virtual void connection_closed(std::string_view /*listener*/) {}

  /// A connection above the limit, which is answered 503 and does not count as opened.
  virtual void connection_refused(std::string_view /*listener*/) {}

  virtual void request_finished(const RequestSummary& /*summary*/) {}

  /// A bug: a handler or a coroutine threw, or a reply broke a rule. `where` is the request id if
  /// there is one. To be logged as an error.
  virtual void bug(std::string_view /*where*/, std::string_view /*what*/) {}

  /// No connection can be accepted for a moment (too many open files, no memory).
  virtual void accept_paused(std::string_view /*listener*/, std::string_view /*reason*/) {}
};

}  // namespace fenceline::proxy
