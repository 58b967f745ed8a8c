#include "tests/support/conditional_upstream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/conditions.h"
#include "base/field_syntax.h"
#include "base/http.h"
#include "base/http_date.h"
#include "base/range.h"

namespace fenceline::testing {
namespace {

/// What a connection has sent and nobody has taken yet.
class Incoming {
 public:
  explicit Incoming(int fd) : fd_(fd) {}

  /// Up to and with `end`; empty if the connection ended first.
  std::string take_until(std::string_view end) {
    while (true) {
      const std::size_t at = bytes_.find(end);
      if (at != std::string::npos) {
        return take(at + end.size());
      }
      if (!more()) {
        return {};
      }
    }
  }

  /// False if the connection ended first; then `into` has what there was.
  bool take_exactly(std::size_t count, std::string& into) {
    while (bytes_.size() < count && more()) {
    }
    const bool whole = bytes_.size() >= count;
    into += take(std::min(count, bytes_.size()));
    return whole;
  }

 private:
  std::string take(std::size_t count) {
    std::string taken = bytes_.substr(0, count);
    bytes_.erase(0, count);
    return taken;
  }

  bool more() {
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
      return false;
    }
    bytes_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  int fd_;
  std::string bytes_;
};

void read_chunks(Incoming& incoming, UpstreamRequest& request) {
  while (true) {
    const std::string line = incoming.take_until("\r\n");
    if (line.empty()) {
      request.complete = false;
      return;
    }
    const std::size_t size = std::stoul(line, nullptr, 16);
    std::string chunk;
    if (!incoming.take_exactly(size + 2, chunk)) {
      request.complete = false;
      return;
    }
    request.body.append(chunk, 0, size);
    if (size == 0) {
      return;
    }
  }
}

/// Nothing at the end of the connection.
std::optional<UpstreamRequest> read_request(Incoming& incoming) {
  UpstreamRequest request;
  request.head = incoming.take_until("\r\n\r\n");
  if (request.head.empty()) {
    return std::nullopt;
  }
  const std::size_t blank = request.head.find(' ');
  request.method = request.head.substr(0, blank);
  request.target = request.head.substr(blank + 1, request.head.find(' ', blank + 1) - blank - 1);
  const std::string length = request.field("Content-Length");
  if (!request.field("Transfer-Encoding").empty()) {
    read_chunks(incoming, request);
  } else if (!length.empty()) {
    request.complete = incoming.take_exactly(std::stoul(length), request.body);
  }
  return request;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Only what conditions and ranges are read from; its views point into the request.
base::RequestHead head_of(const UpstreamRequest& request) {
  base::RequestHead head;
  head.method = base::method_from(request.method);
  head.method_text = request.method;
  std::string_view rest = std::string_view(request.head).substr(request.head.find("\r\n") + 2);
  for (std::size_t end = rest.find("\r\n"); end > 0 && end != std::string_view::npos;
       end = rest.find("\r\n")) {
    const std::string_view line = rest.substr(0, end);
    const std::size_t colon = std::min(line.find(':'), line.size());
    head.fields.push_back(
        {line.substr(0, colon), base::trim_blanks(line.substr(std::min(colon + 1, line.size())))});
    rest.remove_prefix(end + 2);
  }
  return head;
}

std::string answer(int status, std::string_view fields, std::string_view body,
                   bool with_body = true) {
  const bool may_have_body = status != 204 && status != 304;
  std::string text = fmt::format("HTTP/1.1 {} X\r\nServer: own\r\n{}", status, fields);
  if (may_have_body) {
    text += fmt::format("Content-Length: {}\r\n", body.size());
  }
  text += "\r\n";
  if (may_have_body && with_body) {
    text += body;
  }
  return text;
}

base::UniqueFd listen_anywhere(std::uint16_t& port) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!fd.valid() || ::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), 128) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

std::string UpstreamRequest::field(std::string_view name) const {
  std::size_t at = head.find("\r\n");
  while (at != std::string::npos && at + 2 < head.size()) {
    at += 2;
    const std::size_t end = head.find("\r\n", at);
    const std::string_view line = std::string_view(head).substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && base::equal_names(line.substr(0, colon), name)) {
      return std::string(base::trim_blanks(line.substr(colon + 1)));
    }
    at = end;
  }
  return {};
}

ConditionalUpstream::ConditionalUpstream(UpstreamQuirks quirks)
    : quirks_(quirks), listener_(listen_anywhere(port_)) {
  acceptor_ = std::thread([this] { accept_connections(); });
}

ConditionalUpstream::~ConditionalUpstream() {
  ending_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::scoped_lock lock(connections_mutex_);
    for (const int fd : connections_) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ConditionalUpstream::accept_connections() {
  while (!ending_) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      continue;
    }
    const std::scoped_lock lock(connections_mutex_);
    connections_.insert(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void ConditionalUpstream::serve(int fd) {
  Incoming incoming(fd);
  while (!ending_) {
    auto request = read_request(incoming);
    if (!request) {
      break;
    }
    Hook hook;
    {
      const std::scoped_lock lock(mutex_);
      requests_.push_back(*request);
      hook = hook_;
    }
    if (!request->complete) {
      break;
    }
    Reaction reaction;
    if (hook) {
      reaction = hook(*request).value_or(Reaction());
    }
    const std::string usual = reaction.applies ? handle(*request) : std::string();
    {
      const std::scoped_lock lock(mutex_);
      ++decided_;
    }
    if (reaction.closes || !send_all(fd, reaction.answer.value_or(usual))) {
      break;
    }
  }
  const std::scoped_lock lock(connections_mutex_);
  connections_.erase(fd);
  ::close(fd);
}

std::string ConditionalUpstream::handle(const UpstreamRequest& request) {
  const bool writes = request.method == "PUT" || request.method == "DELETE";
  std::unique_lock lock(mutex_);
  if (!writes) {
    return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS"
               ? show(request)
               : answer(405, "", "");
  }
  const std::string refusal = decide(request, writes);
  if (!refusal.empty()) {
    return refusal;
  }
  const bool existed = resources_.contains(request.target);
  if (quirks_.checks_before_writing) {
    lock.unlock();
    for (int i = 0; i < 100; ++i) {
      std::this_thread::yield();
    }
    lock.lock();
  }
  return apply(request, existed);
}

// The refusal of a condition; empty if all hold.
std::string ConditionalUpstream::decide(const UpstreamRequest& request, bool /*writes*/) {
  const auto found = resources_.find(request.target);
  const bool exists = found != resources_.end();
  const std::string if_match = request.field("If-Match");
  const bool looks =
      !quirks_.ignores_if_match && !(quirks_.deletes_anyway && request.method == "DELETE");
  if (!if_match.empty() && looks) {
    const bool holds =
        exists ? if_match == "*" || if_match == found->second.tag : quirks_.if_match_revives;
    if (!holds) {
      return answer(412, "", "changed");
    }
  }
  if (!request.field("If-None-Match").empty() && exists) {
    return answer(412, "", "exists");
  }
  return {};
}

std::string ConditionalUpstream::apply(const UpstreamRequest& request, bool existed) {
  if (request.method == "DELETE") {
    return answer(resources_.erase(request.target) > 0 ? 204 : 404, "", "");
  }
  Resource& resource = resources_[request.target];
  resource.content = request.body;
  resource.type = request.field("Content-Type");
  resource.tag = next_tag(request.body);
  resource.modified_s = std::time(nullptr);
  const std::string fields =
      quirks_.gives_no_tag_on_put ? std::string() : "ETag: " + resource.tag + "\r\n";
  return answer(existed ? 204 : 201, fields, "");
}

std::string ConditionalUpstream::show(const UpstreamRequest& request) {
  const auto found = resources_.find(request.target);
  const bool to_head = request.method == "HEAD";
  if (found == resources_.end()) {
    return answer(404, "", "not here", !to_head);
  }
  const Resource& resource = found->second;
  std::string fields = fmt::format("ETag: {}\r\nLast-Modified: {}\r\n", resource.tag,
                                   base::format_http_date(resource.modified_s));
  if (!resource.type.empty()) {
    fields += "Content-Type: " + resource.type + "\r\n";
  }
  const base::RequestHead head = head_of(request);
  const auto conditions = base::Conditions::parse(head);
  const auto verdict =
      conditions
          ? conditions->evaluate(
                {.exists = true, .etag = resource.tag, .last_modified_s = resource.modified_s})
          : base::Verdict::kFailed;
  if (verdict != base::Verdict::kProceed) {
    return answer(verdict == base::Verdict::kNotModified ? 304 : 412, fields, "", !to_head);
  }
  const std::uint64_t size = resource.content.size();
  const auto range = base::decide_range(
      head, {.size_bytes = size, .etag = resource.tag, .last_modified_s = resource.modified_s});
  switch (range.kind) {
    case base::RangeDecision::Kind::kFull:
      return answer(200, fields, resource.content, !to_head);
    case base::RangeDecision::Kind::kPartial:
      fields += "Content-Range: " + base::content_range(range, size) + "\r\n";
      return answer(206, fields, resource.content.substr(range.offset_bytes, range.length_bytes));
    case base::RangeDecision::Kind::kUnsatisfiable:
      return answer(416, "Content-Range: " + base::unsatisfied_range(size) + "\r\n", "");
  }
  return answer(500, "", "");
}

std::string ConditionalUpstream::next_tag(const std::string& content) {
  const std::uint64_t value =
      quirks_.tags_by_content ? std::hash<std::string>()(content) : ++counter_;
  return fmt::format("{}\"{:x}\"", quirks_.weak_tags ? "W/" : "", value);
}

void ConditionalUpstream::on_request(Hook hook) {
  const std::scoped_lock lock(mutex_);
  hook_ = std::move(hook);
}

std::optional<std::string> ConditionalUpstream::content(const std::string& target) {
  const std::scoped_lock lock(mutex_);
  const auto found = resources_.find(target);
  return found == resources_.end() ? std::nullopt : std::optional(found->second.content);
}

void ConditionalUpstream::put(const std::string& target, std::string content) {
  const std::scoped_lock lock(mutex_);
  Resource& resource = resources_[target];
  resource.tag = next_tag(content);
  resource.content = std::move(content);
}

std::vector<UpstreamRequest> ConditionalUpstream::requests(std::string_view method) {
  const std::scoped_lock lock(mutex_);
  std::vector<UpstreamRequest> found;
  for (const UpstreamRequest& request : requests_) {
    if (method.empty() || request.method == method) {
      found.push_back(request);
    }
  }
  return found;
}

std::size_t ConditionalUpstream::decided() {
  const std::scoped_lock lock(mutex_);
  return decided_;
}

void ConditionalUpstream::forget() {
  const std::scoped_lock lock(mutex_);
  requests_.clear();
}

std::vector<std::string> ConditionalUpstream::targets() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [target, resource] : resources_) {
    all.push_back(target);
  }
  return all;
}

}  // namespace fenceline::testing
