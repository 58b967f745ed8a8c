#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/field_lines.h"
#include "base/net/http_client.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

class UpstreamWatch;

/// A request to the upstream, but for its body.
struct Outgoing {
  std::string method;
  std::string target;
  base::FieldLines fields = {};
};

/// An answer whose body has not been read yet.
struct Received {
  std::unique_ptr<base::net::HttpExchange> exchange;
  base::net::ResponseHead head;
  /// False if the upstream answered before the last byte of the request was sent.
  bool complete = true;
};

/// For a request without one.
inline constexpr std::string_view kNoBody;

/// When a request may be sent a second time.
enum class Resend : std::uint8_t {
  kIfUnsent,      ///< A write: only if no byte of it has left.
  kIfUnanswered,  ///< A read: also if a connection that was used before broke without an answer.
};

/// Sends a request whose body is all there, and waits for the head of the answer.
/// Does: at most one second try, on a fresh connection, if the first one had been used before.
/// `body_bytes`: the declared length; nothing for a request without a body.
/// Failure: as `HttpClient` and `HttpExchange`. `out` and `body` outlive the call. `watch`, if
/// there is one, hears what became of it.
base::Awaitable<base::Result<Received>> send_whole(base::net::HttpClient& client,
                                                   base::TimerWheel& timers, const Outgoing& out,
                                                   std::optional<std::uint64_t> body_bytes,
                                                   std::string_view body, Resend resend,
                                                   std::shared_ptr<UpstreamWatch> watch = nullptr);

/// An answer that was read to its end.
struct Answered {
  int status = 0;
  std::string etag;
  std::string server;
  std::string last_modified;
  std::string content_encoding;
  std::string body;

  [[nodiscard]] bool succeeded() const { return status / 100 == 2; }
};

/// A small request of our own and its whole answer, of which at most `max_bytes` are taken.
/// `has_body`: false for GET, HEAD, DELETE, MOVE.
/// Failure: as `send_whole`; `kUpstreamFailed` if the answer is longer.
base::Awaitable<base::Result<Answered>> ask(base::net::HttpClient& client, base::TimerWheel& timers,
                                            Outgoing out, std::string body, bool has_body,
                                            Resend resend);

/// The first value of a field of an answer; empty if there is none.
std::string_view value_of(const base::net::ResponseHead& head, std::string_view name);

}  // namespace fenceline::backends::http
