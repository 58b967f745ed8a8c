#include "tests/support/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;
using Indexes = std::vector<std::size_t>;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

/// The start or the end of an operation.
struct Moment {
  std::int64_t time;
  std::size_t operation;
  bool is_start;
};

/// A write that a read may have seen. The state before the history is a delete that ended before
/// it.
struct Candidate {
  std::int64_t token = 0;
  std::int64_t start = kNever;
  std::int64_t end = kNever;
};

/// What must have happened to a resource by some moment.
struct Known {
  std::int64_t token = 0;       ///< An effect with at least this token has happened.
  std::int64_t start = kNever;  ///< An effect that was sent at this moment or later has happened.

  /// True if `candidate` is no longer the content.
  [[nodiscard]] bool replaced(const Candidate& candidate) const {
    return candidate.token < token || candidate.end < start;
  }
  void happened(std::int64_t with_token, std::int64_t sent_at) {
    token = std::max(token, with_token);
    start = std::max(start, sent_at);
  }
};

/// What the fenced reads with the highest tokens saw: the highest, and the highest that saw
/// something else. Whatever is seen later was either seen by them too or has a token not below
/// theirs.
class FencedReads {
 public:
  void add(std::int64_t token, std::int64_t value) {
    if (token <= highest_) {
      if (value != seen_) {
        other_ = std::max(other_, token);
      }
      return;
    }
    if (value != seen_) {
      other_ = highest_;
    }
    highest_ = token;
    seen_ = value;
  }

  /// The highest token that read something other than `value`; 0 if there is none.
  [[nodiscard]] std::int64_t other_than(std::int64_t value) const {
    return value == seen_ ? other_ : highest_;
  }

 private:
  std::int64_t highest_ = 0;
  std::int64_t seen_ = 0;   ///< By the read with the highest token.
  std::int64_t other_ = 0;  ///< The highest token that saw something else.
};

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kWrite:
      return "write";
    case Kind::kDelete:
      return "delete";
    case Kind::kRead:
      break;
  }
  return "read";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kFenced:
      return "fenced";
    case Outcome::kNotApplied:
      return "not applied";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

class Judge {
 public:
  explicit Judge(const std::vector<Operation>& history)
      : history_(history), floor_(history.size(), 0) {}

  std::vector<std::string> run() {
    std::map<std::string, Indexes> by_key;
    std::map<std::string, Indexes> by_resource;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      by_key[history_[i].key].push_back(i);
      by_resource[history_[i].resource].push_back(i);
    }
    for (const auto& [key, operations] : by_key) {
      check_tokens(operations);
    }
    for (const auto& [resource, operations] : by_resource) {
      check_reads(operations);
    }
    return std::move(violations_);
  }

 private:
  [[nodiscard]] std::vector<Moment> moments_of(const Indexes& operations) const {
    std::vector<Moment> moments;
    for (const std::size_t i : operations) {
      moments.push_back({history_[i].start, i, true});
      moments.push_back({history_[i].end, i, false});
    }
    std::ranges::sort(moments, {}, &Moment::time);
    return moments;
  }

  // Fills `floor_`, which `check_reads` needs.
  void check_tokens(const Indexes& operations) {
    std::int64_t accepted = 0;
    std::int64_t sent = 0;
    for (const Moment& moment : moments_of(operations)) {
      const Operation& operation = history_[moment.operation];
      if (moment.is_start) {
        floor_[moment.operation] = accepted;
        sent = std::max(sent, operation.token);
      } else if (operation.outcome == Outcome::kFenced && operation.token >= sent) {
        refuse("{} was refused as stale, but no higher token was sent before its end", operation);
      } else if (operation.outcome == Outcome::kDone && operation.token != 0) {
        if (operation.token < floor_[moment.operation]) {
          refuse("{} was accepted, although the token {} had been accepted before it was sent",
                 operation, floor_[moment.operation]);
        }
        accepted = std::max(accepted, operation.token);
      }
    }
  }

  void check_reads(const Indexes& operations) {
    collect_candidates(operations);
    Known known;
    FencedReads fenced_reads;
    std::unordered_map<std::size_t, Known> known_at_start;
    std::unordered_map<std::size_t, FencedReads> fenced_at_start;
    for (const Moment& moment : moments_of(operations)) {
      const std::size_t i = moment.operation;
      const Operation& operation = history_[i];
      if (moment.is_start) {
        if (operation.kind == Kind::kRead) {
          known_at_start[i] = known;
          fenced_at_start[i] = fenced_reads;
        }
      } else if (operation.outcome != Outcome::kDone) {
        known_at_start.erase(i);
        fenced_at_start.erase(i);
      } else if (operation.kind != Kind::kRead) {
        known.happened(operation.token, operation.start);
      } else {
        check_read(operation, known_at_start[i], fenced_at_start[i], known);
        if (operation.token != 0) {
          fenced_reads.add(operation.token, operation.value);
        }
        known_at_start.erase(i);
        fenced_at_start.erase(i);
      }
    }
  }

  void collect_candidates(const Indexes& operations) {
    writes_.clear();
    deletes_.assign(1, Candidate{});
    no_effect_.clear();
    for (const std::size_t i : operations) {
      const Operation& operation = history_[i];
      if (operation.kind == Kind::kRead) {
        continue;
      }
      const bool none = operation.outcome == Outcome::kFenced ||
                        operation.outcome == Outcome::kNotApplied ||
                        // Unknown, but the fence must have refused it.
                        (operation.outcome == Outcome::kUnknown && operation.token < floor_[i]);
      const Candidate candidate{operation.token, operation.start, operation.end};
      if (operation.kind == Kind::kWrite) {
        writes_[operation.value] = candidate;
        if (none) {
          no_effect_.insert(operation.value);
        }
      } else if (!none) {
        deletes_.push_back(candidate);
      }
    }
  }

  void check_read(const Operation& read, const Known& before, const FencedReads& fenced,
                  Known& after) {
    if (read.value == 0) {
      check_absence(read, before, fenced, after);
      return;
    }
    const auto found = writes_.find(read.value);
    if (found == writes_.end()) {
      refuse("{} saw what nobody wrote: torn, or from elsewhere", read);
    } else if (no_effect_.contains(read.value)) {
      refuse("{} saw a write that was stale or refused and must have no effect", read);
    } else if (const auto reason = objection(read, found->second, before, fenced)) {
      refuse("{} {}", read, *reason);
    } else {
      after.happened(found->second.token, found->second.start);
    }
  }

  // Any delete may be the one: at least the lowest token and the earliest start of those possible
  // have happened.
  void check_absence(const Operation& read, const Known& before, const FencedReads& fenced,
                     Known& after) {
    std::optional<Candidate> least;
    std::string reason;
    for (const Candidate& candidate : deletes_) {
      if (auto against = objection(read, candidate, before, fenced)) {
        reason = std::move(*against);
      } else if (!least) {
        least = candidate;
      } else {
        least->token = std::min(least->token, candidate.token);
        least->start = std::min(least->start, candidate.start);
      }
    }
    if (!least) {
      refuse("{} saw nothing, but no delete explains it: for one of them, it {}", read, reason);
    } else {
      after.happened(least->token, least->start);
    }
  }

  static std::optional<std::string> objection(const Operation& read, const Candidate& seen,
                                              const Known& before, const FencedReads& fenced) {
    if (seen.start > read.end) {
      return "saw what was only sent later";
    }
    if (before.replaced(seen)) {
      return fmt::format(
          "saw the effect of token {} sent at {}, but one with token {}, and one sent at {}, had "
          "happened: an acknowledged effect was lost or a stale one happened",
          seen.token, seen.start, before.token, before.start);
    }
    if (seen.token < fenced.other_than(read.value)) {
      return fmt::format(
          "saw the effect of token {}, which an earlier read with token {} had not seen: it landed "
          "after that read",
          seen.token, fenced.other_than(read.value));
    }
    if (read.token != 0 && seen.token > read.token) {
      return fmt::format("saw the effect of the higher token {}", seen.token);
    }
    return std::nullopt;
  }

  template <typename... Arguments>
  void refuse(std::string_view format, const Operation& operation, const Arguments&... arguments) {
    violations_.push_back(fmt::format(fmt::runtime(format), text_of(operation), arguments...));
  }

  const std::vector<Operation>& history_;
  std::vector<std::int64_t> floor_;  ///< By operation: the highest token accepted before its start.
  std::unordered_map<std::int64_t, Candidate> writes_;  ///< Of one resource, by value.
  std::vector<Candidate> deletes_;                      ///< Of one resource.
  std::set<std::int64_t> no_effect_;                    ///< Values that must never be seen.
  std::vector<std::string> violations_;
};

}  // namespace

std::string text_of(const Operation& operation) {
  return fmt::format("the {} of {} (token {}, value {}, from {} to {}, {})",
                     name_of(operation.kind), operation.resource, operation.token, operation.value,
                     operation.start, operation.end, name_of(operation.outcome));
}

std::vector<std::string> violations_of(const std::vector<Operation>& history) {
  return Judge(history).run();
}

}  // namespace fenceline::testing
