#include "tests/backends/s3/s3_store.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/aws/aws_chunked_decoder.h"
#include "tests/backends/s3/s3_hostile.h"

namespace fenceline::testing {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_framed(const std::string& request) {
  return field_in(request, "x-amz-content-sha256") == "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
}

std::string without_frames(const std::string& body) {
  base::aws::AwsChunkedDecoder decoder(
      {.has_trailer = true, .announced = {"x-amz-checksum-crc32"}});
  std::string content;
  std::string_view rest = body;
  while (true) {
    const auto step = decoder.next(rest);
    if (!step || (step->consumed_bytes == 0 && step->piece.empty())) {
      return "broken frames";
    }
    content += step->piece;
    rest.remove_prefix(step->consumed_bytes);
    if (step->event == base::aws::AwsChunkedStep::Event::kBodyEnd) {
      return content;
    }
  }
}

bool ends(UpstreamPeer& peer) {
  try {
    return peer.read_request();
  } catch (const ConnectionReset&) {
    return false;
  }
}

std::string without_aws_chunked(std::string coding) {
  const std::size_t at = coding.find("aws-chunked");
  if (at != std::string::npos) {
    coding.erase(at == 0 ? 0 : at - 1);
  }
  return coding;
}

}  // namespace

std::string field_in(const std::string& request, const std::string& name) {
  const std::string start = "\r\n" + lower(name) + ": ";
  const std::string head = request.substr(0, request.find("\r\n\r\n") + 2);
  const std::size_t at = lower(head).find(start);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t from = at + start.size();
  return head.substr(from, head.find("\r\n", from) - from);
}

std::string body_in(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

S3Store::S3Store(ChunkedQuirks quirks)
    : quirks_(quirks), upstream_([this](UpstreamPeer& peer) { serve(peer); }) {}

std::optional<S3Store::Object> S3Store::object(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t S3Store::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_.size();
}

std::vector<std::string> S3Store::writes(const std::string& target) const {
  std::vector<std::string> found;
  for (const std::string& request : upstream_.applied()) {
    if (request.starts_with("PUT " + target + " ")) {
      found.push_back(request);
    }
  }
  return found;
}

std::string S3Store::begun(const std::string& target) const {
  const std::string start = "PUT " + target + " ";
  for (std::size_t i = upstream_.accepted(); i > 0; --i) {
    const std::string received = upstream_.received(i - 1);
    const std::size_t at = received.rfind(start);
    if (at != std::string::npos) {
      return received.substr(at);
    }
  }
  return {};
}

std::vector<std::string> S3Store::incomplete() const {
  const std::lock_guard lock(mutex_);
  return incomplete_;
}

void S3Store::lose_answers() {
  const std::lock_guard lock(mutex_);
  loses_answers_ = true;
}

void S3Store::serve(UpstreamPeer& peer) {
  while (true) {
    const std::size_t before = peer.received().size();
    if (!ends(peer)) {
      const std::lock_guard lock(mutex_);
      if (peer.received().size() > before) {
        incomplete_.push_back(peer.received().substr(before));
      }
      return;
    }
    const std::string request = peer.received().substr(before);
    if (request.starts_with("PUT ")) {
      peer.apply(request);
    }
    if (quirks_.hangs && is_framed(request)) {
      peer.wait_until_told();
    }
    const auto reply = answer_to(request);
    if (!reply) {
      return;
    }
    peer.send(*reply);
  }
}

std::optional<std::string> S3Store::answer_to(const std::string& request) {
  const std::size_t space = request.find(' ');
  const std::string method = request.substr(0, space);
  std::string key = request.substr(space + 1, request.find(' ', space + 1) - space - 1);
  const std::size_t mark = std::min(key.find('?'), key.size());
  const std::string query = key.substr(mark);
  key.resize(mark);
  const std::lock_guard lock(mutex_);
  if (method == "PUT") {
    return take(request, key, query);
  }
  if (method == "POST" && query == "?uploads") {
    return answer("200 OK", {}, "<UploadId>u</UploadId>");
  }
  if (method == "POST") {
    objects_[key] = parts_[key];
    return answer("200 OK", {}, "<CompleteMultipartUploadResult/>");
  }
  if (method == "DELETE") {
    objects_.erase(key);
    return answer("204 No Content");
  }
  return show(key, method == "GET");
}

std::optional<std::string> S3Store::take(const std::string& request, const std::string& key,
                                         const std::string& query) {
  Object object{.content = body_in(request),
                .coding = field_in(request, "Content-Encoding"),
                .request_id = field_in(request, "x-amz-meta-fencing-request")};
  if (is_framed(request)) {
    if (quirks_.hangs_up) {
      return std::nullopt;
    }
    if (quirks_.refuses) {
      return answer("400 Bad Request");
    }
    if (!quirks_.keeps_frames && !(quirks_.keeps_frames_of_parts && !query.empty())) {
      object.content = without_frames(object.content);
    }
    if (!quirks_.keeps_coding) {
      object.coding = quirks_.drops_coding ? "" : without_aws_chunked(object.coding);
    }
  }
  (query.empty() ? objects_ : parts_)[key] = std::move(object);
  return loses_answers_ ? std::nullopt : std::optional(answer("200 OK", "ETag: \"abc\"\r\n"));
}

std::string S3Store::show(const std::string& key, bool with_content) const {
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    return "HTTP/1.1 404 Not Found\r\nServer: store\r\nContent-Length: 0\r\n\r\n";
  }
  const Object& object = found->second;
  const std::string coding =
      object.coding.empty() ? "" : "Content-Encoding: " + object.coding + "\r\n";
  return "HTTP/1.1 200 OK\r\nServer: store\r\nETag: \"abc\"\r\n" + coding +
         "x-amz-meta-fencing-request: " + object.request_id +
         "\r\nContent-Length: " + std::to_string(object.content.size()) + "\r\n\r\n" +
         (with_content ? object.content : "");
}

}  // namespace fenceline::testing
