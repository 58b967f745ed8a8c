#pragma once

#include <boost/intrusive/list_hook.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/request_id.h"
#include "proxy/client_watch.h"
#include "proxy/handler.h"
#include "proxy/read_buffer.h"
#include "proxy/reply_writer.h"
#include "proxy/request_body.h"
#include "proxy/request_parser.h"
#include "proxy/response_head.h"
#include "proxy/scratch_pool.h"
#include "proxy/server_observer.h"
#include "proxy/server_options.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// What all sessions of one core share. Outlives them.
struct SessionShared {
  base::TimerWheel& timers;
  const base::Clock& clock;
  base::RequestIds& request_ids;
  ServerObserver& observer;
  ScratchPool scratch;
  HttpDate date;
  const void* last_served = nullptr;  ///< The session that had the last request; only compared.
  bool draining = false;  ///< The server stops: answer what has begun, take nothing new.
};

/// Why a session exists: to serve, or to tell one client too many that it is.
enum class Admission : std::uint8_t { kServe, kRefuse };

/// One connection: reads requests one after the other, never in parallel (so pipelined requests are
/// answered in order), has each answered by the handler, and ends so that the client can read the
/// last answer. Lives on one core.
class Session : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// `shared` outlives the session.
  Session(std::unique_ptr<Transport> transport, std::shared_ptr<const ListenerOptions> listener,
          SessionShared& shared, Admission admission);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  /// Serves the connection to its end. Called once. What it throws is a bug of ours.
  base::Awaitable<void> run();

  /// The server stops: an idle connection closes now, a busy one after its answer
  /// (`SessionShared::draining` is set before).
  void drain();

  /// The options of the listener have been replaced: from the next request on, these count. A
  /// request whose first byte is there ends under those that it began with.
  void adopt(std::shared_ptr<const ListenerOptions> next);

  /// The listener is gone: a connection between two requests closes now, any other, also one whose
  /// first request is on its way, after its next answer.
  void retire();

  [[nodiscard]] const std::string& listener_name() const { return listener_->name; }

  /// Closes now. A handler that runs is not interrupted, but reads and writes nothing any more.
  void abort() { transport_->close(); }

 private:
  /// What to do with the rest of a body when the answer is out.
  enum class Rest : std::uint8_t { kNone, kDrain, kClose };

  base::Awaitable<bool> serve_one();
  base::Reply handler_threw(const std::string& what);
  base::Awaitable<bool> answer(base::Reply& reply);
  base::Awaitable<void> refuse(base::Error error);
  Rest settle_body();
  void finish(const WrittenReply& written);
  [[nodiscard]] std::string_view date();

  void follow(std::shared_ptr<const ListenerOptions> options);

  // In session_head.cc.
  base::Awaitable<base::Result<bool>> receive_head();
  bool start_request();
  base::Result<bool> parse_buffered_head();
  std::span<char> prepare_for_head();
  static tl::unexpected<base::Error> late_head(const base::Error& error);

  std::unique_ptr<Transport> transport_;
  std::shared_ptr<const ListenerOptions> listener_;  ///< Of the request that runs.
  std::shared_ptr<const ListenerOptions> next_;      ///< Of those that follow; null: the same.
  SessionShared& shared_;
  Admission admission_;
  ReadBuffer buffer_;
  std::optional<RequestParser> parser_;
  RequestBody body_;
  ClientWatch watch_;
  base::RequestId request_id_;
  base::MonotonicTime started_;
  std::size_t head_bytes_ = 0;  ///< Of the current request; 0 before its head is complete.
  bool first_ = true;           ///< No request has been received yet.
  bool idle_ = false;           ///< Waits for the first byte of a request.
  bool retired_ = false;        ///< No request after this one.
  bool broken_ = false;         ///< The handler threw: its request's state is unknown.
};

}  // namespace fenceline::proxy
