#pragma once

// An HTTP/1.1 client for one upstream (RFC 9110, RFC 9112): a keep-alive pool per core, requests
// sent piece by piece so that the last bytes can be held back, answers streamed. It decides nothing
// about retries of writes: it says what was provably not sent.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/http.h"
#include "base/timer_wheel.h"

namespace fenceline::base::net {

/// One upstream and the limits towards it. Times in milliseconds, all on the monotonic clock.
struct HttpClientOptions {
  std::string host;  ///< A name or an address, IPv6 without brackets.
  std::uint16_t port = 0;
  bool tls = false;
  bool tls_verify = true;
  std::string tls_ca_file;              ///< PEM; empty: the system's.
  std::string tls_name;                 ///< For SNI and the certificate; empty: `host`.
  Milliseconds connect{5'000};          ///< Name, TCP and TLS together.
  Milliseconds first_byte{60'000};      ///< From the request's last byte to the head of the answer.
  Milliseconds idle{60'000};            ///< Between two pieces, in either direction.
  Milliseconds keep_alive{30'000};      ///< An idle connection is closed after this.
  std::size_t max_connections = 1'024;  ///< Per core; beyond: `kOverloaded`.
  std::size_t max_idle = 64;            ///< Per core, kept for reuse.
  std::size_t max_head_bytes = 64UL * 1024;
  std::size_t buffer_bytes = 256UL * 1024;  ///< For the bodies of answers.
};

/// The head of a request as it goes out; everything is copied or sent before the call returns.
/// The client adds `Content-Length` or `Transfer-Encoding`; `fields` holds all others, also `Host`.
struct OutgoingHead {
  std::string_view method = {};
  std::string_view target = {};  ///< Origin form, encoded.
  const FieldLines* fields = nullptr;
  /// The length of the body; with `chunked` it is unknown; neither: there is no body.
  std::optional<std::uint64_t> content_length = {};
  bool chunked = false;
};

/// The final head of an answer (1xx are skipped). The views are valid until the exchange ends.
struct ResponseHead {
  int status = 0;
  std::vector<Field> fields;  ///< All, also hop-by-hop ones; names and values are checked.
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
};

/// One request and its answer on one connection. On one core. Destroying it before the answer was
/// read to its end closes the connection, so a message that is not complete stays incomplete.
class HttpExchange {
 public:
  HttpExchange() = default;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  virtual ~HttpExchange() = default;

  /// Sends the head together with the first bytes of the body. `is_all`: nothing of the body
  /// follows, so with this the message is complete.
  /// Success: all of it was sent; or the upstream has answered or closed meanwhile, which is no
  /// failure here: see `answered`.
  /// Failure: `kUpstreamTimeout` if nothing moved for `idle`; `kInternal`, and nothing is sent, for
  /// a head that cannot go out and for bytes that do not fit the declared length: too many, too few
  /// with `is_all`, or all of them without (then the message would be complete although the caller
  /// holds back). `applied` is `kNo` if the message cannot be complete at the upstream, else
  /// `kUnknown`.
  virtual Awaitable<Result<void>> send_head(const OutgoingHead& head, std::string_view body,
                                            bool is_all) = 0;

  /// Sends more of the body; framed if it is chunked. Not empty unless `is_all`.
  virtual Awaitable<Result<void>> send_body(std::string_view body, bool is_all) = 0;

  /// True if the upstream has already sent something, or has closed, while the request is not
  /// complete: go on with `receive_head`, and send no more.
  [[nodiscard]] virtual bool answered() = 0;

  /// Waits for the final head; skips 1xx.
  /// Failure: `kUpstreamFailed` (closed, reset, or what came is no HTTP/1.x head that can be framed
  /// without doubt), `kUpstreamTimeout`; `applied` as for `send_head`: `kUnknown` if the message
  /// was complete.
  virtual Awaitable<Result<ResponseHead>> receive_head() = 0;

  /// The body of the answer, after `receive_head`. Takes over the connection; when it was read to
  /// its end, and nothing else forbids it, the connection goes back to the pool. The exchange must
  /// outlive what `ResponseHead` points to; `exchange` is moved into the body for that. `keeps` is
  /// only kept, and let go after the exchange: what that needs to live.
  /// A body that ends too early fails with `kUpstreamFailed`.
  static std::unique_ptr<BodySource> body_of(std::unique_ptr<HttpExchange> exchange,
                                             std::shared_ptr<const void> keeps = nullptr);

  /// Reads the body to its end, at most `max_bytes`, and gives the connection back.
  /// Failure: `kUpstreamFailed`, also if it is longer; `kUpstreamTimeout`.
  virtual Awaitable<Result<std::string>> read_all(std::size_t max_bytes) = 0;

  /// True once the answer has been read to its end; after `receive_head` if it has no body.
  [[nodiscard]] virtual bool finished() const = 0;

  /// True if the connection was used before: a failure may only mean that it had gone stale.
  [[nodiscard]] virtual bool reused() const = 0;

  /// True while no byte of this request has left, as far as can be proved.
  [[nodiscard]] virtual bool unsent() const = 0;

 protected:
  virtual Awaitable<Result<std::string_view>> read_piece() = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> body_bytes() const = 0;
  virtual void limit_idle(Milliseconds limit) = 0;
  friend class ExchangeBody;
};

/// The pools of one upstream, one for each core that uses it.
class HttpClient {
 public:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  virtual ~HttpClient() = default;

  /// Takes an idle connection of this core, or opens one.
  /// Does: an idle connection that is readable or closed is thrown away, never used.
  /// `fresh`: opens a new one in any case.
  /// Success: an exchange. Failure: `kUpstreamFailed` (name, refused, TLS), `kUpstreamTimeout`,
  /// `kOverloaded`; `applied` is `kNo`.
  /// Concurrency: a coroutine of the core that owns `timers`; thread-safe across cores. The client
  /// outlives every exchange; the pools of a core end with its io_context.
  virtual Awaitable<Result<std::unique_ptr<HttpExchange>>> open(TimerWheel& timers,
                                                                bool fresh = false) = 0;

  /// Open connections of all cores, for metrics. Thread-safe.
  [[nodiscard]] virtual std::size_t connections() const = 0;
};

/// Makes the client of one upstream; connects nowhere yet.
/// Failure: `kInternal` if the CA file cannot be read.
Result<std::shared_ptr<HttpClient>> make_http_client(HttpClientOptions options);

}  // namespace fenceline::base::net
