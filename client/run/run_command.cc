#include "client/run/run_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>

#include "base/boottime_clock.h"
#include "client/run/guard.h"
#include "client/run/lease_keeper.h"
#include "client/run/lease_schedule.h"
#include "client/run/signal_state.h"
#include "client/run/terminal.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;

void say(const std::string& sentence) { fmt::print(stderr, "fenceline run: {}\n", sentence); }

/// One run: what comes from the keeper, the guard and the signals, one after another.
class Run {
 public:
  Run(const RunOptions& options, LeaseOrder order, const SignalState& signals,
      const Terminal& terminal, Guard& guard, std::unique_ptr<TokenSource> source,
      const base::Clock& clock)
      : options_(options),
        holder_(order.holder),
        signals_(signals),
        terminal_(terminal),
        guard_(guard),
        clock_(clock),
        keeper_(std::move(source), std::move(order), options.grace, clock) {}

  /// Until the lease is given back; the exit code.
  int until_end() {
    while (!done_) {
      std::array<pollfd, 3> entries{{{keeper_.fd(), POLLIN, 0},
                                     {signals_.fd(), POLLIN, 0},
                                     {is_over_ ? -1 : guard_.fd(), POLLIN, 0}}};
      ::poll(entries.data(), entries.size(), -1);
      while (const int signal = signals_.next()) {
        take_signal(signal);
      }
      while (const auto news = keeper_.next()) {
        take_news(*news);
      }
      while (const auto report = guard_.next()) {
        take_report(*report);
      }
      if (guard_.is_gone() && !is_over_) {
        say("its guard was killed, and with it the command");
        guard_.clean_up();
        finish(kExitRunFailed);
      }
    }
    return exit_code_;
  }

 private:
  void take_news(const KeeperNews& news) {
    switch (news.kind) {
      case KeeperNews::Kind::kWarning:
        say("warning: " + news.error.detail);
        break;
      case KeeperNews::Kind::kRefused:
        refused(news.error);
        break;
      case KeeperNews::Kind::kAcquired:
        start(news.grant);
        break;
      case KeeperNews::Kind::kRenewed:
        guard_.tell({GuardOrder::Kind::kHold, deadlines(news.grant)});
        break;
      case KeeperNews::Kind::kTrouble:
        say(fmt::format("the lease could not be renewed, trying on: {}", news.error.detail));
        break;
      case KeeperNews::Kind::kLost:
        loss_ = news.error.detail;
        guard_.tell({GuardOrder::Kind::kLost,
                     deadlines_after_loss(clock_.now(), news.grant.valid_until, options_.grace)});
        break;
      case KeeperNews::Kind::kReleased:
        if (!news.error.detail.empty() && news.error.kind != ErrorKind::kLeaseEnded) {
          say(fmt::format("the lease was not released, and expires: {}", news.error.detail));
        }
        done_ = true;
        break;
    }
  }

  [[nodiscard]] Deadlines deadlines(const Grant& grant) const {
    return deadlines_for(grant.valid_until, grant.ttl, options_.grace);
  }

  void refused(const base::Error& error) {
    done_ = true;
    if (is_over_) {
      return;  // Stopped by a signal.
    }
    say(error.detail);
    exit_code_ = error.kind == ErrorKind::kLeaseHeld ? kExitNotObtained : kExitRunFailed;
  }

  void start(const Grant& grant) {
    if (is_over_) {
      return;
    }
    if (const std::string problem = problem_with_token(options_.lease, grant); !problem.empty()) {
      say(problem);
      finish(kExitRunFailed);
      return;
    }
    GuardOrder order{GuardOrder::Kind::kStart, deadlines(grant)};
    order.environment = lease_environment(grant, holder_);
    if (options_.aws) {
      order.environment.push_back("AWS_SESSION_TOKEN=fence-" + grant.token.text());
    }
    guard_.tell(order);
    is_started_ = true;
  }

  void take_report(const GuardReport& report) {
    switch (report.kind) {
      case GuardReport::Kind::kStarted:
        command_ = report.number;
        break;
      case GuardReport::Kind::kNotStarted:
        say(fmt::format("{}: {}", options_.command.front(),
                        std::strerror(report.number)));  // NOLINT(concurrency-mt-unsafe)
        finish(report.number == ENOENT ? kExitNotFound : kExitNotExecutable);
        break;
      case GuardReport::Kind::kStopped:
        stop_with_command();
        break;
      case GuardReport::Kind::kEnding:
        say(fmt::format("the lease is lost, ending the command: {}",
                        loss_.empty() ? "it was not renewed in time" : loss_));
        break;
      case GuardReport::Kind::kEnded:
        terminal_.take_back();
        finish(report.is_lost ? kExitLost
                              : (WIFEXITED(report.number) ? WEXITSTATUS(report.number)
                                                          : kExitSignal + WTERMSIG(report.number)));
        break;
    }
  }

  /// Nothing more is to run; the lease is released now.
  void finish(int exit_code) {
    is_over_ = true;
    exit_code_ = exit_code;
    keeper_.stop();
  }

  void take_signal(int signal) {
    if (signal == SIGCHLD || is_over_) {
      return;
    }
    if (is_started_) {
      if (signal == SIGCONT && command_ > 0 && terminal_.is_in_front()) {
        terminal_.give_to(command_);
      }
      guard_.tell({GuardOrder::Kind::kSignal, {}, signal});
      return;
    }
    if (signal == SIGTSTP) {
      ::raise(SIGSTOP);
    } else if (signal != SIGUSR1 && signal != SIGUSR2 && signal != SIGCONT) {
      finish(kExitSignal + signal);
    }
  }

  /// Ctrl-Z stopped the command: the shell waits for this job, not for its group.
  void stop_with_command() {
    if (!terminal_.is_ours()) {
      return;
    }
    terminal_.take_back();
    ::kill(0, SIGTSTP);
    ::raise(SIGSTOP);
    // Going on: as the shell has it, in the foreground or not.
    while (const int signal = signals_.next()) {
      if (signal != SIGTSTP && signal != SIGCONT) {
        take_signal(signal);
      }
    }
    take_signal(SIGCONT);
  }

  const RunOptions& options_;
  const std::string holder_;
  const SignalState& signals_;
  const Terminal& terminal_;
  Guard& guard_;
  const base::Clock& clock_;
  std::string loss_;
  pid_t command_ = -1;
  bool is_started_ = false;  ///< The guard was told to; it takes orders in their order.
  bool is_over_ = false;     ///< Nothing runs, and nothing will.
  bool done_ = false;
  int exit_code_ = kExitRunFailed;
  LeaseKeeper keeper_;
};

}  // namespace

int run_with_lease(const RunOptions& options) {
  auto order = order_from(options.lease);
  if (!order) {
    say(order.error().detail);
    return kExitRunFailed;
  }
  const base::BoottimeClock clock;
  const SignalState signals;
  const Terminal terminal;
  // Before the source, which may start threads.
  Guard guard({options.command, options.grace}, signals, terminal);
  auto source = open_source(options.lease, clock);
  if (!source) {
    say(source.error().detail);
    return kExitRunFailed;
  }
  return Run(options, std::move(*order), signals, terminal, guard, std::move(*source), clock)
      .until_end();
}

}  // namespace fenceline::client
