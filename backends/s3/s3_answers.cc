#include "backends/s3/s3_answers.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <variant>

#include "backends/http/errors.h"
#include "backends/s3/field_names.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;

constexpr int kFirstRefusal = 400;
constexpr int kOk = 200;
constexpr int kUnavailable = 503;
constexpr std::string_view kErrorStart = "<Error>";
constexpr std::string_view kCodeStart = "<Code>";
constexpr std::string_view kCodeEnd = "</Code>";

void hide_stamp(http::Received& received) {
  std::erase_if(received.head.fields,
                [](const base::Field& field) { return is_stamp(field.name); });
}

// The document of an error, behind the XML declaration and the blanks that keep a connection alive.
bool is_error_document(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(first);
  if (text.starts_with("<?xml")) {
    const std::size_t end = text.find("?>");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    const std::size_t root = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(root == std::string_view::npos ? text.size() : root);
  }
  return text.starts_with(kErrorStart) || text.starts_with("<Error ");
}

std::string message_for(std::string_view code) {
  return fmt::format("The S3 server behind the proxy refused the request: {}.",
                     code.empty() ? std::string_view("it gave no reason") : code);
}

Awaitable<Reply> refusal(http::SharedUpstream upstream, http::Received received) {
  auto reply = co_await http::short_reply_from(std::move(upstream), std::move(received));
  if (auto* text = std::get_if<std::string>(&reply.body)) {
    *text = with_message(std::move(*text));
  }
  co_return reply;
}

Result<Reply> seen_through(Reply reply) {
  auto* text = std::get_if<std::string>(&reply.body);
  if (text == nullptr) {
    // It broke off, or was longer than any answer to such a request.
    return tl::unexpected<base::Error>(http::in_doubt(reply.status, true));
  }
  if (!is_error_document(*text)) {
    return reply;
  }
  const auto status = status_of_hidden_error(error_code_of(*text));
  if (!status) {
    return tl::unexpected<base::Error>(http::in_doubt(kUnavailable, true));
  }
  reply.status = *status;
  *text = with_message(std::move(*text));
  return reply;
}

Awaitable<Result<Reply>> look_inside(http::SharedUpstream upstream, http::Received received) {
  auto reply = co_await http::short_reply_from(std::move(upstream), std::move(received));
  co_return seen_through(std::move(reply));
}

Awaitable<Result<Reply>> as_result(Awaitable<Reply> reply) {
  auto value = co_await std::move(reply);
  co_return value;
}

}  // namespace

std::string_view error_code_of(std::string_view document) {
  const std::size_t start = document.find(kCodeStart);
  if (start == std::string_view::npos) {
    return {};
  }
  document.remove_prefix(start + kCodeStart.size());
  const std::size_t end = document.find(kCodeEnd);
  return end == std::string_view::npos ? std::string_view() : document.substr(0, end);
}

std::string with_message(std::string document) {
  if (!is_error_document(document)) {
    return document;
  }
  const std::string text =
      fmt::format("<Message>{}</Message>", message_for(error_code_of(document)));
  for (const std::string_view empty : {"<Message></Message>", "<Message/>", "<Message />"}) {
    if (const std::size_t at = document.find(empty); at != std::string::npos) {
      return document.replace(at, empty.size(), text);
    }
  }
  const std::size_t code_end = document.find(kCodeEnd);
  if (document.find("<Message>") == std::string::npos && code_end != std::string::npos) {
    document.insert(code_end + kCodeEnd.size(), text);
  }
  return document;
}

std::optional<int> status_of_hidden_error(std::string_view code) {
  // Of these nobody knows whether the write took effect.
  constexpr std::array<std::string_view, 6> kUnsettled = {
      "", "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "Busy"};
  for (const std::string_view unsettled : kUnsettled) {
    if (code == unsettled) {
      return std::nullopt;
    }
  }
  constexpr std::array<std::pair<std::string_view, int>, 8> kStatuses = {{
      {"PreconditionFailed", 412},
      {"ConditionalRequestConflict", 409},
      {"OperationAborted", 409},
      {"AccessDenied", 403},
      {"NoSuchUpload", 404},
      {"NoSuchKey", 404},
      {"NoSuchBucket", 404},
      {"NoSuchVersion", 404},
  }};
  for (const auto& [known, status] : kStatuses) {
    if (code == known) {
      return status;
    }
  }
  return kFirstRefusal;
}

Awaitable<Reply> client_reply(http::SharedUpstream upstream, http::Received received,
                              bool to_head) {
  hide_stamp(received);
  return received.head.status >= kFirstRefusal && !to_head
             ? refusal(std::move(upstream), std::move(received))
             : http::reply_from(std::move(upstream), std::move(received), to_head);
}

Awaitable<Result<Reply>> write_outcome(http::SharedUpstream upstream, http::Received received,
                                       bool may_hide_error) {
  using Outcome = Awaitable<Result<Reply>>;
  const int status = received.head.status;
  const bool complete = received.complete;
  if (http::meaning_of(status, complete) == http::Meaning::kInDoubt) {
    return Outcome::ready(tl::unexpected<base::Error>(http::in_doubt(status, complete)));
  }
  hide_stamp(received);
  const bool has_body = received.head.content_length.value_or(1) > 0;
  if (status == kOk && may_hide_error && has_body) {
    return look_inside(std::move(upstream), std::move(received));
  }
  auto reply = client_reply(std::move(upstream), std::move(received), false);
  return reply.is_ready() ? Outcome::ready(reply.take()) : as_result(std::move(reply));
}

}  // namespace fenceline::backends::s3
