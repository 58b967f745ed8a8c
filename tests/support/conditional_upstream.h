#pragma once

// An HTTP server in this process that keeps resources in memory and does conditions (and ranges)
// rightly: each
// request is decided and carried out under one mutex, every write gives a new ETag. It can be told
// to be wrong in one way, and to hold, lose or falsify single answers.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace fenceline::testing {

/// One request as it arrived.
struct UpstreamRequest {
  std::string method;
  std::string target;
  std::string head;  ///< Request line and fields, as sent.
  std::string body;
  bool complete = true;  ///< False: the connection ended before the body did.

  /// The first value of this field; empty if there is none.
  [[nodiscard]] std::string field(std::string_view name) const;
};

/// What happens with one request instead of the usual.
struct Reaction {
  bool applies = true;                     ///< False: as if it had never arrived.
  std::optional<std::string> answer = {};  ///< These bytes instead of the answer.
  bool closes = false;                     ///< No answer at all.
};

/// One way to be wrong each.
struct UpstreamQuirks {
  bool tags_by_content = false;  ///< The same bytes have the same ETag.
  bool checks_before_writing =
      false;  ///< Decides and writes in two steps, as others get in between.
  bool weak_tags = false;
  bool ignores_if_match = false;
  bool if_match_revives = false;     ///< If-Match holds on what is absent.
  bool deletes_anyway = false;       ///< DELETE ignores If-Match.
  bool gives_no_tag_on_put = false;  ///< The answer to PUT has no ETag (allowed).
};

class ConditionalUpstream {
 public:
  /// Called on the thread of the connection, before the request is decided; may block. Nothing: as
  /// usual.
  using Hook = std::function<std::optional<Reaction>(const UpstreamRequest&)>;

  explicit ConditionalUpstream(UpstreamQuirks quirks = {});
  ~ConditionalUpstream();
  ConditionalUpstream(const ConditionalUpstream&) = delete;
  ConditionalUpstream& operator=(const ConditionalUpstream&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  void on_request(Hook hook);

  /// The content of a resource; nothing if there is none.
  std::optional<std::string> content(const std::string& target);

  /// Writes behind everybody's back.
  void put(const std::string& target, std::string content);

  /// All requests so far whose method is `method`; all methods if it is empty.
  std::vector<UpstreamRequest> requests(std::string_view method = {});

  /// How many requests have taken effect or been refused, whether or not anybody hears of it.
  std::size_t decided();

  /// Forgets the requests.
  void forget();

  /// The targets of all resources.
  std::vector<std::string> targets();

 private:
  struct Resource {
    std::string content;
    std::string tag;
    std::string type;
    std::int64_t modified_s = 0;
  };
  void accept_connections();
  void serve(int fd);
  std::string handle(const UpstreamRequest& request);
  std::string decide(const UpstreamRequest& request, bool writes);
  std::string apply(const UpstreamRequest& request, bool existed);
  std::string show(const UpstreamRequest& request);
  std::string next_tag(const std::string& content);

  const UpstreamQuirks quirks_;
  std::uint16_t port_ = 0;  // Before the listener, which sets it.
  base::UniqueFd listener_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::map<std::string, Resource> resources_;
  std::vector<UpstreamRequest> requests_;
  std::size_t decided_ = 0;
  Hook hook_;
  std::uint64_t counter_ = 0;
  std::mutex connections_mutex_;
  std::set<int> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace fenceline::testing
