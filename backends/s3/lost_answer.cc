#include "backends/s3/lost_answer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <utility>

#include "backends/s3/s3_backend.h"
#include "base/http_date.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;

constexpr int kNoContent = 204;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string copy_result(const ObjectState& state) {
  const auto seconds = base::parse_http_date(state.last_modified);
  const std::string modified =
      seconds ? fmt::format("<LastModified>{:%Y-%m-%dT%H:%M:%S}.000Z</LastModified>",
                            fmt::gmtime(static_cast<std::time_t>(*seconds)))
              : std::string();
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<CopyObjectResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{}<ETag>{}</ETag>"
      "</CopyObjectResult>",
      modified, escaped(state.etag));
}

Reply reply_of(const ResourceRequest& request, const ObjectState& state) {
  Reply reply;
  if (!state.version.empty()) {
    reply.fields.add_named("x-amz-version-id", state.version);
  }
  const std::string_view name = request.s3->operation->name;
  if (name == "DeleteObject") {
    reply.status = kNoContent;
  } else if (name == "CopyObject") {
    reply.add("Content-Type", "application/xml");
    reply.body = copy_result(state);
  } else {
    reply.add("ETag", state.etag);
  }
  return reply;
}

}  // namespace

Awaitable<Result<Reply>> find_lost_answer(SharedS3 upstream, ResourceRequest request,
                                          base::Stamp stamp, base::Error lost) {
  auto state = co_await look_at(std::move(upstream), request);
  if (!state || !state->exists || stamp.request_id.empty() ||
      state->request_id != stamp.request_id) {
    co_return tl::unexpected<base::Error>(std::move(lost));
  }
  co_return reply_of(request, *state);
}

}  // namespace fenceline::backends::s3
