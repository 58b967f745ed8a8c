#pragma once

// Which fields cross the proxy. All of it is pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/http/http_options.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/http.h"

namespace fenceline::backends::http {

/// The `Depth` (RFC 4918, 10.2) that goes upstream.
enum class Depth : std::uint8_t {
  kClients,  ///< What the client sent.
  kNone,     ///< None, whatever the client sent.
  kZero,     ///< `0`, whatever the client sent: the resource alone.
};

/// Which of the client's fields a request of ours takes over.
struct FieldUse {
  bool conditions = true;  ///< `If-…`
  bool content = true;     ///< `Content-…`, `Range`, `Accept-Encoding`: what is about a body.
  Depth depth = Depth::kClients;
  std::string_view host = {};  ///< `Host`, instead of what the policy says; empty: by the policy.
  /// Whether other names than those of letters, digits and `-` stay here (`base::is_plain_name`).
  /// False: whoever asks has looked at the names.
  bool only_plain_names = true;
  /// True for what this request leaves out beside the usual; null: nothing.
  bool (*leaves_out)(std::string_view name) = nullptr;
};

/// How deep a write may reach: no deeper than the fence of its request (docs/http.md).
Depth depth_of(const ResourceRequest& request);

/// The fields of a request that goes upstream, without those that frame its body.
/// Does: leaves out hop-by-hop fields and those that `Connection` names, the token and every
/// `Fencing-…`, `Expect`, and what would make the upstream see another method or another resource
/// than the fence did (`X-HTTP-Method-Override`, `X-Original-URL`, `Destination`, …), also where
/// only the upstream would read a name as one of these (`Fencing_Token`, `If_Match`); sets `Host`
/// by the policy and `own_fields`; appends to `X-Forwarded-For`, `-Proto`, `-Host` and `Via`. The
/// client's fields are taken over as the parser of their head has checked them. Failure:
/// `kMalformedRequest` for a field that cannot be sent.
base::Result<base::FieldLines> fields_upstream(const HttpOptions& options,
                                               const ResourceRequest& request, FieldUse use = {});

/// The fields of a request of our own, for which there is no client. `host`: as in `FieldUse`.
base::FieldLines own_request_fields(const HttpOptions& options, std::string_view host = {});

/// Takes over the fields of an answer: all but hop-by-hop ones, `Fencing-…` (they are ours to say),
/// `Date` and `Alt-Svc` (it would lead clients past us); adds `Via`. `fields` were checked by the
/// parser of their head (`ResponseHead`).
void fields_downstream(const HttpOptions& options, const std::vector<base::Field>& fields,
                       base::FieldLines& into);

}  // namespace fenceline::backends::http
