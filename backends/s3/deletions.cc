#include "backends/s3/deletions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/s3/object_write.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_backend.h"
#include "base/aws/query.h"
#include "base/field_syntax.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::Reply;
using base::Result;
using StageResult = Result<std::unique_ptr<StagedWrite>>;

constexpr std::string_view kCustomerKey = "x-amz-server-side-encryption-customer-";
constexpr std::array<std::string_view, 4> kTakenOver = {"x-amz-bypass-governance-retention",
                                                        "x-amz-expected-bucket-owner", "x-amz-mfa",
                                                        "x-amz-request-payer"};

bool goes_with_each(std::string_view name) {
  return base::begins_with_name(name, kCustomerKey) ||
         std::ranges::any_of(
             kTakenOver, [name](std::string_view taken) { return base::equal_names(name, taken); });
}

const Operation& delete_object() {
  static const Operation& row = *std::ranges::find(operations(), "DeleteObject", &Operation::name);
  return row;
}

/// The DeleteObject that one object of the document stands for. Stays where it was made.
class OwnRequest {
 public:
  OwnRequest(const ResourceRequest& whole, const Deletion& deletion)
      : whole_(whole), etag_(deletion.etag) {
    s3_.operation = &delete_object();
    s3_.bucket = whole.s3->bucket;
    s3_.key = deletion.key;
    if (!deletion.version.empty()) {
      query_ = "versionId=";
      base::aws::append_encoded(query_, deletion.version, true);
    }
    head_.method = base::Method::kDelete;
    head_.method_text = "DELETE";
    head_.query = query_;
    std::ranges::copy_if(whole.head.fields, std::back_inserter(head_.fields),
                         [](const base::Field& field) { return goes_with_each(field.name); });
    if (!etag_.empty()) {
      head_.fields.push_back({"If-Match", etag_});
    }
  }
  OwnRequest(const OwnRequest&) = delete;
  OwnRequest& operator=(const OwnRequest&) = delete;

  [[nodiscard]] ResourceRequest resource() const {
    return {.head = head_,
            .name = s3_.key,
            .peer = whole_.peer,
            .over_tls = whole_.over_tls,
            .timers = whole_.timers,
            .s3 = &s3_};
  }

 private:
  ResourceRequest whole_;
  std::string etag_;
  std::string query_;
  S3Request s3_;
  base::RequestHead head_;
};

class Deletions final : public StagedWrite {
 public:
  Awaitable<Result<Reply>> commit() override {
    return Awaitable<Result<Reply>>::ready(
        base::fail(ErrorKind::kInternal, "a write of several parts was committed as one"));
  }

  [[nodiscard]] std::span<StagedPart> parts() override { return parts_; }

  // Each bears on its own object only.
  [[nodiscard]] Bearing bearing_on(std::string_view data) const override {
    Bearing all = Bearing::kNone;
    for (const StagedPart& part : parts_) {
      const Bearing one = part.write == nullptr ? Bearing::kNone : part.write->bearing_on(data);
      if (one == Bearing::kRevives) {
        return one;
      }
      all = one == Bearing::kNone ? all : one;
    }
    return all;
  }

  OwnRequest& add(const ResourceRequest& whole, const Deletion& deletion) {
    return *requests_.emplace_back(std::make_unique<OwnRequest>(whole, deletion));
  }

  void add(std::size_t named, StageResult staged) {
    StagedPart& part = parts_.emplace_back(StagedPart{.named = named});
    if (staged) {
      part.write = std::move(*staged);
    } else {
      part.outcome = base::pass_on(staged.error());
    }
  }

  /// The error that all of them have got instead of a write; null where one is staged.
  [[nodiscard]] const base::Error* none_staged() const {
    const bool any =
        std::ranges::any_of(parts_, [](const StagedPart& part) { return part.write != nullptr; });
    return any ? nullptr : &parts_.front().outcome->error();
  }

 private:
  // The writes look at their requests.
  std::vector<std::unique_ptr<OwnRequest>> requests_;
  std::vector<StagedPart> parts_;
};

base::Error refusal(ErrorKind kind, std::string_view code, std::string detail) {
  return {.kind = kind, .detail = std::move(detail), .code = code};
}

/// Which objects of the document are parts: the first of those that name the same one.
Result<std::vector<std::size_t>> distinct(const std::vector<Deletion>& deletions) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> etags;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < deletions.size(); ++i) {
    const Deletion& one = deletions[i];
    if (!one.version.empty() && !one.etag.empty()) {
      return tl::unexpected<base::Error>(
          refusal(ErrorKind::kMethodUnknown, "NotImplemented",
                  fmt::format("the document names \"{}\" with a VersionId and an ETag: on this "
                              "route a version is deleted whatever it is; leave the ETag out",
                              one.key)));
    }
    const auto [known, is_new] = etags.try_emplace({one.key, one.version}, one.etag);
    if (is_new) {
      found.push_back(i);
    } else if (known->second != one.etag) {
      return tl::unexpected<base::Error>(
          refusal(ErrorKind::kMalformedRequest, "InvalidArgument",
                  fmt::format("the document names \"{}\" twice, with different ETags; name it once",
                              one.key)));
    }
  }
  return found;
}

// Then the next object would fare no better.
bool is_of_all(const base::Error& error) {
  return error.kind == ErrorKind::kUpstreamTimeout || error.kind == ErrorKind::kOverloaded;
}

base::Error too_slow(std::size_t looked, std::size_t of) {
  return {.kind = ErrorKind::kOverloaded,
          .detail = fmt::format("only {} of {} objects could be looked at in {} s, so none was "
                                "deleted; name fewer objects in one request",
                                looked, of, kLookLimit.count() / 1'000)};
}

}  // namespace

Awaitable<StageResult> stage_deletions(SharedS3 upstream,
                                       std::shared_ptr<const S3Standing> standing,
                                       ResourceRequest request, base::BodySource& body,
                                       base::Stamp stamp) {
  const std::vector<Deletion>& deletions = request.s3->named.deletions;
  auto parts = distinct(deletions);
  if (!parts) {
    co_return base::pass_on(parts.error());
  }
  bool late = false;
  base::Timer limit(*request.timers, [&late] { late = true; });
  limit.arm(kLookLimit);
  auto all = std::make_unique<Deletions>();
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const std::size_t named = (*parts)[i];
    StageResult staged;
    if (auto allowed = check_reserved(deletions[named].key); !allowed) {
      staged = base::pass_on(allowed.error());
    } else {
      const ResourceRequest own = all->add(request, deletions[named]).resource();
      staged = co_await stage_write(upstream, standing, own, body, stamp);
    }
    if (!staged && is_of_all(staged.error())) {
      co_return staged;
    }
    if (late && i + 1 < parts->size()) {
      co_return tl::unexpected<base::Error>(too_slow(i + 1, parts->size()));
    }
    all->add(named, std::move(staged));
  }
  if (const base::Error* const error = all->none_staged(); error != nullptr) {
    co_return tl::unexpected<base::Error>(*error);
  }
  std::unique_ptr<StagedWrite> staged = std::move(all);
  co_return staged;
}

}  // namespace fenceline::backends::s3
