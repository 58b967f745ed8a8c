// A request that is several writes (S3 DeleteObjects by tombstones): all of them pass the fence or
// none, and then each is on record, committed and settled as a write of its own.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/timer_wheel.h"
#include "fencing/recording.h"
#include "proxy/pipeline.h"
#include "proxy/s3_delete_result.h"

namespace fenceline::proxy {
namespace {

using backends::StagedPart;
using base::Awaitable;
using base::Error;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::Permits;
using fencing::RunningIntent;
using fencing::Settlement;

bool has_succeeded(const StagedPart& part) {
  return part.outcome && part.outcome->has_value() && (*part.outcome)->status / 100 == 2;
}

// Not even what has succeeded may be acknowledged: an older write of the same key may still come.
Error not_acknowledged(Error error) {
  error.detail +=
      " Some of the objects of this request may be deleted. Send it again: that deletes the "
      "others.";
  error.applied = base::Applied::kUnknown;
  return error;
}

/// The permits of a write with parts, one for each key, of which several parts may have the same.
class PermitsOfParts {
 public:
  PermitsOfParts(Exchange& exchange, std::span<const StagedPart> parts, Permits& permits)
      : exchange_(exchange), permits_(permits) {
    if (permits.empty()) {
      return;  // It claims nothing, or an observing route lets it pass.
    }
    for (const base::FenceKey& key : exchange.named_keys) {
      keys_.push_back({.key = &key});
    }
    const auto text = [](const KeyInside& one) -> const base::FenceKey& { return *one.key; };
    std::ranges::sort(keys_, {}, text);
    const auto last = std::unique(
        keys_.begin(), keys_.end(),
        [](const KeyInside& left, const KeyInside& right) { return *left.key == *right.key; });
    keys_.erase(last, keys_.end());
    for (const StagedPart& part : parts) {
      ++at(part).parts_left;
    }
  }

  /// `in_doubt`: and no record of it holds newer tokens back. `may_leave`: with its last part the
  /// key is left, so that who is newer there waits no longer.
  void end(const StagedPart& part, bool in_doubt, bool may_leave) {
    if (keys_.empty()) {
      return;
    }
    KeyInside& key = at(part);
    key.outcome = in_doubt ? Settlement::kInDoubt : key.outcome;
    if (--key.parts_left == 0 && may_leave) {
      leave(key);
    }
  }

  void leave_all() {
    for (const KeyInside& key : keys_) {
      leave(key);
    }
  }

 private:
  struct KeyInside {
    const base::FenceKey* key = nullptr;
    std::size_t parts_left = 0;
    Settlement outcome = Settlement::kApplied;
  };

  KeyInside& at(const StagedPart& part) {
    const base::FenceKey& key = exchange_.named_keys.at(part.named);
    return *std::ranges::lower_bound(
        keys_, key, {}, [](const KeyInside& one) -> const base::FenceKey& { return *one.key; });
  }

  void leave(const KeyInside& key) {
    // As the keys, so the permits are sorted.
    const auto at = static_cast<std::size_t>(&key - keys_.data());
    const base::Token mark = permits_[at].settle(key.outcome);
    if (mark.exists() && *key.key == *exchange_.key) {
      exchange_.mark_at_leave = mark;
    }
  }

  Exchange& exchange_;
  Permits& permits_;
  std::vector<KeyInside> keys_;
};

}  // namespace

Awaitable<Result<void>> Pipeline::put_parts_on_record(Exchange& exchange,
                                                      std::span<StagedPart> parts, OnRecord& into) {
  std::vector<fencing::Intent> entries;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; exchange.claims() && i < parts.size(); ++i) {
    const StagedPart& part = parts[i];
    auto intent = part.write == nullptr ? std::nullopt : part.write->intent();
    if (intent) {
      entries.push_back({.key = exchange.named_keys.at(part.named).text(),
                         .token = exchange.token,
                         .route = exchange.route->name,
                         .data = std::move(intent->data)});
      owners.push_back(i);
    }
  }
  if (entries.empty()) {
    co_return Result<void>();
  }
  // Never shared: what is left on record of a thousand keys helps nobody.
  auto recorded = co_await fencing::put_on_record(parts_.intents, std::move(entries), false,
                                                  exchange.request.timers, exchange.route->drain);
  if (!recorded) {
    co_return pass_on(recorded.error());
  }
  into.resize(parts.size());
  for (std::size_t i = 0; i < owners.size(); ++i) {
    into[owners[i]] = std::move((*recorded)[i]);
  }
  co_return Result<void>();
}

Result<void> Pipeline::may_begin_part(const Exchange& exchange, const StagedPart& part, bool late) {
  if (exchange.claims() && exchange.route->enforce) {
    const base::Token mark = parts_.gate.highest(exchange.named_keys.at(part.named));
    if (exchange.token < mark) {
      return base::fail(ErrorKind::kStaleToken,
                        fmt::format("Token {} is older than {}, which came while this request was "
                                    "under way: the lease was lost. This object was left alone.",
                                    exchange.token.text(), mark.text()));
    }
  }
  return late ? base::fail(ErrorKind::kOverloaded,
                           fmt::format("This object was left alone: the ones before it took {} s. "
                                       "Send the request again for it, with fewer objects.",
                                       kPartsLimit.count() / 1'000))
              : Result<void>();
}

Awaitable<Result<Reply>> Pipeline::commit_parts(Exchange& exchange, std::span<StagedPart> parts,
                                                Permits& permits, OnRecord& on_record,
                                                bool replaces) {
  bool late = false;
  base::Timer limit(exchange.request.timers, [&late] { late = true; });
  limit.arm(kPartsLimit);
  on_record.resize(parts.size());
  PermitsOfParts inside(exchange, parts, permits);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    StagedPart& part = parts[i];
    auto allowed = part.outcome ? Result<void>() : may_begin_part(exchange, part, late);
    if (!allowed) {
      part.outcome = pass_on(allowed.error());
    } else if (!part.outcome) {
      auto outcome = co_await part.write->commit();
      part.outcome = std::move(outcome);
    }
    const bool in_doubt = settlement_of(*part.outcome) == Settlement::kInDoubt;
    const bool recorded = on_record[i].running();
    if (in_doubt) {
      on_record[i] = RunningIntent();  // Unsettled from now on.
    } else {
      on_record[i].finish();
    }
    inside.end(part, in_doubt && !recorded, !replaces);
  }
  Result<Reply> outcome = s3_delete_result(exchange.s3->request.named, parts);
  if (replaces && !std::ranges::all_of(parts, has_succeeded)) {
    // One of them was to replace an older write of unknown outcome, and perhaps did not.
    Result<void> entered;
    auto settled = co_await settle_older(exchange, nullptr, std::move(entered));
    if (!settled) {
      outcome = tl::unexpected<Error>(not_acknowledged(std::move(settled.error())));
    }
  }
  inside.leave_all();
  tell_of_parts(exchange, parts);
  co_return outcome;
}

// One line for all that went wrong in the same way.
void Pipeline::tell_of_parts(Exchange& exchange, std::span<const StagedPart> parts) {
  const Error* failed = nullptr;
  const Error* stale = nullptr;
  for (const StagedPart& part : parts) {
    if (const auto& outcome = *part.outcome; !outcome) {
      const Error*& first = outcome.error().kind == ErrorKind::kStaleToken ? stale : failed;
      first = first == nullptr ? &outcome.error() : first;
    }
  }
  if (failed != nullptr) {
    parts_.audit.failed(exchange, *failed);
  }
  if (stale != nullptr) {
    put_highest_first(exchange);
    exchange.mark_at_leave = base::Token();  // It is that of another key.
    parts_.audit.rejected(exchange, *stale, parts_.gate.highest(*exchange.key), true);
  }
}

}  // namespace fenceline::proxy
