#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/net/chunked_decoder.h"
#include "base/net/connection_pool.h"
#include "base/net/http_client.h"
#include "base/net/response_parser.h"

namespace fenceline::base::net {

/// One request and its answer on a connection of a pool. See `HttpExchange`.
class PooledExchange final : public HttpExchange {
 public:
  PooledExchange(Pool& pool, std::unique_ptr<Connection> connection, bool reused);
  ~PooledExchange() override;

  Awaitable<Result<void>> send_head(const OutgoingHead& head, std::string_view body,
                                    bool is_all) override;
  Awaitable<Result<void>> send_body(std::string_view body, bool is_all) override;
  [[nodiscard]] bool answered() override;
  Awaitable<Result<ResponseHead>> receive_head() override;
  Awaitable<Result<std::string>> read_all(std::size_t max_bytes) override;
  [[nodiscard]] bool finished() const override { return done_; }
  [[nodiscard]] bool reused() const override { return reused_; }
  [[nodiscard]] bool unsent() const override { return !touched_; }

 private:
  Awaitable<Result<std::string_view>> read_piece() override;
  [[nodiscard]] std::optional<std::uint64_t> body_bytes() const override { return declared_; }
  void limit_idle(Milliseconds limit) override { idle_ = limit; }

  // The request.
  Result<void> count_body(std::size_t bytes, bool is_all);
  std::string_view frame_chunk(std::size_t used, std::size_t bytes);
  Awaitable<Result<void>> send(Connection::Unsent unsent);
  Awaitable<Result<void>> finish_sending(Connection::Unsent unsent);
  Result<void> sent();
  void break_off();
  void listen();

  // The head of the answer.
  Result<std::optional<ResponseHead>> take_head();
  ResponseHead begin_body(ParsedResponse parsed, std::size_t head_bytes);
  std::span<char> head_room();
  [[nodiscard]] bool may_be_interim() const;

  // Its body.
  Result<std::string_view> next_buffered();
  Awaitable<Result<std::string_view>> receive_piece();
  std::span<char> body_room();
  void end_body();

  [[nodiscard]] std::string_view unread() const {
    const Buffer& from = large_.memory == nullptr ? block_ : large_;
    return {from.memory.get() + begin_, end_ - begin_};
  }
  /// What a failure means for the request: see `HttpExchange::send_head`.
  [[nodiscard]] Applied applied() const { return complete_ ? Applied::kUnknown : Applied::kNo; }
  tl::unexpected<Error> failed(std::string_view what);
  tl::unexpected<Error> timed_out(std::string_view what, Milliseconds after);
  tl::unexpected<Error> misused(std::string_view what);
  void drop();

  Pool& pool_;
  std::unique_ptr<Connection> connection_;  ///< Null once it was given back or dropped.
  ResponseParser parser_;
  ChunkedDecoder chunks_;

  Buffer block_;           ///< The head of the answer, and what came with it.
  Buffer large_;           ///< Instead of `block_` for the rest of a large body.
  std::size_t begin_ = 0;  ///< What nobody has used yet, in `large_` if there is one.
  std::size_t end_ = 0;
  std::size_t body_start_ = 0;  ///< In `block_`: after the head.

  std::array<char, 64> frame_{};          ///< The last lines of the head, and chunk sizes.
  std::optional<std::uint64_t> to_send_;  ///< Of a body with a known length.
  bool chunked_request_ = false;
  bool to_head_ = false;
  bool head_sent_ = false;
  bool is_last_ = false;   ///< What is being sent completes the message.
  bool complete_ = false;  ///< All bytes of the message were taken by the system.
  bool stopped_ = false;   ///< The upstream has answered or closed: nothing more is sent.
  bool broken_ = false;    ///< Sending has failed.
  bool ended_ = false;     ///< The upstream sends no more.
  bool touched_ = false;
  bool reused_;
  int interims_ = 0;

  BodyEnd body_ = BodyEnd::kNoBody;
  bool keep_alive_ = false;
  bool done_ = false;            ///< The answer was read to its end.
  std::uint64_t remaining_ = 0;  ///< Of a body with a known length.
  std::optional<std::uint64_t> declared_;
  Milliseconds idle_;
  std::optional<Error> failure_;  ///< Of the body; every later read gives it again.
};

}  // namespace fenceline::base::net
