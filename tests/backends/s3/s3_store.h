#pragma once

// An S3 server in this process that keeps one part for an upload and no conditions, and that may be
// wrong about bodies in aws-chunked.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/hostile_upstream.h"

namespace fenceline::testing {

/// What it does with a body in `aws-chunked`.
struct ChunkedQuirks {
  bool refuses = false;       ///< 400.
  bool hangs_up = false;      ///< No answer at all.
  bool hangs = false;         ///< Nor does the connection close.
  bool keeps_frames = false;  ///< Stores it as it came.
  bool keeps_frames_of_parts = false;
  bool keeps_coding = false;  ///< `aws-chunked` stays in Content-Encoding.
  bool drops_coding = false;  ///< And that of the content itself goes, too.
};

/// Thread-safe.
class S3Store {
 public:
  struct Object {
    std::string content;
    std::string coding;      ///< Content-Encoding.
    std::string request_id;  ///< Of the stamp.
  };

  explicit S3Store(ChunkedQuirks quirks = {});

  [[nodiscard]] std::uint16_t port() const { return upstream_.port(); }

  /// What is there; nothing if there is no such object.
  [[nodiscard]] std::optional<Object> object(const std::string& key) const;

  /// How many there are.
  [[nodiscard]] std::size_t objects() const;

  /// The requests with a body for this target, as they were sent.
  [[nodiscard]] std::vector<std::string> writes(const std::string& target) const;

  /// What has come so far of the last such request; empty if there is none.
  [[nodiscard]] std::string begun(const std::string& target) const;

  /// What came of requests whose end never came.
  [[nodiscard]] std::vector<std::string> incomplete() const;

  /// From now on a PUT of an object has its effect, and no answer.
  void lose_answers();

 private:
  void serve(UpstreamPeer& peer);
  std::optional<std::string> answer_to(const std::string& request);
  std::optional<std::string> take(const std::string& request, const std::string& key,
                                  const std::string& query);
  [[nodiscard]] std::string show(const std::string& key, bool with_content) const;

  const ChunkedQuirks quirks_;
  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Object> parts_;  ///< By the key.
  std::vector<std::string> incomplete_;
  bool loses_answers_ = false;
  HostileUpstream upstream_;  ///< The last member: its threads use the others.
};

/// The value of a field of a request; empty if there is none.
std::string field_in(const std::string& request, const std::string& name);

/// What follows the head of a request.
std::string body_in(const std::string& request);

}  // namespace fenceline::testing
