#include "base/net/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/digits.h"
#include "base/field_syntax.h"

namespace fenceline::base::net {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;
constexpr int kMaxInterims = 64;
constexpr std::string_view kChunkEnd = "\r\n";
constexpr std::string_view kChunkEndAndLast = "\r\n0\r\n\r\n";
constexpr std::string_view kLast = "0\r\n\r\n";

char* put(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

/// True if the head may go out as it is; the fields have checked themselves.
bool can_go_out(const OutgoingHead& head) {
  return is_token(head.method) && head.method != "CONNECT" && head.target.starts_with('/') &&
         is_printable(head.target) && head.target.find(' ') == std::string_view::npos &&
         (head.fields == nullptr || head.fields->valid()) && !(head.chunked && head.content_length);
}

}  // namespace

PooledExchange::PooledExchange(Pool& pool, std::unique_ptr<Connection> connection, bool reused)
    : pool_(pool),
      connection_(std::move(connection)),
      parser_(pool.upstream().options.max_head_bytes),
      reused_(reused),
      idle_(pool.upstream().options.idle) {}

PooledExchange::~PooledExchange() {
  drop();
  pool_.buffers().give_back(std::move(block_));
  pool_.buffers().give_back(std::move(large_));
}

void PooledExchange::drop() {
  if (connection_ != nullptr) {
    if (!complete_) {
      // An end alone could pass for the end of the body.
      connection_->reset();
    }
    connection_.reset();
  }
}

tl::unexpected<Error> PooledExchange::failed(std::string_view what) {
  drop();
  return base::fail(ErrorKind::kUpstreamFailed,
                    fmt::format("The upstream {}: {}.", pool_.upstream().name, what), applied());
}

tl::unexpected<Error> PooledExchange::timed_out(std::string_view what, Milliseconds after) {
  drop();
  return base::fail(
      ErrorKind::kUpstreamTimeout,
      fmt::format("The upstream {} {} for {} ms.", pool_.upstream().name, what, after.count()),
      applied());
}

tl::unexpected<Error> PooledExchange::misused(std::string_view what) {
  drop();
  return base::fail(ErrorKind::kInternal,
                    fmt::format("A request to the upstream {} {}.", pool_.upstream().name, what),
                    applied());
}

// ---- the request

/// Checks that these bytes of the body fit the framing, before any of them is sent.
Result<void> PooledExchange::count_body(std::size_t bytes, bool is_all) {
  if (!chunked_request_) {
    if (bytes > to_send_.value_or(0)) {
      return misused("has a longer body than was declared");
    }
    *to_send_ -= bytes;
    if ((*to_send_ == 0) != is_all) {
      return misused(is_all ? "has a shorter body than was declared"
                            : "is complete although something is held back");
    }
  }
  is_last_ = is_all;
  return {};
}

/// Writes the size of a chunk behind what is in `frame_`; gives all of that.
std::string_view PooledExchange::frame_chunk(std::size_t used, std::size_t bytes) {
  char* out = frame_.data() + used;
  if (chunked_request_ && bytes > 0) {
    out = put(put_hex(out, bytes), kChunkEnd);
  }
  return {frame_.data(), static_cast<std::size_t>(out - frame_.data())};
}

Awaitable<Result<void>> PooledExchange::send_head(const OutgoingHead& head, std::string_view body,
                                                  bool is_all) {
  using Sent = Awaitable<Result<void>>;
  if (connection_ == nullptr || head_sent_ || !can_go_out(head)) {
    return Sent::ready(misused("has a method, target or field that cannot be sent"));
  }
  head_sent_ = true;
  chunked_request_ = head.chunked;
  to_head_ = head.method == "HEAD";
  to_send_ = head.content_length.value_or(0);
  Result<void> counted = count_body(body.size(), is_all);
  if (!counted) {
    return Sent::ready(std::move(counted));
  }
  char* out = frame_.data();
  if (head.chunked) {
    out = put(out, "Transfer-Encoding: chunked\r\n");
  } else if (head.content_length) {
    out = put(out, "Content-Length: ");
    out = std::to_chars(out, frame_.data() + frame_.size(), *head.content_length).ptr;
    out = put(out, "\r\n");
  }
  out = put(out, "\r\n");
  const std::string_view framing =
      frame_chunk(static_cast<std::size_t>(out - frame_.data()), body.size());
  std::string_view after;
  if (head.chunked) {
    after = body.empty() ? (is_all ? kLast : "") : (is_all ? kChunkEndAndLast : kChunkEnd);
  }
  const std::array<std::string_view, Connection::kMaxPieces> pieces{
      head.method,
      " ",
      head.target,
      " HTTP/1.1\r\n",
      head.fields == nullptr ? std::string_view() : head.fields->text(),
      framing,
      body,
      after};
  return send(Connection::Unsent(pieces));
}

Awaitable<Result<void>> PooledExchange::send_body(std::string_view body, bool is_all) {
  using Sent = Awaitable<Result<void>>;
  if (stopped_) {
    return Sent::ready({});
  }
  if (connection_ == nullptr || !head_sent_ || complete_ || is_last_) {
    return Sent::ready(misused("is sent on although it is over"));
  }
  Result<void> counted = count_body(body.size(), is_all);
  if (!counted) {
    return Sent::ready(std::move(counted));
  }
  std::string_view after;
  if (chunked_request_) {
    after = body.empty() ? (is_all ? kLast : "") : (is_all ? kChunkEndAndLast : kChunkEnd);
  }
  const std::array<std::string_view, 3> pieces{frame_chunk(0, body.size()), body, after};
  return send(Connection::Unsent(pieces));
}

Awaitable<Result<void>> PooledExchange::send(Connection::Unsent unsent) {
  const Io io = connection_->write_now(unsent);
  touched_ = touched_ || connection_->touched();
  if (io.status == IoStatus::kBlocked) {
    return finish_sending(unsent);
  }
  if (io.status != IoStatus::kMoved) {
    break_off();
  }
  return Awaitable<Result<void>>::ready(sent());
}

/// A connection that takes nothing any more may still hold the answer that says why. But its end is
/// no end of a body: the system reports a reset once only, and that was to us just now.
void PooledExchange::break_off() {
  stopped_ = true;
  broken_ = true;
}

Result<void> PooledExchange::sent() {
  complete_ = is_last_ && !stopped_;
  return {};
}

Awaitable<Result<void>> PooledExchange::finish_sending(Connection::Unsent unsent) {
  while (!stopped_) {
    connection_->start_deadline(idle_);
    const auto ready = co_await connection_->wait(true);
    connection_->stop_deadline();
    if (!ready) {
      co_return timed_out("took nothing of the request", idle_);
    }
    const Io io = connection_->write_now(unsent);
    touched_ = touched_ || connection_->touched();
    if (io.status == IoStatus::kMoved) {
      break;
    }
    if (io.status != IoStatus::kBlocked) {
      break_off();
    }
    listen();
  }
  co_return sent();
}

/// Takes in what the upstream says while we send: an interim answer is skipped, everything else
/// stops us.
void PooledExchange::listen() {
  while (!stopped_) {
    const std::span<char> room = head_room();
    if (room.empty()) {
      stopped_ = true;
      return;
    }
    const Io io = connection_->read_now(room);
    if (io.status == IoStatus::kBlocked) {
      return;
    }
    if (io.status != IoStatus::kMoved) {
      stopped_ = true;
      ended_ = true;
      return;
    }
    end_ += io.bytes;
    stopped_ = !may_be_interim();
  }
}

/// Drops whole interim heads; true if what is left may still become one.
bool PooledExchange::may_be_interim() const {
  constexpr std::string_view kInterim = "HTTP/1.1 1";
  const std::string_view text = unread();
  // `receive_head` reads them; here only the beginning of the last one counts.
  std::size_t from = 0;
  while (true) {
    const std::string_view head = text.substr(from);
    const std::size_t known = std::min(head.size(), kInterim.size());
    if (head.substr(0, known) != kInterim.substr(0, known)) {
      return false;
    }
    const std::size_t end = head.find("\r\n\r\n");
    if (end == std::string_view::npos) {
      return true;
    }
    from += end + 4;
  }
}

bool PooledExchange::answered() {
  if (!stopped_ && !complete_ && connection_ != nullptr) {
    listen();
  }
  return stopped_;
}

// ---- the head of the answer

/// Room for more of the head; empty if it has reached its limit.
std::span<char> PooledExchange::head_room() {
  const std::size_t most = pool_.upstream().options.max_head_bytes;
  if (block_.memory == nullptr) {
    block_ = pool_.buffers().take(kBlockBytes);
  }
  if (end_ == block_.bytes && begin_ > 0) {
    std::memmove(block_.memory.get(), block_.memory.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == block_.bytes && block_.bytes < most) {
    Buffer larger = pool_.buffers().take(std::max(most, kBlockBytes));
    std::memcpy(larger.memory.get(), block_.memory.get(), end_);
    pool_.buffers().give_back(std::exchange(block_, std::move(larger)));
  }
  return {block_.memory.get() + end_, block_.bytes - end_};
}

/// The final head, if it has arrived.
Result<std::optional<ResponseHead>> PooledExchange::take_head() {
  constexpr int kSwitchingProtocols = 101;
  constexpr int kFirstFinal = 200;
  while (true) {
    const Result<std::optional<std::size_t>> end = parser_.find_end(unread());
    if (!end) {
      return failed("its answer is not HTTP that can be understood without doubt: " +
                    end.error().detail);
    }
    if (!*end) {
      return std::nullopt;
    }
    Result<ParsedResponse> parsed = ResponseParser::read(unread().substr(0, **end), to_head_);
    if (!parsed) {
      return failed("its answer is not HTTP that can be understood without doubt: " +
                    parsed.error().detail);
    }
    if (parsed->head.status == kSwitchingProtocols) {
      return failed("it switched to another protocol, which nobody asked for");
    }
    if (parsed->head.status >= kFirstFinal) {
      return begin_body(std::move(*parsed), **end);
    }
    if (++interims_ > kMaxInterims) {
      return failed("it sent more than 64 interim answers");
    }
    begin_ += **end;
    parser_.reset();
  }
}

ResponseHead PooledExchange::begin_body(ParsedResponse parsed, std::size_t head_bytes) {
  begin_ += head_bytes;
  body_start_ = begin_;
  body_ = parsed.body;
  keep_alive_ = parsed.keep_alive;
  remaining_ = body_ == BodyEnd::kLength ? parsed.head.content_length.value_or(0) : 0;
  if (body_ == BodyEnd::kNoBody || (body_ == BodyEnd::kLength && remaining_ == 0)) {
    declared_ = 0;
    end_body();
  } else if (body_ == BodyEnd::kLength) {
    declared_ = remaining_;
  }
  return std::move(parsed.head);
}

Awaitable<Result<ResponseHead>> PooledExchange::receive_head() {
  if (connection_ == nullptr || !head_sent_) {
    co_return failed("the connection is closed already");
  }
  const Milliseconds patience = pool_.upstream().options.first_byte;
  connection_->start_deadline(patience);
  while (true) {
    if (begin_ < end_) {
      Result<std::optional<ResponseHead>> head = take_head();
      if (!head) {
        co_return tl::unexpected<Error>(std::move(head).error());
      }
      if (*head) {
        if (connection_ != nullptr) {
          connection_->stop_deadline();
        }
        co_return std::move(**head);
      }
    }
    if (ended_) {
      co_return failed("it closed the connection before it had answered");
    }
    const std::span<char> room = head_room();
    const auto io = co_await connection_->read(room);
    if (io.status == IoStatus::kFailed && connection_->late()) {
      co_return timed_out("did not answer", patience);
    }
    if (io.status == IoStatus::kFailed) {
      const std::string why = connection_->why();
      co_return failed("the connection broke before it had answered: " + why);
    }
    ended_ = io.status == IoStatus::kEnded;
    end_ += io.bytes;
  }
}

// ---- its body

/// The answer is over: the connection may carry the next request, if nothing speaks against it.
void PooledExchange::end_body() {
  done_ = true;
  if (connection_ == nullptr) {
    return;
  }
  const bool nothing_left = begin_ == end_;
  if (complete_ && keep_alive_ && nothing_left && !ended_) {
    connection_->stop_deadline();
    pool_.give_back(std::move(connection_));
  } else {
    drop();
  }
}

/// The next piece of what has arrived; empty if there is none, or at the end.
Result<std::string_view> PooledExchange::next_buffered() {
  while (!failure_ && !done_ && begin_ < end_) {
    BodyStep step;
    if (body_ == BodyEnd::kChunked) {
      Result<BodyStep> decoded = chunks_.next(unread());
      if (!decoded) {
        failure_ = failed("the chunks of its answer are broken: " + decoded.error().detail).value();
        break;
      }
      step = *decoded;
    } else {
      step.piece = unread();
      if (body_ == BodyEnd::kLength) {
        step.piece = step.piece.substr(
            0, static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, step.piece.size())));
        remaining_ -= step.piece.size();
        step.finished = remaining_ == 0;
      }
      step.consumed_bytes = step.piece.size();
    }
    begin_ += step.consumed_bytes;
    if (step.finished) {
      end_body();
    }
    if (!step.piece.empty()) {
      return step.piece;
    }
  }
  if (failure_) {
    return tl::unexpected<Error>(*failure_);
  }
  return std::string_view();
}

Awaitable<Result<std::string_view>> PooledExchange::read_piece() {
  const Result<std::string_view> piece = next_buffered();
  if (!piece || !piece->empty() || done_) {
    return Awaitable<Result<std::string_view>>::ready(piece);
  }
  return receive_piece();
}

/// Where the next bytes of the body go. Everything that came before has been used.
std::span<char> PooledExchange::body_room() {
  const bool bounded = body_ == BodyEnd::kLength;
  if (large_.memory == nullptr) {
    const std::size_t behind_head = block_.bytes - body_start_;
    if (!bounded || remaining_ > behind_head) {
      large_ = pool_.buffers().take(pool_.upstream().options.buffer_bytes);
    }
  }
  const bool in_block = large_.memory == nullptr;
  begin_ = in_block ? body_start_ : 0;
  end_ = begin_;
  std::size_t room = (in_block ? block_.bytes : large_.bytes) - begin_;
  if (bounded) {
    // What follows the body stays in the socket, where the pool finds it.
    room = static_cast<std::size_t>(std::min<std::uint64_t>(room, remaining_));
  }
  return {(in_block ? block_ : large_).memory.get() + begin_, room};
}

Awaitable<Result<std::string_view>> PooledExchange::receive_piece() {
  while (!failure_ && !done_) {
    if (connection_ == nullptr) {
      failure_ = failed("the answer is not there to be read").value();
      break;
    }
    const std::span<char> room = body_room();
    connection_->start_deadline(idle_);
    const auto io = co_await connection_->read(room);
    const bool late = connection_->late();
    connection_->stop_deadline();
    if (io.status == IoStatus::kMoved) {
      end_ += io.bytes;
      const Result<std::string_view> piece = next_buffered();
      if (!piece || !piece->empty()) {
        co_return piece;
      }
      continue;
    }
    if (io.status == IoStatus::kEnded && body_ == BodyEnd::kClose && !broken_) {
      ended_ = true;
      end_body();
    } else if (io.status == IoStatus::kEnded) {
      failure_ = failed("it closed the connection before the end of its answer").value();
    } else if (late) {
      failure_ = timed_out("sent nothing of its answer", idle_).value();
    } else {
      const std::string why = connection_->why();
      failure_ = failed("the connection broke before the end of its answer: " + why).value();
    }
  }
  co_return next_buffered();
}

Awaitable<Result<std::string>> PooledExchange::read_all(std::size_t max_bytes) {
  std::string all;
  while (true) {
    const auto piece = co_await read_piece();
    if (!piece) {
      co_return tl::unexpected<Error>(piece.error());
    }
    if (piece->empty()) {
      co_return all;
    }
    if (piece->size() > max_bytes - all.size()) {
      co_return failed(fmt::format("its answer is longer than {} bytes", max_bytes));
    }
    all += *piece;
  }
}

}  // namespace fenceline::base::net
