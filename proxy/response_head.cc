#include "proxy/response_head.h"

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <variant>

#include "base/http_date.h"
#include "proxy/problem.h"
#include "proxy/reason_phrase.h"

namespace fenceline::proxy {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// The status line and the fields that the session sets, gathered in one place: appending each to a
/// string would cost more than all the rest of the head.
class OwnLines {
 public:
  OwnLines& put(std::string_view text) {
    if (text.size() > room_.size() - size_) {
      throw std::length_error("the session's own lines are longer than planned");
    }
    std::memcpy(room_.data() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }

  OwnLines& put_number(std::uint64_t number) {
    char* const begin = room_.data() + size_;
    const auto end = std::to_chars(begin, room_.data() + room_.size(), number).ptr;
    size_ += static_cast<std::size_t>(end - begin);
    return *this;
  }

  [[nodiscard]] std::string_view text() const { return {room_.data(), size_}; }

 private:
  std::array<char, 384> room_;  // NOLINT: as far as `size_` says.
  std::size_t size_ = 0;
};

bool may_go_out(const base::Reply& reply) {
  return reply.status >= 200 && reply.status <= 599 && reply.fields.valid();
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

  OwnLines lines;
  lines.put(status_line(reply.status));
  if (!context.date.empty()) {
    lines.put("Date: ").put(context.date).put("\r\n");
  }
  if (!reply.fields.names_server()) {
    lines.put("Server: fenceline\r\n");
  }
  if (announced.content_length) {
    lines.put("Content-Length: ").put_number(*announced.content_length).put("\r\n");
  }
  if (announced.framing.chunked) {
    lines.put("Transfer-Encoding: chunked\r\n");
  }
  // HTTP/1.1 stays open and HTTP/1.0 closes unless the other is said (RFC 9112, 9.3).
  if (context.minor_version == 0 && announced.framing.keep_alive) {
    lines.put("Connection: keep-alive\r\n");
  } else if (context.minor_version != 0 && !announced.framing.keep_alive) {
    lines.put("Connection: close\r\n");
  }
  const std::string_view fields = reply.fields.text();
  out.reserve(out.size() + lines.text().size() + fields.size() + kLineEnd.size());
  out.append(lines.text()).append(fields).append(kLineEnd);
  return announced.framing;
}

}  // namespace fenceline::proxy
