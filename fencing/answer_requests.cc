#include "fencing/answer_requests.h"

#include <utility>

#include "base/kept_reply.h"

namespace fenceline::fencing {
namespace {

using Answer = AnswerRequest::Answer;

SqliteResult<Answer> recall(base::AnswerTable& table, const AnswerRequest& request) {
  const auto room = table.has_room();
  if (!room) {
    return tl::unexpected(room.error());
  }
  auto row = table.find(request.once.key);
  if (!row) {
    return tl::unexpected(std::move(row.error()));
  }
  if (*row) {
    return Answer(std::move(*row));
  }
  if (!*room) {
    return Answer(tl::unexpected(base::no_room_for_answers()));
  }
  return table.claim(request.once, request.request_id, request.before).map([] { return Answer(); });
}

}  // namespace

SqliteResult<Answer> apply(base::AnswerTable& table, const AnswerRequest& request) {
  switch (request.kind) {
    case AnswerRequest::Kind::kKeep:
      return table.keep(request.once, request.answer).map([] { return Answer(); });
    case AnswerRequest::Kind::kForget:
      return table.drop(request.once.key, request.request_id).map([] { return Answer(); });
    case AnswerRequest::Kind::kRecall:
      break;
  }
  return recall(table, request);
}

}  // namespace fenceline::fencing
