#pragma once

// The radosgw that all tests of this program share.

#include <string>

#include "backends/s3/s3_options.h"
#include "tests/support/s3_server.h"

namespace fenceline::testing {

/// Started at its first use.
const S3Server& radosgw();

/// The name of a new, empty bucket.
std::string next_bucket();

/// Options for a bucket there: probed, all by itself, unknown outcomes are for an operator.
backends::s3::S3Options probed_options(const std::string& bucket);

/// Not probed, so that it opens at once; plain.
backends::s3::S3Options plain_options(const std::string& bucket);

}  // namespace fenceline::testing
