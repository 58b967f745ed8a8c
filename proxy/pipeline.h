#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/admission.h"
#include "fencing/gate.h"
#include "fencing/intents.h"
#include "proxy/audit.h"
#include "proxy/exchange.h"
#include "proxy/handler.h"
#include "proxy/metered_body.h"
#include "proxy/older_writes.h"
#include "proxy/repeats.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// How long the parts of one write may take, but for the last.
inline constexpr base::Milliseconds kPartsLimit{25'000};

/// What the pipeline works with; everything outlives it.
struct PipelineParts {
  const RouteTable& routes;
  fencing::Gate& gate;
  fencing::Intents& intents;
  Audit& audit;
  StagedBytes& staged;
  const base::Clock& clock;
  std::vector<std::string> token_fields;  ///< Accepted names of the token's field, at least one.
  Repeats& repeats;
};

/// The protocol of the design, section 3: route → admit → stage → enter → commit → settle →
/// answer. Nothing else in the proxy decides whether a write takes effect.
class Pipeline final : public Handler {
 public:
  explicit Pipeline(PipelineParts parts)
      : parts_(std::move(parts)), older_writes_(parts_.intents, parts_.routes, parts_.clock) {}

  base::Awaitable<base::Reply> handle(Request request) override;

 private:
  /// One write on record, once for each key that it names.
  using OnRecord = boost::container::small_vector<fencing::RunningIntent, 1>;

  base::Awaitable<base::Result<base::Reply>> read(Exchange& exchange);
  base::Awaitable<base::Result<base::Reply>> fenced_read(Exchange& exchange);
  base::Awaitable<base::Result<base::Reply>> write(Exchange& exchange);
  // Fill `tickets` and `permits`; both stay empty for a request that claims nothing, or that an
  // observing route lets pass.
  base::Awaitable<base::Result<void>> admit(Exchange& exchange, fencing::Tickets& tickets);
  base::Awaitable<base::Result<void>> wait_to_admit(Exchange& exchange, fencing::Tickets& tickets,
                                                    fencing::Claim claim);
  void put_highest_first(Exchange& exchange);
  base::Result<void> after_admission(const Exchange& exchange, const fencing::Tickets& tickets,
                                     base::Result<void> admitted);
  /// Enters, and settles what older tokens have left; `write` is null for a read. Success: as
  /// `OlderWrites::settle`.
  base::Awaitable<base::Result<bool>> enter(Exchange& exchange, fencing::Tickets& tickets,
                                            const backends::StagedWrite* write,
                                            fencing::Permits& permits);
  base::Awaitable<base::Result<bool>> wait_to_enter(Exchange& exchange, fencing::Tickets& tickets,
                                                    const backends::StagedWrite* write,
                                                    fencing::Permits& permits);
  /// Fills `into` if the write has to be on record before its commit. Of one with parts there is
  /// one for each part then, which is not running where that part needs none.
  base::Awaitable<base::Result<void>> put_on_record(Exchange& exchange,
                                                    backends::StagedWrite& staged, OnRecord& into);
  base::Awaitable<base::Result<void>> wait_for_record(Exchange& exchange, fencing::Intent intent,
                                                      bool shared, OnRecord& into);
  /// What is to be done with a write whose `stage` failed with `error`. If that is of unknown
  /// outcome (an upstream answered a success before it had the whole request) the write goes on
  /// record for each of its keys, unsettled at once, and keeps its idempotency key: as after a
  /// commit of unknown outcome. Failure: always, `error`.
  base::Awaitable<base::Result<base::Reply>> fail_at_stage(Exchange& exchange, base::Error error);
  base::Awaitable<void> record_doubt(Exchange& exchange, const base::FenceKey& key);
  base::Awaitable<base::Result<void>> put_parts_on_record(Exchange& exchange,
                                                          std::span<backends::StagedPart> parts,
                                                          OnRecord& into);
  base::Awaitable<base::Result<bool>> settle_older(Exchange& exchange,
                                                   const backends::StagedWrite* write,
                                                   base::Result<void> inside);
  base::Awaitable<base::Result<bool>> settle_all_keys(Exchange& exchange,
                                                      const backends::StagedWrite* write);
  /// Commits the parts of a write one after the other, each settled by its own outcome, and leaves
  /// each key with its last part. None begins when `kPartsLimit` is over, or somebody newer has
  /// come for its key. `replaces`: as `enter` has said; then all keys are left at the end.
  base::Awaitable<base::Result<base::Reply>> commit_parts(Exchange& exchange,
                                                          std::span<backends::StagedPart> parts,
                                                          fencing::Permits& permits,
                                                          OnRecord& on_record, bool replaces);
  base::Result<void> may_begin_part(const Exchange& exchange, const backends::StagedPart& part,
                                    bool late);
  void tell_of_parts(Exchange& exchange, std::span<const backends::StagedPart> parts);
  static void leave(Exchange& exchange, fencing::Permits& permits, OnRecord& on_record,
                    fencing::Settlement outcome);
  /// Takes a mark in that a store which keeps marks itself has shown us.
  void learn(Exchange& exchange, const base::Result<base::Reply>& outcome);
  base::Result<void> enforced(const Exchange& exchange, base::Result<void> verdict);

  /// True if an observing route lets this refusal pass; it is logged and counted here.
  bool waved_through(const Exchange& exchange, const base::Error& error);

  base::Reply answer(const Exchange& exchange, base::Result<base::Reply> outcome);
  base::Token highest(const Exchange& exchange);

  PipelineParts parts_;
  OlderWrites older_writes_;
};

/// True for a write that is certain not to have taken effect. Pure.
bool is_refusal(const base::Result<base::Reply>& outcome);

/// How a commit's result settles its permit: unknown is never taken for "not applied". Pure.
fencing::Settlement settlement_of(const base::Result<base::Reply>& outcome);

}  // namespace fenceline::proxy
