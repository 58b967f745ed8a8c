#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/async.h"
#include "base/http.h"
#include "proxy/read_buffer.h"
#include "proxy/request_parser.h"
#include "proxy/server_options.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// The body of the request that a connection is serving, read from the connection on demand. One
/// per connection, used for one request after the other.
class RequestBody final : public base::BodySource {
 public:
  /// All arguments belong to the session and outlive the body.
  RequestBody(Transport& transport, ReadBuffer& buffer, const SessionTimeouts& timeouts,
              const SessionLimits& limits)
      : transport_(transport), buffer_(buffer), timeouts_(&timeouts), limits_(&limits) {}

  /// From the next request on, these count. They outlive the body, or the next call of this.
  void follow(const SessionTimeouts& timeouts, const SessionLimits& limits) {
    timeouts_ = &timeouts;
    limits_ = &limits;
  }

  /// Starts on the body of the head that `parser` has just read.
  void begin(RequestParser& parser);

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override;
  base::Awaitable<base::Result<std::string_view>> read() override;
  void limit_idle(base::Milliseconds limit) override { idle_limit_ = limit; }

  /// All of the body has arrived, or there is none.
  [[nodiscard]] bool finished() const { return !failure_ && parser_->body_finished(); }

  /// The body can never be completed, and no request can be parsed behind it.
  [[nodiscard]] bool failed() const { return failure_.has_value(); }

  [[nodiscard]] bool client_gone() const {
    return failure_ && failure_->kind == base::ErrorKind::kClientGone;
  }

  /// `Expect: 100-continue` is unanswered: nobody knows whether the body will come.
  [[nodiscard]] bool continue_pending() const { return continue_pending_; }

  /// What is missing of a body whose length was declared; nothing for a chunked one.
  [[nodiscard]] std::optional<std::uint64_t> remaining_bytes() const;

  /// Drops what has arrived already, without waiting.
  void skip_buffered();

  /// Reads and drops the rest, at most `limits.drain_bytes`, within `timeouts.linger` in total.
  /// True if the body is complete now, so that the next request can be parsed.
  base::Awaitable<bool> drain();

 private:
  base::Result<std::string_view> next_buffered();
  base::Awaitable<base::Result<void>> send_continue();
  base::Awaitable<base::Result<std::string_view>> receive_piece();
  base::Awaitable<base::Result<void>> receive();

  Transport& transport_;
  ReadBuffer& buffer_;
  const SessionTimeouts* timeouts_;
  const SessionLimits* limits_;
  RequestParser* parser_ = nullptr;
  std::size_t read_bytes_ = ReadBuffer::kIdleBytes;  ///< The size of the next read; it grows.
  std::uint64_t received_bytes_ = 0;                 ///< Content, without chunk framing.
  base::Milliseconds idle_limit_{0};                 ///< Of the current request.
  bool continue_pending_ = false;
  bool draining_ = false;
  std::optional<base::Error> failure_;
};

}  // namespace fenceline::proxy
