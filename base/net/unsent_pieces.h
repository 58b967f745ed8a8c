#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace fenceline::base::net {

/// The pieces of a message that are not sent yet, as sendmsg(2) takes them; at most `kMaxPieces`.
/// The bytes belong to the caller.
template <std::size_t kMaxPieces>
class UnsentPieces {
 public:
  explicit UnsentPieces(std::span<const std::string_view> pieces) {
    for (const std::string_view piece : pieces.first(std::min(pieces.size(), kMaxPieces))) {
      if (!piece.empty()) {
        // sendmsg reads only; iovec is not const because readv shares it.
        vectors_.at(end_++) = {const_cast<char*>(piece.data()), piece.size()};
      }
    }
  }

  [[nodiscard]] bool empty() const { return begin_ == end_; }

  /// All that is left, in order.
  [[nodiscard]] std::span<const iovec> left() const {
    return std::span<const iovec>(vectors_).subspan(begin_, end_ - begin_);
  }

  /// One sendmsg(2) with all that is left; -1 and errno if it fails. Not while `empty`.
  ssize_t send(int fd, int flags) {
    msghdr message{};
    message.msg_iov = &vectors_.at(begin_);
    message.msg_iovlen = end_ - begin_;
    return ::sendmsg(fd, &message, flags);
  }

  /// So many bytes are sent now.
  void drop(std::size_t bytes) {
    while (begin_ < end_ && bytes >= vectors_.at(begin_).iov_len) {
      bytes -= vectors_.at(begin_++).iov_len;
    }
    if (begin_ < end_) {
      iovec& first = vectors_.at(begin_);
      first.iov_base = static_cast<char*>(first.iov_base) + bytes;
      first.iov_len -= bytes;
    }
  }

 private:
  std::array<iovec, kMaxPieces> vectors_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace fenceline::base::net
