#include "proxy/metered_body.h"

#include <fmt/format.h>

namespace fenceline::proxy {
namespace {

using Piece = base::Result<std::string_view>;

}  // namespace

StagedBytes::StagedBytes(std::uint64_t limit_bytes, base::Gauge gauge)
    : limit_bytes_(limit_bytes),
      used_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      gauge_(gauge) {}

StagedBytes::StagedBytes(std::uint64_t limit_bytes, const StagedBytes& other)
    : limit_bytes_(limit_bytes), used_(other.used_), gauge_(other.gauge_) {}

bool StagedBytes::take(std::uint64_t bytes) {
  const std::uint64_t before = used_->fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > limit_bytes_ || before > limit_bytes_ - bytes) {
    used_->fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  gauge_.add(static_cast<double>(bytes));
  return true;
}

void StagedBytes::give_back(std::uint64_t bytes) {
  if (bytes > 0) {
    used_->fetch_sub(bytes, std::memory_order_relaxed);
    gauge_.add(-static_cast<double>(bytes));
  }
}

MeteredBody::MeteredBody(base::BodySource& from, std::uint64_t max_body_bytes, StagedBytes& staged)
    : from_(from), max_body_bytes_(max_body_bytes), staged_(staged) {}

MeteredBody::~MeteredBody() { staged_.give_back(passed_bytes_); }

std::optional<std::uint64_t> MeteredBody::declared_bytes() const { return from_.declared_bytes(); }

base::Awaitable<Piece> MeteredBody::read() {
  auto piece = from_.read();
  return piece.is_ready() ? base::Awaitable<Piece>::ready(count(piece.take()))
                          : wait_for(std::move(piece));
}

base::Awaitable<Piece> MeteredBody::wait_for(base::Awaitable<Piece> piece) {
  auto arrived = co_await std::move(piece);
  co_return count(std::move(arrived));
}

Piece MeteredBody::count(Piece piece) {
  if (!piece) {
    return piece;
  }
  if (piece->size() > max_body_bytes_ - passed_bytes_) {
    return base::fail(base::ErrorKind::kBodyTooLarge,
                      fmt::format("The body is longer than {} bytes, the most this route takes "
                                  "(limits.body).",
                                  max_body_bytes_));
  }
  if (!staged_.take(piece->size())) {
    return base::fail(base::ErrorKind::kOverloaded,
                      fmt::format("Uploads that are not committed yet hold {} bytes, the most "
                                  "that is allowed (limits.staged). Try again later.",
                                  staged_.limit_bytes()));
  }
  passed_bytes_ += piece->size();
  return piece;
}

}  // namespace fenceline::proxy
