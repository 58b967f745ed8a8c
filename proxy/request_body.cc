#include "proxy/request_body.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::Result;
using base::net::BodyStep;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kGrowth = 4;

}  // namespace

void RequestBody::begin(RequestParser& parser) {
  parser_ = &parser;
  read_bytes_ = ReadBuffer::kIdleBytes;
  idle_limit_ = timeouts_->body_idle;
  received_bytes_ = 0;
  continue_pending_ = parser.head().expects_continue && !parser.body_finished();
  draining_ = false;
  failure_.reset();
}

std::optional<std::uint64_t> RequestBody::declared_bytes() const {
  if (parser_->head().chunked) {
    return std::nullopt;
  }
  return parser_->head().content_length.value_or(0);
}

std::optional<std::uint64_t> RequestBody::remaining_bytes() const {
  const std::optional<std::uint64_t> declared = declared_bytes();
  if (!declared) {
    return std::nullopt;
  }
  return *declared - std::min(*declared, received_bytes_);
}

Awaitable<Result<std::string_view>> RequestBody::read() {
  const Result<std::string_view> piece = next_buffered();
  if (!piece || !piece->empty() || parser_->body_finished()) {
    return Awaitable<Result<std::string_view>>::ready(piece);
  }
  return receive_piece();
}

Awaitable<Result<std::string_view>> RequestBody::receive_piece() {
  while (true) {
    auto received = co_await receive();
    if (!received) {
      failure_ = std::move(received).error();
    }
    const Result<std::string_view> piece = next_buffered();
    if (!piece || !piece->empty() || parser_->body_finished()) {
      co_return piece;
    }
  }
}

/// The next piece of what has arrived; empty if there is none. Answers `Expect` for nobody, so
/// a piece that the client sent without waiting is held back until `receive` has answered.
Result<std::string_view> RequestBody::next_buffered() {
  while (!failure_ && !parser_->body_finished() && !continue_pending_) {
    const Result<BodyStep> step = parser_->parse_body(buffer_.data());
    if (!step) {
      failure_ = step.error();
      break;
    }
    buffer_.consume(step->consumed_bytes);
    received_bytes_ += step->piece.size();
    if (!step->piece.empty()) {
      return step->piece;
    }
    if (step->consumed_bytes == 0) {
      break;
    }
  }
  if (failure_) {
    return tl::unexpected(*failure_);
  }
  return std::string_view();
}

Awaitable<Result<void>> RequestBody::send_continue() {
  continue_pending_ = false;
  const std::array<std::string_view, 1> pieces{kContinue};
  co_return co_await transport_.write_all(pieces, Flush::kNow);
}

Awaitable<Result<void>> RequestBody::receive() {
  if (continue_pending_) {
    co_return co_await send_continue();
  }
  const std::span<char> room = buffer_.prepare(read_bytes_);
  if (!draining_) {
    transport_.start_deadline(idle_limit_);
  }
  auto count = co_await transport_.read_some(room);
  if (!draining_) {
    transport_.stop_deadline();
  }
  if (!count) {
    co_return tl::unexpected(std::move(count).error());
  }
  if (*count == 0) {
    co_return base::fail(base::ErrorKind::kClientGone,
                         "the client ended the connection before the end of the body");
  }
  buffer_.commit(*count);
  // Only a read that filled its room earns a larger one: a client that declares a large body and
  // does not send it costs no memory.
  if (*count == room.size()) {
    read_bytes_ =
        std::max(read_bytes_, std::min(read_bytes_ * kGrowth, limits_->body_buffer_bytes));
  }
  co_return Result<void>();
}

void RequestBody::skip_buffered() {
  if (continue_pending_) {
    return;
  }
  while (!finished()) {
    const Result<std::string_view> piece = next_buffered();
    if (!piece || piece->empty()) {
      return;
    }
  }
}

Awaitable<bool> RequestBody::drain() {
  draining_ = true;
  const std::uint64_t end = received_bytes_ + limits_->drain_bytes;
  transport_.start_deadline(timeouts_->linger);
  while (!finished() && received_bytes_ <= end) {
    const auto piece = co_await read();
    if (!piece) {
      break;
    }
  }
  transport_.stop_deadline();
  co_return finished();
}

}  // namespace fenceline::proxy
