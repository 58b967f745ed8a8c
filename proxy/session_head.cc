// How a session waits for the next request and reads its head.

#include <algorithm>
#include <utility>

#include "proxy/session.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::Result;

// Line ends and up to two empty lines before the head, which the parser does not count.
constexpr std::size_t kHeadSlackBytes = 1024;

}  // namespace

/// True: `parser_` has a head, whose body starts at the front of the buffer. False: the client
/// went away between two requests, or there is no next one; close without a word. An error is to
/// be answered.
Awaitable<Result<bool>> Session::receive_head() {
  // With one busy connection there is nobody to let run, and the detour would cost a system call.
  const bool others_are_busy = std::exchange(shared_.last_served, this) != this;
  if (!first_ && buffer_.empty() && others_are_busy) {
    idle_ = true;  // A reload or a stop meanwhile finds it between two requests, as it is.
    co_await transport_->let_others_run();
    idle_ = false;
  }
  bool head_is_timed = start_request();
  while (true) {
    const Result<bool> parsed = parse_buffered_head();
    if (!parsed || *parsed) {
      transport_->stop_deadline();
      co_return parsed;
    }
    if (buffer_.empty() && shared_.draining) {
      co_return false;
    }
    if (!buffer_.empty() && !head_is_timed) {
      transport_->start_deadline(listener_->timeouts.head);
      head_is_timed = true;
    }
    const std::span<char> room = prepare_for_head();
    if (room.empty()) {
      co_return base::fail(base::ErrorKind::kHeadTooLarge, "The request head is too large.");
    }
    const bool begun = !buffer_.empty();
    idle_ = !begun;
    const auto count = co_await transport_->read_some(room);
    idle_ = false;
    if (!count && begun) {
      co_return late_head(count.error());
    }
    if (!count || *count == 0) {
      co_return false;
    }
    buffer_.commit(*count);
  }
}

/// Everything that ends with one request and begins with the next. True if the head's time runs
/// from now on; false if there is time until its first byte.
bool Session::start_request() {
  if (next_ != nullptr) {
    follow(std::move(next_));
  } else if (head_bytes_ > ReadBuffer::kIdleBytes) {
    parser_.emplace(listener_->limits.head);  // Gives back the memory of a large head.
  } else {
    parser_->reset();
  }
  head_bytes_ = 0;
  request_id_ = base::RequestId();
  buffer_.shrink();
  const auto& timeouts = listener_->timeouts;
  const bool waits_for_more = !first_ && buffer_.empty();
  transport_->start_deadline(waits_for_more ? timeouts.keep_alive_idle : timeouts.head);
  return !waits_for_more;
}

Result<bool> Session::parse_buffered_head() {
  if (buffer_.empty()) {
    return false;
  }
  const Result<std::optional<std::size_t>> size = parser_->parse_head(buffer_.data());
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (!*size) {
    return false;
  }
  head_bytes_ = **size;
  buffer_.consume(head_bytes_);
  first_ = false;
  started_ = shared_.clock.now();
  return true;
}

std::span<char> Session::prepare_for_head() {
  if (buffer_.size() < buffer_.capacity()) {
    return buffer_.prepare(buffer_.capacity());
  }
  const std::size_t largest = listener_->limits.head.max_head_bytes + kHeadSlackBytes;
  return buffer_.prepare(std::clamp(buffer_.capacity() * 2, ReadBuffer::kIdleBytes,
                                    std::max(largest, ReadBuffer::kIdleBytes)));
}

/// The connection failed, or the time was over, in the middle of a head.
tl::unexpected<base::Error> Session::late_head(const base::Error& error) {
  if (error.kind == base::ErrorKind::kRequestTimeout) {
    return base::fail(error.kind, "The request head did not arrive in time. Send it at once.");
  }
  return tl::unexpected(error);
}

}  // namespace fenceline::proxy
