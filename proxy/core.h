#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "base/async.h"
#include "base/clock.h"
#include "base/request_id.h"
#include "base/timer_wheel.h"
#include "proxy/server_observer.h"
#include "proxy/server_options.h"
#include "proxy/session.h"

namespace fenceline::proxy {

/// One thread with its io_context, its timer wheel and its sessions. A connection stays on the core
/// that accepted it. All methods but `start`, `post`, `finish` and `join` belong to that thread.
class Core {
 public:
  /// Takes `tick` and `upkeep` of the options. The other arguments outlive the core.
  Core(const ServerOptions& options, const base::Clock& clock, base::RequestIds& request_ids,
       ServerObserver& observer);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// `finish` and `join` must have been called, if `start` was: then no coroutine is left. (A
  /// coroutine that is destroyed while a worker thread still performs its effect would leave the
  /// gate too early.)
  ~Core() = default;

  /// Starts the thread. SIGPIPE is blocked on it, because sendfile(2) cannot ask for that, and so
  /// are SIGINT, SIGTERM and SIGHUP, which are the main thread's.
  void start();

  /// Runs `work` on the core's thread. Thread-safe.
  void post(std::function<void()> work);

  /// The thread ends when nothing is left to do: no session, no listener, no work that somebody
  /// else does for one of them. Thread-safe.
  void finish() { work_.reset(); }

  /// Waits for the thread.
  void join();

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] SessionShared& shared() { return shared_; }

  /// Takes a new session into `drain` and `abort_sessions`, until it is destroyed. Also keeps the
  /// wheel turning.
  void add(Session& session);

  /// The options of the listener `next->name` have been replaced: its sessions follow, each with
  /// its next request.
  void adopt(const std::shared_ptr<const ListenerOptions>& next);

  /// The listener is gone: its sessions end, each with its next answer.
  void retire(std::string_view listener);

  /// Takes nothing new: idle sessions close now, busy ones after their answer.
  void drain();

  /// Closes every connection now.
  void abort_sessions();

  /// Reports what a coroutine threw; nothing if it threw nothing.
  void report(const std::exception_ptr& thrown);

 private:
  using WheelTimer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                        boost::asio::wait_traits<std::chrono::steady_clock>,
                                        base::Executor>;

  void run();
  base::Awaitable<void> turn_wheel();
  void tidy_up();

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<base::Executor> work_;
  base::TimerWheel wheel_;
  SessionShared shared_;
  const std::function<bool()> upkeep_;
  base::Timer next_upkeep_;  ///< Armed while there are sessions, or there is something to tidy up.
  WheelTimer tick_;
  bool turning_ = false;
  boost::intrusive::list<Session, boost::intrusive::constant_time_size<false>> sessions_;
  std::thread thread_;
};

}  // namespace fenceline::proxy
