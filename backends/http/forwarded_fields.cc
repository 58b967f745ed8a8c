#include "backends/http/forwarded_fields.h"

#include <algorithm>

#include "backends/http/hop_by_hop.h"
#include "backends/http/upstream_target.h"
#include "base/field_syntax.h"

namespace fenceline::backends::http {
namespace {

using base::begins_with_name;
using base::equal_names;
using base::Field;
using base::FieldLines;

// The first group is set by us. The second shows the upstream another method or resource than the
// one that was fenced.
constexpr base::NameSet<16> kNotForwarded = {
    {"Host", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "Date",
     "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL",
     "X-Original-Method", "X-Original-URI", "X-Rewrite-URL", "Destination", "HTTP2-Settings"}};

constexpr base::NameSet<2> kNotTakenOver = {{"Date", "Alt-Svc"}};

bool is_set_by_us(const HttpOptions& options, std::string_view name) {
  const auto same = [name](std::string_view other) { return equal_names(name, other); };
  return kNotForwarded.contains(name) || begins_with_name(name, "Fencing-") ||
         std::ranges::any_of(options.private_fields, same) ||
         std::ranges::any_of(options.own_fields,
                             [&](const base::OwnedField& own) { return same(own.first); });
}

bool is_wanted(FieldUse use, std::string_view name) {
  return (!use.only_plain_names || base::is_plain_name(name)) &&
         (use.conditions || !begins_with_name(name, "If-")) &&
         (use.content || !(begins_with_name(name, "Content-") || equal_names(name, "Range") ||
                           equal_names(name, "Accept-Encoding"))) &&
         (use.depth == Depth::kClients || !equal_names(name, "Depth")) &&
         (use.leaves_out == nullptr || !use.leaves_out(name));
}

std::string_view address_of(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.size() >= 2 && peer.front() == '[' && peer.back() == ']') {
    peer = peer.substr(1, peer.size() - 2);
  }
  return peer;
}

// What the proxies before us said, and then we.
void append_to_list(FieldLines& out, const base::RequestHead& head, base::FieldName name,
                    std::string_view value) {
  std::optional<std::string> before = head.joined(name.text());
  if (!before || before->empty()) {
    if (!value.empty()) {
      out.add(name, value);
    }
    return;
  }
  if (!value.empty()) {
    before->append(", ").append(value);
  }
  out.add(name, *before);
}

void add_own(const HttpOptions& options, FieldLines& out) {
  for (const auto& [name, value] : options.own_fields) {
    out.add_named(name, value);
  }
}

}  // namespace

Depth depth_of(const ResourceRequest& request) {
  using enum base::Method;
  const base::Method method = request.head.method;
  if (request.fence_covers_below) {
    return Depth::kClients;
  }
  return method == kPut || method == kPost || method == kPatch ? Depth::kNone : Depth::kZero;
}

base::Result<FieldLines> fields_upstream(const HttpOptions& options, const ResourceRequest& request,
                                         FieldUse use) {
  const base::RequestHead& head = request.head;
  const HopByHop hop(head.fields);
  const std::string_view client_host = head.only("Host").value_or("");
  FieldLines out;
  if (!use.host.empty()) {
    out.add("Host", use.host);
  } else if (options.host == HostPolicy::kClient && !client_host.empty()) {
    out.add("Host", client_host);
  } else {
    out.add("Host", authority_of(options.client));
  }
  for (const Field& field : head.fields) {
    if (is_wanted(use, field.name) && !is_set_by_us(options, field.name) &&
        !hop.covers(field.name)) {
      out.add_parsed(field.name, field.value);
    }
  }
  if (use.depth == Depth::kZero) {
    out.add("Depth", "0");
  }
  append_to_list(out, head, "X-Forwarded-For", address_of(request.peer));
  append_to_list(out, head, "X-Forwarded-Proto", request.over_tls ? "https" : "http");
  append_to_list(out, head, "X-Forwarded-Host", client_host);
  append_to_list(out, head, "Via", (head.minor_version == 0 ? "1.0 " : "1.1 ") + options.via);
  add_own(options, out);
  if (!out.valid()) {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      "a header field has a name or a value that cannot be forwarded; send names "
                      "that are tokens and values without control bytes");
  }
  return out;
}

FieldLines own_request_fields(const HttpOptions& options, std::string_view host) {
  FieldLines out;
  if (host.empty()) {
    out.add("Host", authority_of(options.client));
  } else {
    out.add("Host", host);
  }
  out.add("User-Agent", options.via);
  add_own(options, out);
  return out;
}

void fields_downstream(const HttpOptions& options, const std::vector<Field>& fields,
                       FieldLines& into) {
  const HopByHop hop(fields);
  for (const Field& field : fields) {
    const bool ours =
        begins_with_name(field.name, "Fencing-") || kNotTakenOver.contains(field.name);
    if (!ours && !hop.covers(field.name)) {
      into.add_parsed(field.name, field.value);
    }
  }
  into.add("Via", "1.1 " + options.via);
}

}  // namespace fenceline::backends::http
