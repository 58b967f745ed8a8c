#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/timer_wheel.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// Tells a handler that waits for something else, a lease for example, that its client has gone.
/// One per connection. Lives on the core of the connection; every method is called there.
///
/// A client has gone when its connection was reset, or closed on either side, or when it will send
/// no more: a half-closed connection looks the same as a closed one from here, so a client that
/// waits must keep its side open. What it sends meanwhile, such as the next request, stays unread
/// and in order; a close behind such bytes is seen within `kLookAgain`, any other one at once.
class ClientWatch {
 public:
  static constexpr base::Milliseconds kLookAgain{1000};

  /// The arguments outlive the watch.
  ClientWatch(Transport& transport, base::TimerWheel& timers)
      : transport_(transport), timers_(timers) {}
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

  /// Starts. Does: calls `gone` once, never inside this call, when the client goes before `stop`;
  /// what it calls may call `stop` and `gone`. Not while a body is being read, and not twice
  /// without a `stop` between. The session stops it when the handler has answered.
  void start(std::function<void()> gone);

  /// Ends: `gone` is not called any more. Does nothing if it was not started.
  void stop();

  /// Whether the client has gone, looked up now; once true, it stays true. One system call.
  [[nodiscard]] bool gone();

  /// Whether that has been seen by now: nobody is there to read the answer.
  [[nodiscard]] bool known_gone() const { return known_gone_; }

 private:
  struct Watching;

  void wait();
  void look();

  Transport& transport_;
  base::TimerWheel& timers_;
  std::shared_ptr<Watching> watching_;  ///< Null between `stop` and `start`.
  bool known_gone_ = false;
};

}  // namespace fenceline::proxy
