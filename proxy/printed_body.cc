#include "proxy/printed_body.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::proxy {

namespace {
using Piece = base::Result<std::string_view>;
}  // namespace

base::Awaitable<Piece> PrintedBody::read() {
  auto piece = from_.read();
  return piece.is_ready() ? base::Awaitable<Piece>::ready(pass(piece.take()))
                          : wait_for(std::move(piece));
}

base::Awaitable<Piece> PrintedBody::wait_for(base::Awaitable<Piece> piece) {
  auto arrived = co_await std::move(piece);
  co_return pass(std::move(arrived));
}

Piece PrintedBody::pass(Piece piece) {
  if (piece) {
    digest_.add(*piece);
  }
  return piece;
}

std::string PrintedBody::print(const base::RequestHead& head, std::string_view more) {
  const std::string body = digest_.finish();
  // No part can be mistaken for another: the first three hold no line feed, the last has 32 bytes,
  // and `more` is what stands between them.
  digest_.add(fmt::format("{}\n{}\n{}\n", head.method_text, head.target,
                          head.joined("Content-Type").value_or("")));
  digest_.add(more);
  digest_.add(body);
  return digest_.finish_hex();
}

}  // namespace fenceline::proxy
