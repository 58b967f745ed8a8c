#include "proxy/reply_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <utility>
#include <variant>

#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::Result;

// Copying this much is cheaper than the second system call (facts/performance.md, 1+2).
constexpr std::uint64_t kCopiedFileBytes = std::uint64_t{16} * 1024;

using Pieces = std::array<std::string_view, Transport::kMaxPieces>;

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

/// The sending of one answer; a class because every way to send shares four references.
class Writer {
 public:
  Writer(Transport& transport, base::Reply& reply, const ReplyContext& context,
         std::string& scratch)
      : transport_(transport), reply_(reply), context_(context), scratch_(scratch) {}

  Awaitable<WrittenReply> run() {
    make_head();
    auto sent = co_await send();
    if (!sent) {
      transport_.reset();
    }
    WrittenReply written;
    written.status = reply_.status;
    written.keep_alive = framing_.keep_alive;
    written.replaced = framing_.replaced;
    written.complete = sent.has_value();
    co_return written;
  }

 private:
  void make_head() {
    scratch_.clear();
    framing_ = append_response_head(reply_, context_, scratch_);
  }

  /// Instead of the reply, while nothing has been sent.
  Awaitable<Result<void>> send_problem(base::Error error) {
    reply_ = problem_reply(error);
    make_head();
    co_return co_await send_text();
  }

  Awaitable<Result<void>> send() {
    if (!framing_.has_body) {
      co_return co_await send_pieces(scratch_, std::string_view());
    }
    if (std::holds_alternative<base::FileSlice>(reply_.body)) {
      co_return co_await send_file();
    }
    if (std::holds_alternative<std::unique_ptr<base::BodySource>>(reply_.body)) {
      co_return co_await send_source();
    }
    co_return co_await send_text();
  }

  Awaitable<Result<void>> send_pieces(std::string_view head, std::string_view body) {
    const std::array<std::string_view, 2> pieces{head, body};
    co_return co_await transport_.write_all(pieces, Flush::kNow);
  }

  Awaitable<Result<void>> send_text() {
    const auto* text = std::get_if<std::string>(&reply_.body);
    std::string_view body;
    if (text != nullptr && framing_.has_body) {
      body = *text;
    }
    co_return co_await send_pieces(scratch_, body);
  }

  Awaitable<Result<void>> send_file() {
    const auto& slice = std::get<base::FileSlice>(reply_.body);
    if (slice.length_bytes <= kCopiedFileBytes) {
      Result<void> copied = append_file(slice, scratch_);
      if (!copied) {
        base::Error error = std::move(copied).error();
        co_return co_await send_problem(std::move(error));
      }
      co_return co_await send_pieces(scratch_, std::string_view());
    }
    const std::array<std::string_view, 1> head{scratch_};
    auto sent = co_await transport_.write_all(head, Flush::kMoreFollows);
    if (!sent) {
      co_return sent;
    }
    co_return co_await transport_.send_file(slice.fd.get(), slice.offset_bytes, slice.length_bytes);
  }

  Awaitable<Result<void>> send_source() {
    base::BodySource& source = *std::get<std::unique_ptr<base::BodySource>>(reply_.body);
    auto piece = co_await source.read();
    if (!piece) {
      base::Error error = std::move(piece).error();
      co_return co_await send_problem(std::move(error));
    }
    std::uint64_t sent_bytes = 0;
    while (true) {
      sent_bytes += piece->size();
      const bool last = piece->empty();
      if (framing_.length_bytes &&
          (sent_bytes > *framing_.length_bytes || (last && sent_bytes < *framing_.length_bytes))) {
        co_return base::fail(base::ErrorKind::kInternal, "a body did not keep to its length");
      }
      auto sent = co_await send_piece(*piece);
      if (!sent || last) {
        co_return sent;
      }
      piece = co_await source.read();
      if (!piece) {
        co_return tl::unexpected(std::move(piece).error());
      }
    }
  }

  /// One piece of a source, behind what is in `scratch_` (the head, the first time); the end if it
  /// is empty. RFC 9112, 7.1.
  Awaitable<Result<void>> send_piece(std::string_view piece) {
    if (framing_.chunked) {
      fmt::format_to(std::back_inserter(scratch_), "{:x}\r\n", piece.size());
    }
    const std::string_view end = framing_.chunked ? "\r\n" : "";
    const std::array<std::string_view, 3> pieces{scratch_, piece, end};
    auto sent = co_await transport_.write_all(pieces, Flush::kNow);
    scratch_.clear();
    co_return sent;
  }

  Transport& transport_;
  base::Reply& reply_;
  const ReplyContext& context_;
  std::string& scratch_;
  ReplyFraming framing_;
};

}  // namespace

Awaitable<WrittenReply> write_reply(Transport& transport, base::Reply& reply, ReplyContext context,
                                    std::string& scratch) {
  Writer writer(transport, reply, context, scratch);
  co_return co_await writer.run();
}

}  // namespace fenceline::proxy
