#include "client/run/guard_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>

#include "base/boottime_clock.h"
#include "client/run/child_tree.h"
#include "client/run/command_process.h"
#include "client/run/end_plan.h"

namespace fenceline::client {
namespace {

using base::MonotonicTime;

/// While processes are being killed, how often it is looked whether any is left.
constexpr base::Milliseconds kLook{10};
constexpr std::size_t kMaxPacket = 256UL << 10U;

class GuardProcess {
 public:
  GuardProcess(GuardSetup setup, base::UniqueFd socket, const SignalState& signals,
               const Terminal& terminal)
      : setup_(std::move(setup)),
        socket_(std::move(socket)),
        signals_(signals),
        terminal_(terminal),
        timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)),
        packet_(kMaxPacket, '\0') {}

  /// Until nothing is left.
  void run() {
    while (!done_) {
      wait();
      take_orders();
      watch_children();
      act();
    }
  }

 private:
  void wait() {
    set_timer();
    std::array<pollfd, 3> entries{
        {{socket_.get(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {timer_.get(), POLLIN, 0}}};
    if (is_alone_) {
      entries[0].fd = -1;
    }
    ::poll(entries.data(), entries.size(), is_killing_ ? static_cast<int>(kLook.count()) : -1);
    while (const int signal = signals_.next()) {
      child_changed_ = child_changed_ || signal == SIGCHLD;
    }
    std::uint64_t times = 0;
    (void)!::read(timer_.get(), &times, sizeof times);
  }

  /// On a clock that goes on during suspend: a deadline that was slept over is over on waking.
  void set_timer() const {
    itimerspec spec{};
    if (const auto next = plan_.next(); next && !is_killing_) {
      const auto since = std::max(next->time_since_epoch(), MonotonicTime::duration(1));
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
      spec.it_value.tv_sec = seconds.count();
      spec.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  void take_orders() {
    while (!is_alone_) {
      const ssize_t size = ::recv(socket_.get(), packet_.data(), packet_.size(), MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
      }
      if (size <= 0) {
        is_alone_ = true;
        plan_.abandon(clock_.now());
        done_ = leader_ < 0;
        return;
      }
      const auto order = decode_order({packet_.data(), static_cast<std::size_t>(size)});
      if (order) {
        follow(*order);
      }
    }
  }

  void follow(const GuardOrder& order) {
    switch (order.kind) {
      case GuardOrder::Kind::kStart:
        start(order);
        break;
      case GuardOrder::Kind::kHold:
        plan_.hold(order.deadlines);
        break;
      case GuardOrder::Kind::kLost:
        plan_.lose(order.deadlines);
        break;
      case GuardOrder::Kind::kSignal:
        forward(order.signal);
        break;
    }
  }

  void start(const GuardOrder& order) {
    const StartedCommand started =
        start_command(setup_.command, order.environment, signals_, terminal_);
    if (started.pid < 0) {
      report({GuardReport::Kind::kNotStarted, started.error});
      done_ = true;
      return;
    }
    leader_ = started.pid;
    plan_.hold(order.deadlines);
    report({GuardReport::Kind::kStarted, static_cast<int>(leader_)});
  }

  /// What is meant for a job goes to all of its group; what only a program understands that waits
  /// for it, to the command alone.
  void forward(int signal) const {
    if (leader_ > 0) {
      const bool for_one = signal == SIGUSR1 || signal == SIGUSR2;
      ::kill(for_one ? leader_ : -leader_, signal);
    }
  }

  /// The command is looked at but kept as a zombie, so that its number, and that of its group,
  /// belongs to nobody else while the rest is ended.
  void watch_children() {
    if (leader_ < 0 || !(child_changed_ || is_killing_)) {
      return;
    }
    child_changed_ = false;
    siginfo_t info{};
    const auto id = static_cast<id_t>(leader_);
    if (::waitid(P_PID, id, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == leader_) {
      report({GuardReport::Kind::kStopped, info.si_status});
    }
    info = {};
    if (!has_ended_ && ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == leader_) {
      has_ended_ = true;
      plan_.command_ended(clock_.now(), setup_.grace);
    }
    if (reap_all_but(leader_) && has_ended_) {
      int status = 0;
      ::waitpid(leader_, &status, 0);
      report({GuardReport::Kind::kEnded, status, plan_.is_lost()});
      done_ = true;
    }
  }

  void act() {
    if (done_ || leader_ < 0) {
      return;
    }
    switch (plan_.due(clock_.now())) {
      case EndPlan::Action::kNothing:
        break;
      case EndPlan::Action::kTerm:
        say_that_it_ends();
        signal_all(leader_, SIGTERM);
        signal_all(leader_, SIGCONT);  // A stopped process would not hear it.
        break;
      case EndPlan::Action::kKill:
        say_that_it_ends();
        is_killing_ = true;
        signal_all(leader_, SIGKILL);
        break;
    }
  }

  void say_that_it_ends() {
    if (plan_.is_lost() && !said_that_it_ends_) {
      said_that_it_ends_ = true;
      report({GuardReport::Kind::kEnding, 0, true});
    }
  }

  void report(const GuardReport& what) const {
    const std::string packet = encode(what);
    (void)::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
  }

  const GuardSetup setup_;
  const base::UniqueFd socket_;
  const SignalState& signals_;
  const Terminal& terminal_;
  const base::BoottimeClock clock_;
  const base::UniqueFd timer_;
  EndPlan plan_;
  std::string packet_;
  pid_t leader_ = -1;
  bool is_alone_ = false;  ///< `run` is gone.
  bool child_changed_ = false;
  bool is_killing_ = false;
  bool has_ended_ = false;
  bool said_that_it_ends_ = false;
  bool done_ = false;
};

}  // namespace

void guard_command(GuardSetup setup, base::UniqueFd socket, const SignalState& signals,
                   const Terminal& terminal) {
  // Its own group: what stops or ends the job of `run` must not reach it.
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "fenceline-guard");
  adopt_orphans();
  try {
    GuardProcess(std::move(setup), std::move(socket), signals, terminal).run();
  } catch (const std::exception&) {
    kill_all_children({});
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace fenceline::client
