#pragma once

// The query of an S3 request: read once, and what each parameter is for.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fenceline::backends::s3 {

/// Where a parameter of the query goes.
enum class QueryUse : std::uint8_t {
  kOperation,  ///< It belongs to the operation: upstream, in the query.
  /// It ends here: the signature, the label `x-id`, and checksums, which a presigner can only have
  /// made of a body that it did not have.
  kOurs,
  /// A field that a presigner moved into the query (`x-amz-acl`, `x-amz-meta-…`): upstream, as the
  /// field of that name in lower case. None of these changes what the operation is; one that does
  /// (`x-amz-copy-source`) is `kOperation` and in no row, so `classify` refuses it.
  kField,
};

/// Says it for a name that is decoded already. Names of fields are compared without case. Pure.
QueryUse use_of(std::string_view name);

struct Parameter {
  std::string_view sent;  ///< The name, as it was sent.
  std::string name;       ///< Decoded.
  std::string value;      ///< Decoded; `+` is a plus.
  QueryUse use = QueryUse::kOperation;
};

/// Reads the query of a request, without its `?`.
/// Does: cuts at `&`, skips empty pieces, decodes names and values exactly once. A name without `=`
/// has an empty value.
/// Success: the parameters in their order; `sent` looks into `query`. Failure: `kMalformedRequest`
/// with `InvalidArgument`: a `%` without two digits, a bare `;` (some servers cut there), a name
/// twice, more than 100 parameters. Pure.
base::Result<std::vector<Parameter>> read_query(std::string_view query);

/// A name for a sentence: as it was sent, so without a byte that could harm a log, and not longer
/// than helps.
std::string in_quotes(std::string_view sent);

}  // namespace fenceline::backends::s3
