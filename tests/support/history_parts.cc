#include "tests/support/history_parts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

}  // namespace

std::vector<Operation> without_what_a_cut_may_undo(const std::vector<Operation>& history) {
  std::unordered_map<std::int64_t, std::int64_t> writes;  // Unknown ones: value to token.
  std::map<std::string, std::int64_t> deletes;            // Resource to the highest token.
  for (const Operation& operation : history) {
    if (operation.outcome != Outcome::kUnknown) {
      continue;
    }
    if (operation.kind == Kind::kWrite) {
      writes[operation.value] = operation.token;
    } else if (operation.kind == Kind::kDelete) {
      std::int64_t& highest = deletes[operation.resource];
      highest = std::max(highest, operation.token);
    }
  }
  const auto is_sure = [&](const Operation& operation) {
    if (operation.kind != Kind::kRead || operation.outcome != Outcome::kDone) {
      return true;
    }
    if (operation.value == 0) {
      const auto found = deletes.find(operation.resource);
      return found == deletes.end() || operation.token > found->second;
    }
    const auto found = writes.find(operation.value);
    return found == writes.end() || operation.token > found->second;
  };
  std::vector<Operation> sure = history;
  for (Operation& operation : sure) {
    if (!is_sure(operation)) {
      // As if it had looked at something that nobody ever writes.
      operation.resource += "#unsure";
      operation.value = 0;
    }
  }
  return sure;
}

std::vector<Operation> last_known(const std::vector<Operation>& history) {
  std::map<std::string, const Operation*> reads;
  std::unordered_map<std::int64_t, const Operation*> writes;
  for (const Operation& operation : history) {
    if (operation.kind == Kind::kWrite) {
      writes[operation.value] = &operation;
    } else if (operation.kind == Kind::kRead && operation.token != 0 &&
               operation.outcome == Outcome::kDone) {
      const Operation*& last = reads[operation.resource];
      if (last == nullptr || last->end < operation.end) {
        last = &operation;
      }
    }
  }
  std::vector<Operation> known;
  for (const auto& [resource, read] : reads) {
    known.push_back(*read);
    if (const auto write = writes.find(read->value); write != writes.end()) {
      known.push_back(*write->second);
      // It was seen with a higher token: it has happened, whatever its client was told.
      known.back().outcome = Outcome::kDone;
    }
  }
  return known;
}

}  // namespace fenceline::testing
