#include "backends/http/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace fenceline::backends::http {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool writes_with(const HttpOptions& options, std::string_view method) {
  return contains(options.methods, method) && !contains(options.reads, method);
}

std::string settle_text(const HttpOptions& options) {
  return options.settle_after
             ? fmt::format("within {} ms after its connection was closed, or never",
                           options.settle_after->count())
             : std::string("before an operator has settled it, or never");
}

OperationGuarantee plain(const HttpOptions& options, std::string operation) {
  return {.operation = std::move(operation),
          .guarantee = Guarantee::kBounded,
          .how =
              "the last byte is held back until the fence was checked; strict if the upstream "
              "applies a request of unknown outcome " +
              settle_text(options)};
}

OperationGuarantee moved(const HttpOptions& options, const std::optional<std::string>& doubt) {
  if (!doubt) {
    return {.operation = "PUT",
            .guarantee = Guarantee::kStrict,
            .how = "a temporary resource and an atomic MOVE; older ones are deleted first"};
  }
  return {.operation = "PUT",
          .guarantee = Guarantee::kBounded,
          .how = fmt::format("by MOVE as configured, but not proven ({}); strict if its MOVE is "
                             "atomic and the upstream applies a request of unknown outcome {}",
                             *doubt, settle_text(options))};
}

OperationGuarantee with_returning_tags(const HttpOptions& options, std::string operation) {
  constexpr std::string_view kHow =
      "If-Match and If-None-Match: *; ETags come back there, so a write of unknown outcome stays "
      "on "
      "record, and no newer one brings back the state it waits for";
  if (!options.settle_after) {
    return {.operation = std::move(operation),
            .guarantee = Guarantee::kStrict,
            .how = std::string(kHow)};
  }
  return {.operation = std::move(operation),
          .guarantee = Guarantee::kBounded,
          .how = fmt::format("{}; strict if that lands {}; `settle: manual` makes it strict", kHow,
                             settle_text(options))};
}

OperationGuarantee conditional_put(const HttpOptions& options, const ProbeVerdict& verdict) {
  const std::optional<std::string>& doubt = verdict.no_conditional_put;
  if (doubt) {
    return {.operation = "PUT",
            .guarantee = Guarantee::kBounded,
            .how = fmt::format("by If-Match as configured, but not proven ({}); strict if the "
                               "upstream applies a request of unknown outcome {}",
                               *doubt, settle_text(options))};
  }
  if (verdict.tags_return) {
    return with_returning_tags(options, "PUT");
  }
  if (options.settle_after) {
    // Nothing can be sealed against a late If-None-Match: *.
    return {.operation = "PUT",
            .guarantee = Guarantee::kBounded,
            .how =
                "If-Match and If-None-Match: *; strict for what exists; strict for a creation "
                "of unknown outcome if it lands " +
                settle_text(options) + "; `settle: manual` makes it strict"};
  }
  return {.operation = "PUT",
          .guarantee = Guarantee::kStrict,
          .how = "If-Match and If-None-Match: *; a creation of unknown outcome is waited for"};
}

OperationGuarantee conditional_delete(const HttpOptions& options, const ProbeVerdict& verdict) {
  if (verdict.tags_return) {
    return with_returning_tags(options, "DELETE");
  }
  return {.operation = "DELETE", .guarantee = Guarantee::kStrict, .how = "If-Match"};
}

CommitMode mode_of_put(const HttpOptions& options, const ProbeVerdict& verdict) {
  if (!writes_with(options, "PUT")) {
    return CommitMode::kPlain;
  }
  if (options.commit != CommitMode::kAuto) {
    return options.commit;
  }
  if (!verdict.no_move) {
    return CommitMode::kMove;
  }
  return verdict.no_conditional_put ? CommitMode::kPlain : CommitMode::kConditional;
}

void sum_up(Capabilities& capabilities) {
  auto& operations = capabilities.operations;
  if (operations.empty()) {
    capabilities.guarantee = Guarantee::kStrict;  // Nothing is written.
    return;
  }
  const auto weakest = std::ranges::min_element(operations, {}, &OperationGuarantee::guarantee);
  capabilities.guarantee = weakest->guarantee;
  if (weakest->guarantee != Guarantee::kStrict) {
    capabilities.assumption = fmt::format("{}: {}", weakest->operation, weakest->how);
  }
}

}  // namespace

bool needs_probe(const HttpOptions& options) {
  return options.probe && options.commit != CommitMode::kPlain && writes_with(options, "PUT");
}

Standing standing_of(const HttpOptions& options, const std::optional<ProbeVerdict>& verdict) {
  const ProbeVerdict found = verdict.value_or(ProbeVerdict());
  Standing standing;
  standing.put = mode_of_put(options, found);
  standing.move_proven = !found.no_move;
  if (!found.no_conditional_put) {
    standing.conditions = found.tags_return ? Conditions::kReturningTags : Conditions::kNewTags;
  }
  const bool may_condition =
      options.commit == CommitMode::kAuto || options.commit == CommitMode::kConditional;
  if (may_condition && !found.no_conditional_put && !found.no_conditional_delete) {
    standing.removal = CommitMode::kConditional;
  }
  Capabilities& capabilities = standing.capabilities;
  capabilities.settle_after = options.settle_after;
  for (const std::string& method : options.methods) {
    if (!writes_with(options, method)) {
      continue;
    }
    if (method == "PUT" && standing.put == CommitMode::kMove) {
      capabilities.operations.push_back(moved(options, found.no_move));
    } else if (method == "PUT" && standing.put == CommitMode::kConditional) {
      capabilities.operations.push_back(conditional_put(options, found));
    } else if (method == "DELETE" && standing.removal == CommitMode::kConditional) {
      capabilities.operations.push_back(conditional_delete(options, found));
    } else {
      auto how = plain(options, method);
      if (method == "PUT" && options.commit == CommitMode::kAuto && verdict) {
        how.how += fmt::format(" (no MOVE: {}; no conditions: {})", found.no_move.value_or(""),
                               found.no_conditional_put.value_or(""));
      }
      capabilities.operations.push_back(std::move(how));
    }
  }
  sum_up(capabilities);
  return standing;
}

}  // namespace fenceline::backends::http
