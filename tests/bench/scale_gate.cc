#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/token.h"
#include "fencing/gate.h"
#include "fencing/ledger.h"
#include "tests/bench/scale.h"
#include "tests/support/no_leases.h"

namespace fenceline::bench {
namespace {

using base::Done;
using base::FenceKey;
using base::Result;
using fencing::KeyedMark;
using fencing::Mark;

/// Knows the same mark for every key and keeps nothing, so that what grows is the gate.
class ConstantLedger final : public testing::NoLeases {
 public:
  void raise(const FenceKey& /*key*/, const Mark& offered, Done<Result<Mark>> done) override {
    done(offered);
  }
  void find(const FenceKey& /*key*/, Done<Result<Mark>> done) override {
    done(Mark{base::Token::of(kScaleToken), {}});
  }
  void scan(std::string /*prefix*/, std::string /*after*/, std::size_t /*limit*/,
            Done<Result<std::vector<KeyedMark>>> done) override {
    done(std::vector<KeyedMark>());
  }
  void reset(const FenceKey& /*key*/, const fencing::ResetOrder& /*order*/,
             Done<Result<fencing::ResetOutcome>> done) override {
    done(base::fail(base::ErrorKind::kInternal, "nobody resets here"));
  }
  void resets(const FenceKey& /*key*/, std::size_t /*limit*/,
              Done<Result<std::vector<fencing::ResetRecord>>> done) override {
    done(std::vector<fencing::ResetRecord>());
  }
  void put_intent(fencing::Intent /*put*/, std::vector<fencing::Intent> /*drop*/,
                  Done<Result<void>> done) override {
    done({});
  }
  void drop_intents(std::vector<fencing::Intent> /*drop*/, Done<Result<void>> done) override {
    done({});
  }
  void list_intents(Done<Result<std::vector<fencing::Intent>>> done) override {
    done(std::vector<fencing::Intent>());
  }
  [[nodiscard]] std::string identity() const override { return std::string(32, '0'); }
};

}  // namespace

void measure_gate(std::uint64_t keys) {
  constexpr std::size_t kLookups = 1'000'000;
  const std::vector<FenceKey> some = some_keys(keys, kLookups);
  const fencing::Claim claim{.token = base::Token::of(kScaleToken), .holder = {}, .max_jump = 0};
  ConstantLedger ledger;
  // The room is divided among shards, which do not fill up evenly.
  fencing::Gate gate(ledger, {.max_cached_keys = 2 * keys});
  const std::uint64_t before = resident_bytes();
  std::uint64_t admitted = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const auto key = FenceKey::parse(scale_key(i));
    gate.admit(*key, claim, fencing::Announce::kYes,
               [&admitted](const Result<fencing::Ticket>& ticket) { admitted += ticket ? 1 : 0; });
  }
  if (admitted != keys || gate.cached_keys() != keys) {
    throw std::runtime_error(
        fmt::format("of {} keys {} were admitted and {} kept", keys, admitted, gate.cached_keys()));
  }
  const std::uint64_t grown = resident_bytes() - before;
  std::uint64_t found = 0;
  const auto began = std::chrono::steady_clock::now();
  for (const FenceKey& key : some) {
    const auto ticket = gate.try_admit(key, claim);
    found += ticket && *ticket ? 1 : 0;
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
  if (found != some.size()) {
    throw std::runtime_error(fmt::format("of {} keys {} were found", some.size(), found));
  }
  fmt::print(R"({{"keys": {}, "bytes_per_key": {:.1f}, "admit_ns": {:.0f}}})"
             "\n",
             keys, static_cast<double>(grown) / static_cast<double>(keys),
             took.count() / static_cast<double>(some.size()));
}

}  // namespace fenceline::bench
