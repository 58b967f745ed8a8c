#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/http/send.h"
#include "backends/s3/s3_options.h"
#include "backends/s3/s3_standing.h"
#include "base/async.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/net/http_client.h"
#include "base/request_id.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::s3 {

/// A condition of a request of the probe: a field and its value; empty for none.
struct Condition {
  std::string field = {};
  std::string value = {};
};

/// The requests of one probe, on objects of its own. The first one that gets no answer is kept in
/// `error`; from then on every call gives the status 0 at once, which passes no check. On one core.
class S3ProbeCalls {
 public:
  /// All of them outlive it.
  S3ProbeCalls(base::net::HttpClient& client, base::TimerWheel& timers, const S3Options& options);

  /// The key of an object that nobody has, removed by `clean`.
  std::string fresh();

  base::Awaitable<http::Answered> put(std::string key, std::string content, Condition condition);
  /// The same as a body that streams with a CRC32 behind it (trailed_body.h). `coding`: the
  /// content's own `Content-Encoding`; may be empty.
  base::Awaitable<http::Answered> put_trailed(std::string key, std::string content,
                                              std::string_view coding, Condition condition);
  base::Awaitable<http::Answered> get(std::string key);
  base::Awaitable<http::Answered> remove(std::string key, Condition condition);
  base::Awaitable<http::Answered> copy(std::string from, std::string to, Condition condition);

  /// A multipart upload of one part, all but its completion; removed by `clean`.
  struct Upload {
    std::string key = {};
    std::string id = {};  ///< Empty: there is none.
    std::string part_tag = {};
  };
  /// `trailed`: the part is sent as by `put_trailed`.
  base::Awaitable<Upload> begin_upload(std::string key, std::string content, bool trailed = false);
  base::Awaitable<http::Answered> complete(Upload upload, Condition condition);
  base::Awaitable<http::Answered> abort(Upload upload);

  /// HEAD of the bucket: any answer will do.
  base::Awaitable<http::Answered> greet();

  /// Removes whatever was named, as far as that goes.
  base::Awaitable<void> clean();

  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  struct Call {
    std::string method;
    std::string key = {};
    std::string query = {};
    std::vector<base::OwnedField> fields = {};
    std::string content = {};
    std::string_view payload_hash = {};  ///< Empty: that of the content.
    http::Resend resend = http::Resend::kIfUnanswered;
  };
  base::Awaitable<http::Answered> call(Call call);
  [[nodiscard]] http::Outgoing signed_request(const Call& call) const;
  static void add(Call& call, Condition condition);
  static void put_into_frames(Call& call, std::string_view coding);

  base::net::HttpClient& client_;
  base::TimerWheel& timers_;
  const S3Options& options_;
  std::string bucket_;
  base::RequestIds names_;
  std::vector<std::string> keys_;
  std::vector<Upload> uploads_;
  std::optional<base::Error> error_;
};

/// False also for a 200 with an error for a body.
bool really_succeeded(const http::Answered& answered);

}  // namespace fenceline::backends::s3
