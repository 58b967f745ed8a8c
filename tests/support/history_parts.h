#pragma once

#include <vector>

#include "tests/support/history.h"

namespace fenceline::testing {

/// A history in parts, each judged alone, so that memory stays bounded however long a run is.

/// What a judgement after a power cut may build on.
/// Does: takes away what those reads saw that rest on a write or delete without an answer: as it
/// was not yet durable, the cut may undo it. Their tokens stay accepted. A read with a higher token
/// waited until it was durable, so it stays whole. Pure.
std::vector<Operation> without_what_a_cut_may_undo(const std::vector<Operation>& history);

/// What the next part begins with.
/// Takes: a history whose last operations are a read of every resource with a token above all
/// others, while nobody else was at work.
/// Gives: those reads, and the writes that they saw; together they refuse every older effect, and
/// every value of the parts before. Pure.
std::vector<Operation> last_known(const std::vector<Operation>& history);

}  // namespace fenceline::testing
