#pragma once

#include <string>
#include <vector>

#include "config/parsed.h"
#include "config/pattern.h"

namespace fenceline::config {

/// What the match of an S3 route says about its paths.
struct S3Match {
  std::vector<std::string> literals;  ///< Decoded segments, in front of everything else.
  bool names_bucket = false;          ///< The next segment is the bucket: `{bucket}`.
};

/// Reads the match of an S3 route: literal segments, then perhaps `{bucket}`, then `{key...}`.
/// Failure: a sentence that says what is allowed. Pure.
Parsed<S3Match> s3_match(const Pattern& match);

}  // namespace fenceline::config
