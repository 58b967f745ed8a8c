#include "tests/base/aws/body_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <utility>

#include "base/aws/checksum.h"
#include "base/aws/chunk_signature.h"
#include "base/spawn.h"
#include "tests/support/coroutine.h"

namespace fenceline::testing {
namespace {

using base::Awaitable;
using base::Result;
using base::aws::VerifiedBody;

class CutSource final : public base::BodySource {
 public:
  CutSource(const SentBody& sent, const std::vector<std::size_t>& cuts)
      : sent_(sent), cuts_(cuts) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return sent_.declares ? std::optional<std::uint64_t>(sent_.bytes.size()) : std::nullopt;
  }

  Awaitable<Result<std::string_view>> read() override {
    std::ranges::fill(memory_, '#');
    while (at_ < sent_.bytes.size()) {
      const std::size_t end =
          next_ < cuts_.size() ? std::min(cuts_[next_++], sent_.bytes.size()) : sent_.bytes.size();
      if (end > at_) {
        memory_ = sent_.bytes.substr(at_, end - at_);
        at_ = end;
        return Awaitable<Result<std::string_view>>::ready(std::string_view(memory_));
      }
    }
    if (sent_.end) {
      return Awaitable<Result<std::string_view>>::ready(tl::unexpected(*sent_.end));
    }
    return Awaitable<Result<std::string_view>>::ready(std::string_view());
  }

 private:
  const SentBody& sent_;
  const std::vector<std::size_t>& cuts_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
  std::string memory_;
};

Awaitable<void> read_all(VerifiedBody* body, GotBody* got) {
  bool more = true;
  while (more) {
    auto piece = co_await body->read();
    if (!piece) {
      got->error = piece.error();
    } else if (!piece->empty()) {
      got->pieces.emplace_back(*piece);
      got->content += *piece;
    }
    more = piece && !piece->empty();
  }
  auto again = co_await body->read();
  got->reads_on = got->error ? again.has_value() || again.error().detail != got->error->detail
                             : !again || !again->empty();
}

}  // namespace

GotBody receive(const SentBody& sent, const std::vector<std::size_t>& cuts) {
  base::RequestHead head;
  for (const auto& [name, value] : sent.fields) {
    head.fields.push_back({.name = name, .value = value});
  }
  CutSource raw(sent, cuts);
  GotBody got;
  auto body = base::aws::open_body(head, raw,
                                   {.payload = sent.payload,
                                    .verified = sent.verified,
                                    .wants_md5 = sent.wants_md5,
                                    .fields_are_of_body = sent.fields_are_of_body});
  if (!body) {
    got.error = body.error();
    return got;
  }
  got.opened = true;
  got.declared_bytes = (*body)->declared_bytes();
  got.early_checksum = (*body)->checksum();
  got.trailer = (*body)->trailer();
  boost::asio::io_context io(1);
  base::spawn(io, read_all(body->get(), &got), nothing_thrown);
  io.run();
  got.checksum = (*body)->checksum();
  got.md5 = (*body)->md5();
  return got;
}

GotBody receive(const SentBody& sent, std::size_t step) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = step; at < sent.bytes.size(); at += step) {
    cuts.push_back(at);
  }
  return receive(sent, cuts);
}

std::string crc32_of(std::string_view content) {
  base::aws::RunningChecksum running(base::aws::ChecksumKind::kCrc32);
  running.add(content);
  return running.value();
}

base::aws::Verified example_of_chunks(std::string_view seed_signature) {
  const base::aws::Scope scope{.date = "20130524", .region = "us-east-1"};
  base::aws::Verified verified;
  verified.access_key = "AKIAIOSFODNN7EXAMPLE";
  verified.payload = base::aws::Payload::kSignedChunks;
  verified.timestamp = "20130524T000000Z";
  verified.scope = scope.text();
  verified.seed_signature = seed_signature;
  verified.key = base::aws::signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope);
  return verified;
}

std::string signed_chunks(std::string_view content, const std::vector<std::size_t>& sizes,
                          const base::aws::Verified& verified, std::string_view trailer) {
  base::aws::ChunkSigner signer(verified);
  std::string bytes;
  const auto add = [&](std::string_view chunk) {
    bytes += fmt::format("{:x};chunk-signature={}\r\n", chunk.size(),
                         signer.next(base::aws::sha256_hex(chunk)));
    bytes += chunk;
    bytes += chunk.empty() ? "" : "\r\n";
  };
  for (const std::size_t size : sizes) {
    add(content.substr(0, size));
    content.remove_prefix(size);
  }
  add({});
  if (!trailer.empty()) {
    bytes += fmt::format("{}\r\nx-amz-trailer-signature:{}\r\n", trailer,
                         signer.trailer(base::aws::sha256_hex(std::string(trailer) + "\n")));
  }
  return bytes + "\r\n";
}

}  // namespace fenceline::testing
