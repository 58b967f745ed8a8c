#pragma once

#include <string>

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

/// Sends an answer.
/// Does: head and a small body in one system call; a large file slice by sendfile(2) where there is
/// no TLS; a body source piece by piece, in chunks if its length is unknown. Works on
/// `reply` in place, so a source or file lives until the answer is out. `scratch` is only memory.
/// Success: the head, and all of the body, were handed to the kernel.
/// Failure: `complete` is false. An answer that broke off in the middle has been closed with RST,
/// so that no client takes it for the whole. A source that fails before its first byte is answered
/// with its error instead.
/// Ownership: `transport`, `reply` and `scratch` must outlive the call.
base::Awaitable<WrittenReply> write_reply(Transport& transport, base::Reply& reply,
                                          ReplyContext context, std::string& scratch);

}  // namespace fenceline::proxy
