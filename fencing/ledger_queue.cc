#include "fencing/ledger_queue.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace fenceline::fencing {
namespace {

template <typename Request>
void move_oldest(std::deque<Request>& from, std::vector<Request>& to, std::size_t at_most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(from.size(), at_most));
  const auto last = from.begin() + count;
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(last));
  from.erase(from.begin(), last);
}

}  // namespace

void LedgerBatch::clear() {
  finds.clear();
  scans.clear();
  raises.clear();
  intents.clear();
  reset_lists.clear();
  intent_lists.clear();
  answers.clear();
  resets.clear();
  leases.clear();
  lease_lists.clear();
}

template <typename Request>
bool LedgerQueue::append(std::deque<Request>& waiting_requests, Request& request) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting() >= max_waiting_) {
      return false;
    }
    waiting_requests.push_back(std::move(request));
  }
  pushed_.notify_one();
  return true;
}

template bool LedgerQueue::append(std::deque<RaiseRequest>&, RaiseRequest&);
template bool LedgerQueue::append(std::deque<FindRequest>&, FindRequest&);
template bool LedgerQueue::append(std::deque<ScanRequest>&, ScanRequest&);
template bool LedgerQueue::append(std::deque<ResetRequest>&, ResetRequest&);
template bool LedgerQueue::append(std::deque<ResetsRequest>&, ResetsRequest&);
template bool LedgerQueue::append(std::deque<IntentRequest>&, IntentRequest&);
template bool LedgerQueue::append(std::deque<IntentsRequest>&, IntentsRequest&);
template bool LedgerQueue::append(std::deque<LeaseRequest>&, LeaseRequest&);
template bool LedgerQueue::append(std::deque<LeasesRequest>&, LeasesRequest&);
template bool LedgerQueue::append(std::deque<AnswerRequest>&, AnswerRequest&);

LedgerQueue::Wake LedgerQueue::take(LedgerBatch& batch, std::size_t max_each,
                                    std::optional<std::chrono::milliseconds> idle_after) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return closed_ || waiting() > 0; };
  if (!idle_after) {
    pushed_.wait(lock, ready);
  } else if (!pushed_.wait_for(lock, *idle_after, ready)) {
    return Wake::kIdle;
  }
  const std::size_t at_most = closed_ ? std::numeric_limits<std::size_t>::max() : max_each;
  move_oldest(finds_, batch.finds, at_most);
  move_oldest(scans_, batch.scans, at_most);
  move_oldest(raises_, batch.raises, at_most);
  move_oldest(reset_lists_, batch.reset_lists, at_most);
  move_oldest(resets_, batch.resets, at_most);
  move_oldest(intents_, batch.intents, at_most);
  move_oldest(intent_lists_, batch.intent_lists, at_most);
  move_oldest(leases_, batch.leases, at_most);
  move_oldest(lease_lists_, batch.lease_lists, at_most);
  move_oldest(answers_, batch.answers, at_most);
  return closed_ ? Wake::kClosed : Wake::kWork;
}

void LedgerQueue::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  pushed_.notify_one();
}

}  // namespace fenceline::fencing
