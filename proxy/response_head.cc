#include "proxy/response_head.h"

#include <algorithm>
#include <array>
#include <memory>
#include <variant>

#include "base/digits.h"
#include "base/http_date.h"
#include "proxy/field_syntax.h"
#include "proxy/problem.h"
#include "proxy/reason_phrase.h"

namespace fenceline::proxy {
namespace {

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

/// A second copy of one of these would let the client frame the answer differently than we do.
bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 4> kReserved = {"Content-Length", "Transfer-Encoding",
                                                         "Connection", "Date"};
  return std::ranges::any_of(
      kReserved, [name](std::string_view each) { return base::equal_names(name, each); });
}

bool may_go_out(const base::Reply& reply) {
  return reply.status >= 200 && reply.status <= 599 &&
         std::ranges::all_of(reply.fields, [](const base::OwnedField& field) {
           return is_token(field.first) && is_field_value(field.second) &&
                  !is_reserved(field.first);
         });
}

std::optional<std::uint64_t> length_of(const base::ReplyBody& body) {
  struct Measure {
    std::optional<std::uint64_t> operator()(std::monostate /*none*/) const { return 0; }
    std::optional<std::uint64_t> operator()(const std::string& text) const { return text.size(); }
    std::optional<std::uint64_t> operator()(const base::FileSlice& slice) const {
      return slice.length_bytes;
    }
    std::optional<std::uint64_t> operator()(const std::unique_ptr<base::BodySource>& body) const {
      return body == nullptr ? 0 : body->declared_bytes();
    }
  };
  return std::visit(Measure{}, body);
}

/// What the head says about the body; how it is sent follows from it.
struct Announced {
  std::optional<std::uint64_t> content_length;
  ReplyFraming framing;
};

Announced announce(const base::Reply& reply, const ReplyContext& context) {
  Announced result;
  result.framing.keep_alive = context.keep_alive;
  result.framing.length_bytes = 0;
  if (reply.status == 204) {
    return result;  // Content-Length is forbidden here (RFC 9110, 8.6).
  }
  if (reply.status == 304) {
    result.content_length = reply.head_length_bytes;
    return result;
  }
  if (reply.status == 205) {
    result.content_length = 0;
    return result;
  }
  const std::optional<std::uint64_t> length = length_of(reply.body);
  if (context.method == base::Method::kHead) {
    // Without any body we cannot know what GET would have sent, and 0 would be a lie.
    const bool known =
        reply.head_length_bytes || !std::holds_alternative<std::monostate>(reply.body);
    result.content_length = reply.head_length_bytes ? reply.head_length_bytes : length;
    if (!known) {
      result.content_length = std::nullopt;
    }
    return result;
  }
  result.content_length = length;
  result.framing.length_bytes = length;
  result.framing.has_body = !length || *length > 0;
  if (!length && context.minor_version == 0) {
    result.framing.keep_alive = false;
  }
  result.framing.chunked = !length && context.minor_version != 0;
  return result;
}

}  // namespace

std::string_view HttpDate::at(std::int64_t unix_s) {
  if (text_.empty() || unix_s != unix_s_) {
    text_ = base::format_http_date(unix_s);
    unix_s_ = unix_s;
  }
  return text_;
}

ReplyFraming append_response_head(base::Reply& reply, const ReplyContext& context,
                                  std::string& out) {
  const bool replaced = !may_go_out(reply);
  if (replaced) {
    reply = problem_reply(base::Error{});
  }
  Announced announced = announce(reply, context);
  announced.framing.replaced = replaced;

  out.append("HTTP/1.1 ");
  base::append_decimal(out, std::int64_t{reply.status});
  out.append(" ").append(reason_phrase(reply.status)).append("\r\n");
  if (!context.date.empty()) {
    append_field(out, "Date", context.date);
  }
  const auto names_server = [](const base::OwnedField& field) {
    return base::equal_names(field.first, "Server");
  };
  if (std::ranges::none_of(reply.fields, names_server)) {
    append_field(out, "Server", "fenceline");
  }
  for (const base::OwnedField& field : reply.fields) {
    append_field(out, field.first, field.second);
  }
  if (announced.content_length) {
    out.append("Content-Length: ");
    base::append_decimal(out, *announced.content_length);
    out.append("\r\n");
  }
  if (announced.framing.chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  }
  // HTTP/1.1 stays open and HTTP/1.0 closes unless the other is said (RFC 9112, 9.3).
  if (context.minor_version == 0 && announced.framing.keep_alive) {
    append_field(out, "Connection", "keep-alive");
  } else if (context.minor_version != 0 && !announced.framing.keep_alive) {
    append_field(out, "Connection", "close");
  }
  out.append("\r\n");
  return announced.framing;
}

}  // namespace fenceline::proxy
