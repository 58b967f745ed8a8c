#pragma once

#include "base/answer_table.h"
#include "fencing/ledger_queue.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// Kept answers that a ledger has room for.
inline constexpr std::size_t kMaxKeptAnswers = 1'000'000;

/// Does what one request asks, in the transaction that is open.
/// Success: its answer, also a refusal (no room), which changed nothing. Failure: the transaction
/// must be rolled back.
SqliteResult<AnswerRequest::Answer> apply(base::AnswerTable& table, const AnswerRequest& request);

}  // namespace fenceline::fencing
