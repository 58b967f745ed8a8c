#include "fencing/reset.h"

#include <fmt/format.h>

#include <string_view>

#include "base/fence_key.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;

base::Result<void> check_text(std::string_view name, const std::string& text, std::size_t most) {
  if (text.size() > most) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        fmt::format("'{}' has {} bytes; at most {} are allowed.", name, text.size(), most));
  }
  if (base::has_control_byte(text) || !base::is_valid_utf8(text)) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("'{}' has a control byte or is not valid UTF-8.", name));
  }
  return {};
}

std::string joined(const std::vector<base::Token>& tokens) {
  std::string list;
  for (const base::Token token : tokens) {
    list += (list.empty() ? "" : ", ") + token.text();
  }
  return list;
}

base::Error busy(std::string who) {
  return base::Error{ErrorKind::kFenceBusy,
                     std::move(who) + " The mark was not changed; try again later.",
                     base::Applied::kNo,
                     {}};
}

}  // namespace

ResetOutcome reset_mark(const Mark& stored, const ResetOrder& order) {
  const auto refused = [&stored](ResetVerdict verdict) {
    return ResetOutcome{verdict, stored, stored};
  };
  if (!stored.token.exists()) {
    return refused(ResetVerdict::kNeverFenced);
  }
  // Before `from` is looked at: an order whose answer was lost is sent again as it was.
  if (order.to == stored.token && stored.holder.empty()) {
    return refused(ResetVerdict::kUnchanged);
  }
  if (order.from.exists() && order.from != stored.token) {
    return refused(ResetVerdict::kMoved);
  }
  if (order.to > stored.token) {
    return refused(ResetVerdict::kNotLower);
  }
  return ResetOutcome{ResetVerdict::kApplies, stored, Mark{order.to, {}}};
}

ResetRecord record_of(const ResetOutcome& outcome, const ResetOrder& order) {
  return ResetRecord{outcome.before, order.to, order.reason, order.by, order.peer, order.at_ms};
}

base::Result<void> check_reason(const std::string& reason, const std::string& by) {
  if (reason.find_first_not_of(' ') == std::string::npos) {
    return base::fail(ErrorKind::kMalformedRequest, "The order needs a reason; it is kept.");
  }
  return check_text("reason", reason, kMaxReasonBytes).and_then([&by] {
    return check_text("by", by, kMaxByBytes);
  });
}

base::Result<void> check_order(const ResetOrder& order) {
  if (!order.to.exists()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "A reset needs the token to set the mark to. The lowest is 1, which lets "
                      "every token pass.");
  }
  return check_reason(order.reason, order.by);
}

base::Result<ResetOutcome> answer_of(const ResetOutcome& outcome, const ResetOrder& order) {
  const std::string mark = outcome.before.token.text();
  switch (outcome.verdict) {
    case ResetVerdict::kApplies:
    case ResetVerdict::kUnchanged:
      return outcome;
    case ResetVerdict::kNotLower:
      return base::fail(ErrorKind::kMarkConflict,
                        fmt::format("The mark is {}, and a reset does not go up to {}: that is a "
                                    "raise.",
                                    mark, order.to.text()));
    case ResetVerdict::kMoved:
      return base::fail(
          ErrorKind::kMarkConflict,
          fmt::format("The mark is {} and not {}: somebody changed it meanwhile. Look at the "
                      "fence again before you decide.",
                      mark, order.from.text()));
    case ResetVerdict::kNeverFenced:
      break;
  }
  return base::fail(ErrorKind::kNotFound,
                    "No token was ever seen for this key, so there is no mark to set back.");
}

std::optional<base::Error> obstacle_to_reset(const ResetObstacles& found) {
  if (!found.inside.empty()) {
    std::string list;
    for (const auto& [token, count] : found.inside) {
      list += fmt::format("{}{} with token {}", list.empty() ? "" : ", ", count, token.text());
    }
    return busy(fmt::format("Requests are inside the fence: {}.", list));
  }
  if (!found.unsettled.empty()) {
    return busy(
        fmt::format("The outcome of earlier writes is in doubt (token {}); a restart of "
                    "the server settles it.",
                    joined(found.unsettled)));
  }
  if (!found.on_record.empty()) {
    return busy(
        fmt::format("Earlier writes may still take effect (token {}): a write with a newer token "
                    "settles them, or `fenceline fences settle`.",
                    joined(found.on_record)));
  }
  if (found.announced_not_durable) {
    return busy("A higher token was announced and is not durable yet.");
  }
  if (found.ledger_busy) {
    return busy("The mark is being read or set back by another request.");
  }
  if (found.waiting > 0) {
    return busy(fmt::format("{} requests wait to enter the fence.", found.waiting));
  }
  return std::nullopt;
}

}  // namespace fenceline::fencing
