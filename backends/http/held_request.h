#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/http/send.h"
#include "backends/http/upstream.h"
#include "base/error.h"
#include "base/http.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// Bodies up to this go out in one send, at `complete`, and hold no connection before.
inline constexpr std::size_t kSmallBodyBytes = 64UL * 1024;

/// True if the length of an empty body is said, as for PUT or where the client said it.
bool declares_empty_body(const base::RequestHead& head);

/// A request that is on its way to the upstream, all but the end that makes it complete. Destroying
/// it closes its connection, so that it never becomes complete. On one core.
class HeldRequest {
 public:
  HeldRequest(SharedUpstream upstream, base::TimerWheel& timers, Outgoing out)
      : upstream_(std::move(upstream)), timers_(timers), out_(std::move(out)) {}
  HeldRequest(const HeldRequest&) = delete;
  HeldRequest& operator=(const HeldRequest&) = delete;

  /// Reads `body` to its end. Up to `whole_bytes` it is kept; a longer one is sent while it
  /// arrives, but for its last byte (or `hold_back`), or, where its length was not declared, for
  /// the mark of its end. Success: nothing, or the answer, if the upstream answered before the end;
  /// then `complete` must not be called. Failure: that of `body`, or of the connection; `applied`
  /// is `kNo`.
  base::Awaitable<base::Result<std::optional<Received>>> take(base::BodySource& body,
                                                              std::size_t whole_bytes);

  /// True if all of the body is here: `complete` may be called again and again.
  [[nodiscard]] bool is_whole() const { return !streams_; }

  /// All of the body, while `is_whole`.
  [[nodiscard]] std::string_view body() const { return held_; }

  /// The head, to be changed before `take` or, while `is_whole`, before `complete`.
  [[nodiscard]] Outgoing& head() { return out_; }

  /// True if an empty body is declared with its length, as for PUT; false: there is no body.
  void declare_empty_body(bool declares) { declares_empty_ = declares; }

  /// How many of the last bytes of a body of declared length stay here until `complete`, where one
  /// byte is not enough: the upstream could take a shorter body for a complete one. Call it before
  /// `take`. `bytes`: 1 to the declared length.
  void hold_back(std::uint64_t bytes) { end_bytes_ = bytes; }

  /// Sends what is missing and waits for the head of the answer.
  /// Failure: as `send_whole`; `applied` tells.
  base::Awaitable<base::Result<Received>> complete(Resend resend = Resend::kIfUnsent);

 private:
  base::Awaitable<base::Result<void>> begin(std::string_view piece);
  base::Awaitable<base::Result<void>> open_and_send(const base::net::OutgoingHead& head,
                                                    std::string_view body, bool fresh);
  base::Awaitable<base::Result<void>> pass(std::string_view piece);
  base::Awaitable<base::Result<std::optional<Received>>> early_answer();
  base::Awaitable<base::Result<Received>> complete_stream();
  std::string_view hold_end(std::string_view piece);

  SharedUpstream upstream_;
  base::TimerWheel& timers_;
  Outgoing out_;
  bool declares_empty_ = true;
  bool streams_ = false;  ///< Part of the body has left, and is not here any more.
  std::optional<std::uint64_t> declared_;
  std::uint64_t seen_bytes_ = 0;
  std::uint64_t end_bytes_ = 1;
  std::string held_;  ///< All of the body, or its last bytes.
  std::unique_ptr<base::net::HttpExchange> exchange_;
};

}  // namespace fenceline::backends::http
