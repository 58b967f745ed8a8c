#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "fencing/key_range.h"
#include "fencing/lease/memory_leases.h"
#include "fencing/ledger.h"
#include "fencing/ledger_identity.h"

namespace fenceline::fencing {
namespace {

class MemoryLedger final : public Ledger {
 public:
  void raise(const base::FenceKey& key, const Mark& offered,
             base::Done<base::Result<Mark>> done) override {
    Mark after;
    {
      const std::scoped_lock lock(mutex_);
      if (offered.token.exists()) {
        Mark& stored = marks_[key.text()];
        stored = merged(stored, offered);
        after = stored;
      } else {
        after = stored_mark(key.text());
      }
    }
    done(std::move(after));
  }

  void find(const base::FenceKey& key, base::Done<base::Result<Mark>> done) override {
    Mark mark;
    {
      const std::scoped_lock lock(mutex_);
      mark = stored_mark(key.text());
    }
    done(std::move(mark));
  }

  void scan(std::string prefix, std::string after, std::size_t limit,
            base::Done<base::Result<std::vector<KeyedMark>>> done) override {
    const KeyRange range = range_of(prefix, after);
    std::vector<KeyedMark> rows;
    {
      const std::scoped_lock lock(mutex_);
      for (auto row = marks_.lower_bound(range.first);
           row != marks_.end() && rows.size() < limit && (!range.end || row->first < *range.end);
           ++row) {
        rows.push_back(KeyedMark{row->first, row->second});
      }
    }
    done(std::move(rows));
  }

  void reset(const base::FenceKey& key, const ResetOrder& order,
             base::Done<base::Result<ResetOutcome>> done) override {
    ResetOutcome outcome;
    {
      const std::scoped_lock lock(mutex_);
      outcome = reset_mark(stored_mark(key.text()), order);
      if (outcome.verdict == ResetVerdict::kApplies) {
        marks_[key.text()] = outcome.after;
        resets_[key.text()].push_back(record_of(outcome, order));
      }
    }
    done(std::move(outcome));
  }

  void resets(const base::FenceKey& key, std::size_t limit,
              base::Done<base::Result<std::vector<ResetRecord>>> done) override {
    std::vector<ResetRecord> rows;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = resets_.find(key.text());
      if (found != resets_.end()) {
        const auto count = static_cast<std::ptrdiff_t>(std::min(limit, found->second.size()));
        rows.assign(found->second.rbegin(), found->second.rbegin() + count);
      }
    }
    done(std::move(rows));
  }

  void put_intent(Intent put, std::vector<Intent> drop,
                  base::Done<base::Result<void>> done) override {
    {
      const std::scoped_lock lock(mutex_);
      erase(drop);
      intents_.insert(std::move(put));
    }
    done({});
  }

  void drop_intents(std::vector<Intent> drop, base::Done<base::Result<void>> done) override {
    {
      const std::scoped_lock lock(mutex_);
      erase(drop);
    }
    done({});
  }

  void list_intents(base::Done<base::Result<std::vector<Intent>>> done) override {
    std::vector<Intent> rows;
    {
      const std::scoped_lock lock(mutex_);
      rows.assign(intents_.begin(), intents_.end());
    }
    done(std::move(rows));
  }

  void grant(GrantOrder order, base::Done<base::Result<base::Token>> done) override {
    done(change(std::move(order)));
  }

  void end_leases(EndOrder order, base::Done<base::Result<base::Token>> done) override {
    done(change(std::move(order)));
  }

  void change_ttl(std::string id, base::Milliseconds ttl,
                  base::Done<base::Result<void>> done) override {
    change(TtlOrder{std::move(id), ttl});
    done({});
  }

  void list_leases(base::Done<base::Result<LeaseRecords>> done) override {
    LeaseRecords records;
    {
      const std::scoped_lock lock(mutex_);
      records = leases_.all();
    }
    done(std::move(records));
  }

  [[nodiscard]] std::string identity() const override { return identity_; }

 private:
  base::Result<base::Token> change(LeaseChange order) {
    const std::scoped_lock lock(mutex_);
    return leases_.apply(std::move(order), marks_);
  }

  [[nodiscard]] Mark stored_mark(const std::string& key) const {
    const auto found = marks_.find(key);
    return found == marks_.end() ? Mark{} : found->second;
  }

  void erase(const std::vector<Intent>& drop) {
    for (const Intent& intent : drop) {
      intents_.erase(intent);
    }
  }

  const std::string identity_ = new_ledger_identity();
  std::mutex mutex_;
  std::map<std::string, Mark> marks_;
  std::map<std::string, std::vector<ResetRecord>> resets_;
  std::set<Intent> intents_;
  MemoryLeases leases_;
};

}  // namespace

std::unique_ptr<Ledger> make_memory_ledger() { return std::make_unique<MemoryLedger>(); }

}  // namespace fenceline::fencing
