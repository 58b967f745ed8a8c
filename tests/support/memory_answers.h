#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fencing/answer_store.h"

namespace fenceline::testing {

/// Kept answers in memory, for tests of the pipeline's order; what a store must do is tested on the
/// ledger.
class MemoryAnswers final : public fencing::AnswerStore {
 public:
  std::map<std::string, base::KeptRow> rows;
  std::optional<base::Error> fails_with;  ///< Of every call, which then changes nothing.

  void recall(base::Once once, std::string request_id, std::string before,
              base::Done<base::Result<std::optional<base::KeptRow>>> done) override {
    if (fails_with) {
      done(tl::unexpected<base::Error>(*fails_with));
      return;
    }
    const auto found = rows.find(once.key);
    if (found != rows.end()) {
      done(std::optional(found->second));
      return;
    }
    rows[once.key] = {.print = std::move(once.print),
                      .claimed_by = std::move(request_id),
                      .before = std::move(before),
                      .answer = {}};
    done(std::optional<base::KeptRow>());
  }

  void keep(base::Once once, base::KeptAnswer answer,
            base::Done<base::Result<void>> done) override {
    if (fails_with) {
      done(tl::unexpected<base::Error>(*fails_with));
      return;
    }
    rows[once.key] = {.print = std::move(once.print),
                      .claimed_by = {},
                      .before = {},
                      .answer = std::move(answer)};
    done({});
  }

  void forget(std::string key, std::string claimed_by,
              base::Done<base::Result<void>> done) override {
    const auto found = rows.find(key);
    if (found != rows.end() && found->second.claimed_by == claimed_by) {
      rows.erase(found);
    }
    done({});
  }
};

}  // namespace fenceline::testing
