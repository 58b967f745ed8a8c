#include "proxy/reply_writer.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include "base/digits.h"
#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::Result;

// Copying this much is cheaper than the second system call (facts/performance.md, 1+2).
constexpr std::uint64_t kCopiedFileBytes = std::uint64_t{16} * 1024;

/// Appends the slice to `out`. Failure: `out` is as it was.
Result<void> append_file(const base::FileSlice& slice, std::string& out) {
  const std::size_t start = out.size();
  const auto length = static_cast<std::size_t>(slice.length_bytes);
  out.resize(start + length);
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::pread(slice.fd.get(), &out[start + done], length - done,
                                static_cast<off_t>(slice.offset_bytes + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      out.resize(start);
      return got < 0 ? tl::unexpected(base::error_from_errno(errno, "read the file to send"))
                     : base::fail(base::ErrorKind::kStorageFailed,
                                  "the file became shorter while it was being sent");
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Awaitable<Result<void>> ReplyWriter::send() {
  make_head();
  if (framing_.has_body && std::holds_alternative<base::FileSlice>(reply_.body)) {
    return send_file();
  }
  if (framing_.has_body && std::holds_alternative<std::unique_ptr<base::BodySource>>(reply_.body)) {
    return send_source();
  }
  return send_text();
}

WrittenReply ReplyWriter::finish(const Result<void>& sent) {
  if (!sent) {
    transport_.reset();
  }
  return {.status = reply_.status,
          .keep_alive = framing_.keep_alive,
          .replaced = framing_.replaced,
          .complete = sent.has_value()};
}

void ReplyWriter::make_head() {
  scratch_.clear();
  framing_ = append_response_head(reply_, context_, scratch_);
}

/// Instead of the reply, while nothing has been sent.
Awaitable<Result<void>> ReplyWriter::send_problem(const base::Error& error) {
  reply_ = problem_reply(error);
  make_head();
  return send_text();
}

/// The head, and a body that is a text or none.
Awaitable<Result<void>> ReplyWriter::send_text() {
  const auto* text = std::get_if<std::string>(&reply_.body);
  const bool has_text = text != nullptr && framing_.has_body;
  return write({scratch_, has_text ? std::string_view(*text) : std::string_view(), {}},
               Flush::kNow);
}

Awaitable<Result<void>> ReplyWriter::send_file() {
  const auto& slice = std::get<base::FileSlice>(reply_.body);
  if (slice.length_bytes > kCopiedFileBytes) {
    return send_large_file(slice);
  }
  Result<void> copied = append_file(slice, scratch_);
  return copied ? write({scratch_, {}, {}}, Flush::kNow) : send_problem(copied.error());
}

Awaitable<Result<void>> ReplyWriter::send_large_file(const base::FileSlice& slice) {
  const Pieces head{scratch_, {}, {}};
  auto sent = co_await write(head, Flush::kMoreFollows);
  if (!sent) {
    co_return sent;
  }
  co_return co_await transport_.send_file(slice.fd.get(), slice.offset_bytes, slice.length_bytes);
}

Awaitable<Result<void>> ReplyWriter::write(const Pieces& pieces, Flush flush) {
  pieces_ = pieces;
  return transport_.write_all(pieces_, flush);
}

Awaitable<Result<void>> ReplyWriter::send_source() {
  base::BodySource& source = *std::get<std::unique_ptr<base::BodySource>>(reply_.body);
  auto piece = co_await source.read();
  if (!piece) {
    co_return co_await send_problem(piece.error());
  }
  std::uint64_t sent_bytes = 0;
  while (true) {
    sent_bytes += piece->size();
    const bool last = piece->empty();
    if (framing_.length_bytes &&
        (sent_bytes > *framing_.length_bytes || (last && sent_bytes < *framing_.length_bytes))) {
      co_return base::fail(base::ErrorKind::kInternal, "a body did not keep to its length");
    }
    if (last && !framing_.chunked && scratch_.empty()) {
      co_return Result<void>();  // Where nothing marks the end there is nothing to send.
    }
    frame_piece(*piece);
    auto sent = co_await transport_.write_all(pieces_, Flush::kNow);
    scratch_.clear();
    if (!sent || last) {
      co_return sent;
    }
    piece = co_await source.read();
    if (!piece) {
      co_return tl::unexpected(std::move(piece).error());
    }
  }
}

/// Puts one piece of a source behind what is in `scratch_` (the head, the first time); the end if
/// it is empty. RFC 9112, 7.1.
void ReplyWriter::frame_piece(std::string_view piece) {
  if (framing_.chunked) {
    base::append_hex(scratch_, piece.size());
    scratch_ += "\r\n";
  }
  pieces_ = {scratch_, piece, framing_.chunked ? "\r\n" : ""};
}

}  // namespace fenceline::proxy
