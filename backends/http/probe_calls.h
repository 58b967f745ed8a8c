#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/http/http_options.h"
#include "backends/http/send.h"
#include "base/async.h"
#include "base/request_id.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// Why a check of the probe was not passed; nothing: it was.
using Finding = std::optional<std::string>;

/// The requests of one probe, on resources of its own. The first one that gets no answer is kept in
/// `error`; from then on every call gives the status 0 at once, which passes no check. On one core.
class ProbeCalls {
 public:
  /// All of them outlive it.
  ProbeCalls(base::net::HttpClient& client, base::TimerWheel& timers, const HttpOptions& options);

  /// The target of a resource that nobody has, removed by `clean`.
  std::string fresh();

  /// `condition`: a field name and its value; empty for none.
  base::Awaitable<Answered> put(std::string target, std::string content, std::string condition = {},
                                std::string value = {});
  base::Awaitable<Answered> get(std::string target);
  base::Awaitable<Answered> head(std::string target);
  base::Awaitable<Answered> remove(std::string target, std::string condition = {},
                                   std::string value = {});
  base::Awaitable<Answered> move(std::string from, std::string to);

  struct Overtaken {
    Answered moved;  ///< Status 0 if the server gave no answer to it.
    Answered removed;
  };
  /// MOVE with a body of one byte, which is sent only when DELETE of `from` has been answered: a
  /// server that looks at the source before it has the whole request is overtaken for certain.
  base::Awaitable<Overtaken> move_overtaken(std::string from, std::string to);

  /// HEAD of the base path: any answer will do.
  base::Awaitable<Answered> greet();

  /// Deletes whatever `fresh` has named, as far as that goes.
  base::Awaitable<void> clean();

  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  [[nodiscard]] base::FieldLines move_fields(const std::string& to) const;
  base::Awaitable<Answered> call(std::string method, std::string target, base::FieldLines fields,
                                 std::string content, Resend resend);

  base::net::HttpClient& client_;
  base::TimerWheel& timers_;
  const HttpOptions& options_;
  base::RequestIds names_;
  std::vector<std::string> targets_;
  std::optional<base::Error> error_;
};

/// True for an answer that found no resource.
constexpr bool is_absent(int status) { return status == 404 || status == 410; }

}  // namespace fenceline::backends::http
