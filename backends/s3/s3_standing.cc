#include "backends/s3/s3_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/s3/client_conditions.h"

namespace fenceline::backends::s3 {
namespace {

using http::CommitMode;

bool may_condition(const S3Options& options) { return options.http.commit != CommitMode::kPlain; }

std::string settle_text(const S3Options& options) {
  return options.http.settle_after
             ? fmt::format("within {} ms after its connection was closed, or never",
                           options.http.settle_after->count())
             : std::string("before an operator has settled it, or never");
}

OperationGuarantee plain(const S3Options& options, std::string operation, std::string_view why) {
  return {.operation = std::move(operation),
          .guarantee = Guarantee::kBounded,
          .how = fmt::format("the last byte is held back until the fence was checked ({}); strict "
                             "if the upstream applies a request of unknown outcome {}",
                             why, settle_text(options))};
}

// Entity tags of S3 are hashes of the content: one of unknown outcome is harmless while the object
// is in another state than it waits for, and is waited for otherwise, by the settle rule.
OperationGuarantee conditional(const S3Options& options, std::string operation,
                               const std::optional<std::string>& doubt) {
  if (doubt) {
    return {.operation = std::move(operation),
            .guarantee = Guarantee::kBounded,
            .how = fmt::format("by condition as configured, but not proven ({}); strict if the "
                               "upstream applies a request of unknown outcome {}",
                               *doubt, settle_text(options))};
  }
  if (options.http.settle_after) {
    return {.operation = std::move(operation),
            .guarantee = Guarantee::kBounded,
            .how =
                "by If-Match and If-None-Match: *; strict but for a write of unknown outcome "
                "whose condition holds again, if it lands " +
                settle_text(options) + "; `settle: manual` makes it strict"};
  }
  return {.operation = std::move(operation),
          .guarantee = Guarantee::kStrict,
          .how = "by If-Match and If-None-Match: *; a write of unknown outcome is waited for"};
}

OperationGuarantee one(const S3Options& options, std::string operation, bool by_condition,
                       const std::optional<std::string>& doubt) {
  return by_condition ? conditional(options, std::move(operation), doubt)
                      : plain(options, std::move(operation), doubt.value_or("as configured"));
}

OperationGuarantee completion(const S3Options& options, const S3Standing& standing,
                              const S3Verdict& found) {
  constexpr const char* kName = "CompleteMultipartUpload";
  if (standing.abort_is_final) {
    return {.operation = kName,
            .guarantee = Guarantee::kStrict,
            .how = "one of unknown outcome is ended by AbortMultipartUpload, which is final here"};
  }
  auto how = one(options, kName, standing.conditional_complete, found.no_conditional_complete);
  if (found.no_final_abort) {
    how.how +=
        fmt::format(" (AbortMultipartUpload cannot end one for good: {})", *found.no_final_abort);
  }
  return how;
}

OperationGuarantee deletion(const S3Options& options, const S3Standing& standing,
                            const S3Verdict& found) {
  constexpr const char* kName = "DeleteObject";
  if (standing.tombstones) {
    auto how = conditional(options, kName, found.no_conditional_put);
    how.how.insert(0, "as the PUT of a tombstone, which reads hide: ");
    return how;
  }
  if (options.deletes == Deletes::kTombstone && !standing.conditional_delete) {
    const std::string why = fmt::format("a tombstone needs a PUT under a condition: {}",
                                        found.no_conditional_put.value_or("as configured"));
    return plain(options, kName, why);
  }
  return one(options, kName, standing.conditional_delete, found.no_conditional_delete);
}

OperationGuarantee deletion_of_many(const S3Options& options, const S3Standing& standing,
                                    const S3Verdict& found) {
  constexpr const char* kName = "DeleteObjects";
  if (standing.tombstones) {
    auto how = conditional(options, kName, found.no_conditional_put);
    how.how.insert(0, "as a DeleteObject of each, the PUT of a tombstone, but for versions: ");
    return how;
  }
  return plain(options, kName, "one request for many objects");
}

void sum_up(Capabilities& capabilities) {
  const auto weakest =
      std::ranges::min_element(capabilities.operations, {}, &OperationGuarantee::guarantee);
  capabilities.guarantee = weakest->guarantee;
  if (weakest->guarantee != Guarantee::kStrict) {
    capabilities.assumption = fmt::format("{}: {}", weakest->operation, weakest->how);
  }
}

}  // namespace

std::string_view tag_for(TagStyle style, std::string_view etag) {
  return style == TagStyle::kBare ? bare_tag(etag) : etag;
}

bool needs_probe(const S3Options& options) {
  return options.http.probe && may_condition(options) &&
         !(options.bucket.empty() && options.probe_bucket.empty());
}

S3Standing standing_of(const S3Options& options, const std::optional<S3Verdict>& verdict) {
  const S3Verdict found = verdict.value_or(S3Verdict());
  S3Standing standing;
  standing.conditional_put = options.http.commit == CommitMode::kConditional ||
                             (may_condition(options) && !found.no_conditional_put);
  standing.conditional_delete = may_condition(options) && !found.no_conditional_delete;
  standing.conditional_copy = may_condition(options) && !found.no_conditional_copy;
  standing.conditional_complete = may_condition(options) && !found.no_conditional_complete;
  standing.abort_is_final = may_condition(options) && !found.no_final_abort;
  standing.tombstones = options.deletes == Deletes::kTombstone && standing.conditional_put &&
                        !standing.conditional_delete;
  standing.put_proven = may_condition(options) && !found.no_conditional_put;
  standing.takes_trailers = !found.no_trailers;
  standing.tags = found.tags;
  // What encrypts the content, and so makes the tags, is a matter of each bucket.
  const bool is_its_bucket = !options.bucket.empty();
  standing.tags_repeat = found.tags_repeat || !is_its_bucket;
  standing.tags_are_md5 = found.tags_are_md5 && is_its_bucket;
  Capabilities& capabilities = standing.capabilities;
  capabilities.settle_after = options.http.settle_after;
  constexpr std::string_view kNoCondition = "S3 knows no condition for it";
  capabilities.operations = {
      one(options, "PutObject", standing.conditional_put, found.no_conditional_put),
      one(options, "CopyObject", standing.conditional_copy, found.no_conditional_copy),
      completion(options, standing, found),
      deletion(options, standing, found),
      deletion_of_many(options, standing, found),
      plain(options, "DeleteObject of a version", kNoCondition),
      plain(options, "writes of metadata, and appends", kNoCondition),
  };
  sum_up(capabilities);
  return standing;
}

}  // namespace fenceline::backends::s3
