#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// An object of the upstream at one moment.
struct ObjectState {
  bool exists = false;
  std::string etag = {};        ///< As sent; empty if there is none.
  std::string version = {};     ///< `x-amz-version-id`; empty if there is none.
  std::string request_id = {};  ///< Of the stamp; empty if there is none.
  std::string last_modified = {};
  bool tombstone = false;  ///< It stands for a deleted object (tombstone.h).

  /// What a client is told: that it is there.
  [[nodiscard]] bool visible() const { return exists && !tombstone; }

  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

/// An entity tag without its quotes: S3 takes it in both forms.
std::string_view bare_tag(std::string_view tag);

/// The conditions of a write as S3 means them. Value type; owns its text.
class ClientConditions {
 public:
  /// Takes `If-Match` and `If-None-Match`.
  explicit ClientConditions(const base::RequestHead& head);

  /// True if there are any.
  [[nodiscard]] bool any() const { return if_match_ || if_none_match_; }

  /// Failure: `kPreconditionFailed`; `kNotFound` with `NoSuchKey` for `If-Match` on what is absent.
  [[nodiscard]] base::Result<void> check(const ObjectState& state) const;

 private:
  std::optional<std::string> if_match_;
  std::optional<std::string> if_none_match_;
};

}  // namespace fenceline::backends::s3
