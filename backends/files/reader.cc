#include "backends/files/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/files/metadata.h"
#include "base/conditions.h"
#include "base/http_date.h"
#include "base/range.h"

namespace fenceline::backends::files {
namespace {

using base::ErrorKind;
using base::Reply;
using base::Result;

constexpr std::string_view kDefaultType = "application/octet-stream";
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

void add_validators(Reply& reply, Store& store, const FileState& file) {
  reply.add("ETag", file.etag);
  // A date after our own would be no validator (RFC 9110, 8.8.2.1).
  const std::int64_t now_s = store.calls.wall_clock_ns() / kNanosPerSecond;
  const std::int64_t modified_s = file.status.st_mtim.tv_sec;
  const auto date = base::http_date_text(std::min(modified_s, now_s));
  reply.add("Last-Modified", std::string_view(date.data(), date.size()));
}

Result<std::string> read_part(Store& store, int fd, const base::FileSlice& part,
                              std::string_view name) {
  std::string content(part.length_bytes, '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t bytes = uninterrupted([&] {
      return store.calls.pread(fd, content.data() + done, content.size() - done,
                               part.offset_bytes + done);
    });
    if (bytes <= 0) {
      return base::fail(ErrorKind::kStorageFailed,
                        fmt::format("\"{}\" could not be read to its end{}", name,
                                    bytes == 0 ? ": somebody else made it shorter" : ""));
    }
    done += static_cast<std::size_t>(bytes);
  }
  return content;
}

Result<void> add_content(Reply& reply, Store& store, base::FileSlice part, std::string_view name) {
  if (part.length_bytes > kInlineBytes) {
    reply.body = std::move(part);
    return {};
  }
  auto content = read_part(store, part.fd.get(), part, name);
  if (!content) {
    return tl::unexpected(std::move(content.error()));
  }
  reply.body = *std::move(content);
  return {};
}

// The part of the content to send; its length goes into the answer.
Result<base::FileSlice> choose_part(Reply& reply, const base::RequestHead& head,
                                    const FileState& file, std::string_view name) {
  using Kind = base::RangeDecision::Kind;
  const auto size = static_cast<std::uint64_t>(file.status.st_size);
  const auto range = base::decide_range(
      head, {.size_bytes = size, .etag = file.etag, .last_modified_s = file.status.st_mtim.tv_sec});
  if (range.kind == Kind::kUnsatisfiable) {
    base::Error error{ErrorKind::kRangeNotSatisfiable,
                      fmt::format("\"{}\" has only {} bytes", name, size)};
    error.fields.emplace_back("Content-Range", base::unsatisfied_range(size));
    return tl::unexpected(std::move(error));
  }
  if (range.kind == Kind::kFull) {
    return base::FileSlice{.fd = {}, .offset_bytes = 0, .length_bytes = size};
  }
  reply.status = 206;
  reply.add("Content-Range", base::content_range(range, size));
  return base::FileSlice{
      .fd = {}, .offset_bytes = range.offset_bytes, .length_bytes = range.length_bytes};
}

}  // namespace

Result<Reply> read_file(Store& store, const base::RequestHead& head, OpenedResource opened,
                        const std::string& name) {
  const auto conditions = base::Conditions::parse(head);
  if (!conditions) {
    return tl::unexpected(conditions.error());
  }
  FileState file;
  auto inspected = inspect(store.calls, opened.fd.get(), opened.status, file);
  if (!inspected) {
    return tl::unexpected(std::move(inspected.error()));
  }
  Reply reply;
  add_validators(reply, store, file);
  switch (conditions->evaluate(
      {.exists = true, .etag = file.etag, .last_modified_s = file.status.st_mtim.tv_sec})) {
    case base::Verdict::kFailed:
      return base::fail(ErrorKind::kPreconditionFailed,
                        fmt::format("\"{}\" is not in the state that the request asks for", name));
    case base::Verdict::kNotModified:
      reply.status = 304;
      reply.head_length_bytes = static_cast<std::uint64_t>(file.status.st_size);
      return reply;
    case base::Verdict::kProceed:
      break;
  }
  const bool has_type = file.metadata && !file.metadata->content_type.empty();
  reply.add("Content-Type", has_type ? file.metadata->content_type : kDefaultType);
  reply.add("Accept-Ranges", "bytes");
  auto part = choose_part(reply, head, file, name);
  if (!part) {
    return tl::unexpected(std::move(part.error()));
  }
  if (head.method == base::Method::kHead) {
    reply.head_length_bytes = part->length_bytes;
    return reply;
  }
  part->fd = std::move(opened.fd);
  if (auto added = add_content(reply, store, *std::move(part), name); !added) {
    return tl::unexpected(std::move(added.error()));
  }
  return reply;
}

}  // namespace fenceline::backends::files
