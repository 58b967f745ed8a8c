#include "backends/s3/s3_probe_trailers.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/aws/aws_chunked_frames.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using http::Answered;
using http::Finding;

constexpr int kPreconditionFailed = 412;
constexpr std::array<std::string_view, 2> kCodings = {"", "gzip"};

// More than one chunk.
std::string content_in_chunks() {
  std::string content = "in chunks ";
  content.resize(base::aws::AwsChunkedFrames::kChunkBytes + 100, 'x');
  return content.append(" end");
}

Finding compare(std::string_view what, const Answered& answered, const Answered& after,
                std::string_view coding) {
  if (!really_succeeded(answered)) {
    return fmt::format("{} in aws-chunked with a trailer was answered {}", what, answered.status);
  }
  if (after.body != content_in_chunks()) {
    return fmt::format("{} in aws-chunked with a trailer has left other content", what);
  }
  if (after.content_encoding != coding) {
    return fmt::format("{} in aws-chunked with a trailer has left the Content-Encoding `{}`", what,
                       after.content_encoding);
  }
  return std::nullopt;
}

Awaitable<Finding> check_part(S3ProbeCalls& calls) {
  const std::string key = calls.fresh();
  auto upload = co_await calls.begin_upload(key, content_in_chunks(), true);
  Condition none;
  auto completed = co_await calls.complete(std::move(upload), std::move(none));
  auto after = co_await calls.get(key);
  co_return compare("a part", completed, after, "");
}

}  // namespace

Awaitable<Finding> check_trailers(S3ProbeCalls& calls, bool conditions) {
  std::string key;
  for (const std::string_view coding : kCodings) {
    key = calls.fresh();
    Condition none;
    auto put = co_await calls.put_trailed(key, content_in_chunks(), coding, std::move(none));
    auto after = co_await calls.get(key);
    auto wrong = compare("a PUT", put, after, coding);
    if (wrong) {
      co_return wrong;
    }
  }
  if (conditions) {
    Condition absent{.field = "If-None-Match", .value = "*"};
    auto again = co_await calls.put_trailed(key, content_in_chunks(), "", std::move(absent));
    if (again.status != kPreconditionFailed) {
      co_return fmt::format(
          "a PUT in aws-chunked with a trailer and If-None-Match: * on what exists was answered {}",
          again.status);
    }
  }
  co_return co_await check_part(calls);
}

}  // namespace fenceline::backends::s3
