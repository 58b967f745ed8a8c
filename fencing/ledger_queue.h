#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/error.h"
#include "fencing/key_range.h"
#include "fencing/lease/lease_change.h"
#include "fencing/ledger.h"
#include "fencing/mark.h"
#include "fencing/reset.h"

namespace fenceline::fencing {

struct RaiseRequest {
  std::string key;
  Mark offered;
  base::Done<base::Result<Mark>> done;
};

struct FindRequest {
  std::string key;
  base::Done<base::Result<Mark>> done;
};

struct ScanRequest {
  KeyRange range;
  std::size_t limit = 0;
  base::Done<base::Result<std::vector<KeyedMark>>> done;
};

struct ResetRequest {
  std::string key;
  ResetOrder order;
  base::Done<base::Result<ResetOutcome>> done;
};

struct ResetsRequest {
  std::string key;
  std::size_t limit = 0;
  base::Done<base::Result<std::vector<ResetRecord>>> done;
};

/// Of `put_intent` or `drop_intents`: one kind, so that they keep their order.
struct IntentRequest {
  std::optional<Intent> put;
  std::vector<Intent> drop;
  base::Done<base::Result<void>> done;
};

struct IntentsRequest {
  base::Done<base::Result<std::vector<Intent>>> done;
};

/// One kind, so that grants, ends and changes keep their order.
struct LeaseRequest {
  LeaseChange change;
  base::Done<base::Result<base::Token>> done;
};

struct LeasesRequest {
  base::Done<base::Result<LeaseRecords>> done;
};

/// Of `AnswerStore`: one kind, so that they keep their order.
struct AnswerRequest {
  enum class Kind : std::uint8_t { kRecall, kKeep, kForget };
  using Answer = base::Result<std::optional<base::KeptRow>>;

  Kind kind = Kind::kRecall;
  base::Once once;  ///< Of `kForget` only the key.
  std::string request_id;
  std::string before;
  base::KeptAnswer answer;
  base::Done<Answer> done;
};

/// Requests that are served together. Reused from round to round, so that it stops allocating.
struct LedgerBatch {
  std::vector<FindRequest> finds;
  std::vector<ScanRequest> scans;
  std::vector<ResetsRequest> reset_lists;
  std::vector<IntentsRequest> intent_lists;
  std::vector<LeasesRequest> lease_lists;
  std::vector<RaiseRequest> raises;
  std::vector<IntentRequest> intents;
  std::vector<LeaseRequest> leases;
  std::vector<AnswerRequest> answers;
  std::vector<ResetRequest> resets;

  void clear();
};

/// What waits for the ledger's thread. Bounded; many threads push, one takes.
class LedgerQueue {
 public:
  /// Why `take` came back.
  enum class Wake : std::uint8_t {
    kWork,    ///< The batch holds at least one request.
    kIdle,    ///< Nothing came for the idle time.
    kClosed,  ///< Closed: the batch holds everything that was left.
  };

  explicit LedgerQueue(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  /// Appends `request` and wakes the taker.
  /// Success: true, and `request` has been moved away. Failure: false if `max_waiting` requests
  /// wait already; `request` is unchanged. Thread-safe.
  bool push(RaiseRequest& request) { return append(raises_, request); }
  bool push(FindRequest& request) { return append(finds_, request); }
  bool push(ScanRequest& request) { return append(scans_, request); }
  bool push(ResetRequest& request) { return append(resets_, request); }
  bool push(ResetsRequest& request) { return append(reset_lists_, request); }
  bool push(IntentRequest& request) { return append(intents_, request); }
  bool push(IntentsRequest& request) { return append(intent_lists_, request); }
  bool push(LeaseRequest& request) { return append(leases_, request); }
  bool push(LeasesRequest& request) { return append(lease_lists_, request); }
  bool push(AnswerRequest& request) { return append(answers_, request); }

  /// Waits for requests and moves up to `max_each` of each kind into `batch`, oldest first.
  /// `batch` must be empty. Without `idle_after` it waits for ever. One thread only.
  Wake take(LedgerBatch& batch, std::size_t max_each,
            std::optional<std::chrono::milliseconds> idle_after);

  /// Ends the waiting; nothing may be pushed any more. Thread-safe.
  void close();

 private:
  template <typename Request>
  bool append(std::deque<Request>& waiting, Request& request);

  [[nodiscard]] std::size_t waiting() const {
    return raises_.size() + finds_.size() + scans_.size() + resets_.size() + reset_lists_.size() +
           intents_.size() + intent_lists_.size() + leases_.size() + lease_lists_.size() +
           answers_.size();
  }

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable pushed_;
  bool closed_ = false;
  std::deque<RaiseRequest> raises_;
  std::deque<FindRequest> finds_;
  std::deque<ScanRequest> scans_;
  std::deque<ResetRequest> resets_;
  std::deque<ResetsRequest> reset_lists_;
  std::deque<IntentRequest> intents_;
  std::deque<IntentsRequest> intent_lists_;
  std::deque<LeaseRequest> leases_;
  std::deque<LeasesRequest> lease_lists_;
  std::deque<AnswerRequest> answers_;
};

}  // namespace fenceline::fencing
