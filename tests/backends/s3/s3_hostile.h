#pragma once

// An S3 server that answers as a test wants, and the backend in front of it.

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/http/http_options.h"
#include "base/aws/sigv4.h"
#include "tests/backends/s3/s3_driver.h"
#include "tests/support/hostile_upstream.h"

namespace fenceline::testing {

inline std::string answer(const std::string& status, const std::string& fields = {},
                          const std::string& body = {}) {
  return "HTTP/1.1 " + status + "\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

/// Answers to HEAD, which has no body.
inline std::string seen(const std::string& etag, const std::string& request_id = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: " + etag + "\r\n" +
         (request_id.empty() ? "" : "x-amz-meta-fencing-request: " + request_id + "\r\n") + "\r\n";
}

inline const std::string kAbsent = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// An S3 server whose answers are a function of the request, of its method and of how often that
/// was used; nothing: the connection closes without one.
class S3Hostile {
 public:
  using CommitMode = backends::http::CommitMode;
  using Reaction = std::function<std::optional<std::string>(std::size_t times)>;
  using Script = std::function<std::optional<std::string>(const std::string& request)>;

  explicit S3Hostile(Reaction to_head, Reaction to_write, CommitMode commit = CommitMode::kPlain,
                     backends::s3::Deletes deletes = backends::s3::Deletes::kAuto,
                     std::optional<base::aws::Credentials> credentials = {})
      : S3Hostile(Script(), commit, deletes, std::move(credentials), std::move(to_head),
                  std::move(to_write)) {}

  /// `script`: called for one request at a time.
  S3Hostile(Script script, CommitMode commit, backends::s3::Deletes deletes)
      : S3Hostile(std::move(script), commit, deletes, {}, {}, {}) {}

  S3Driver& driver() { return driver_; }
  [[nodiscard]] std::vector<std::string> writes() const { return upstream_.applied(); }
  [[nodiscard]] std::size_t heads() const { return heads_; }

 private:
  S3Hostile(Script script, CommitMode commit, backends::s3::Deletes deletes,
            std::optional<base::aws::Credentials> credentials, Reaction to_head, Reaction to_write)
      : script_(std::move(script)),
        to_head_(std::move(to_head)),
        to_write_(std::move(to_write)),
        upstream_([this](UpstreamPeer& peer) { serve(peer); }),
        driver_(options(upstream_.port(), commit, deletes, std::move(credentials))) {}

  static backends::s3::S3Options options(std::uint16_t port, CommitMode commit,
                                         backends::s3::Deletes deletes,
                                         std::optional<base::aws::Credentials> credentials) {
    auto options = s3_options_for(port);
    options.http.commit = commit;
    options.deletes = deletes;
    options.credentials = std::move(credentials);
    return options;
  }

  void serve(UpstreamPeer& peer) {
    while (true) {
      const std::size_t before = peer.received().size();
      if (!peer.read_request()) {
        return;
      }
      const std::string request = peer.received().substr(before);
      const bool looks = request.starts_with("HEAD ");
      if (!looks) {
        peer.apply(request);
      }
      const std::size_t times = looks ? heads_++ : writes_++;
      const auto reaction = react(request, looks, times);
      if (!reaction) {
        return;
      }
      peer.send(*reaction);
      if (reaction->find("Connection: close") != std::string::npos) {
        return;
      }
    }
  }

  std::optional<std::string> react(const std::string& request, bool looks, std::size_t times) {
    if (script_) {
      const std::lock_guard lock(mutex_);
      return script_(request);
    }
    return looks ? to_head_(times) : to_write_(times);
  }

  Script script_;
  std::mutex mutex_;  ///< Of the script.
  Reaction to_head_;
  Reaction to_write_;
  std::atomic<std::size_t> heads_ = 0;
  std::atomic<std::size_t> writes_ = 0;
  HostileUpstream upstream_;
  S3Driver driver_;
};

inline S3Hostile::Reaction always(std::optional<std::string> reaction) {
  return [reaction = std::move(reaction)](std::size_t /*times*/) { return reaction; };
}

}  // namespace fenceline::testing
