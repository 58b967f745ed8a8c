#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "proxy/response_head.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// How one answer went out.
struct WrittenReply {
  int status = 0;           ///< As sent; 500 where the reply broke a rule.
  bool keep_alive = false;  ///< What the head announced.
  bool replaced = false;    ///< The reply broke a rule (see `append_response_head`).
  bool complete = false;    ///< False: sending broke off; only closing is left.
};

/// The sending of one answer.
/// Does: head and a small body in one system call; a large file slice by sendfile(2) where there is
/// no TLS; a body source piece by piece, in chunks if its length is unknown. Works on
/// `reply` in place, so a source or file lives until the answer is out. `scratch` is only memory.
/// Success: the head, and all of the body, were handed to the kernel; usually without waiting.
/// Failure: `complete` is false. An answer that broke off in the middle has been closed with RST,
/// so that no client takes it for the whole. A source that fails before its first byte is answered
/// with its error instead.
/// Ownership: `transport`, `reply` and `scratch` must outlive it, and it outlives its `send`.
class ReplyWriter {
 public:
  ReplyWriter(Transport& transport, base::Reply& reply, const ReplyContext& context,
              std::string& scratch)
      : transport_(transport), reply_(reply), context_(context), scratch_(scratch) {}

  /// All of it. Called once.
  base::Awaitable<base::Result<void>> send();

  /// What became of it, after `send` with this result.
  WrittenReply finish(const base::Result<void>& sent);

 private:
  using Pieces = std::array<std::string_view, 3>;

  void make_head();
  base::Awaitable<base::Result<void>> send_problem(const base::Error& error);
  base::Awaitable<base::Result<void>> send_text();
  base::Awaitable<base::Result<void>> send_file();
  base::Awaitable<base::Result<void>> send_large_file(const base::FileSlice& slice);
  base::Awaitable<base::Result<void>> send_source();
  base::Awaitable<base::Result<void>> write(const Pieces& pieces, Flush flush);
  void frame_piece(std::string_view piece);

  Transport& transport_;
  base::Reply& reply_;
  ReplyContext context_;
  std::string& scratch_;
  ReplyFraming framing_;
  Pieces pieces_;  ///< They must live as long as the writing.
};

}  // namespace fenceline::proxy
