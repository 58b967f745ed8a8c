#include "client/redis/round.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/boottime_clock.h"
#include "base/unique_fd.h"

namespace fenceline::client::redis {
namespace {

using base::Applied;
using base::ErrorKind;
using base::MonotonicTime;
using base::Result;

/// A stop that poll can see.
class StopFd {
 public:
  explicit StopFd(const std::stop_token& stop)
      : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        wake_(stop, [fd = fd_.get()] { ::eventfd_write(fd, 1); }) {}

  [[nodiscard]] pollfd entry() const { return {.fd = fd_.get(), .events = POLLIN, .revents = 0}; }

 private:
  base::UniqueFd fd_;
  std::stop_callback<std::function<void()>> wake_;
};

class Round {
 public:
  Round(std::vector<Question> questions, const RoundRules& rules, std::stop_token stop)
      : questions_(std::move(questions)),
        rules_(rules),
        stop_(std::move(stop)),
        stop_fd_(stop_),
        start_(clock_.now()),
        end_(start_ + rules.deadline),
        answers_(questions_.size()) {}

  std::vector<Result<Reply>> run() {
    for (Question& question : questions_) {
      question.peer->start(std::move(question.command));
    }
    while (true) {
      collect();
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - clock_.now()).count();
      if (polled_.empty() || left <= 0 || stop_.stop_requested()) {
        break;
      }
      ::poll(polled_.data(), polled_.size(), static_cast<int>(left));
      for (const Question& question : questions_) {
        question.peer->go_on();
      }
    }
    return finished();
  }

 private:
  void collect() {
    polled_.clear();
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      Peer& peer = *questions_[i].peer;
      if (auto answer = peer.take_answer()) {
        answers_[i] = std::move(answer);
      }
      if (const auto wanted = peer.wanted()) {
        polled_.push_back(*wanted);
      }
    }
    if (polled_.empty()) {
      return;
    }
    polled_.push_back(stop_fd_.entry());
    if (!enough_ && rules_.enough && rules_.enough(answers_)) {
      enough_ = true;
      const auto now = clock_.now();
      const MonotonicTime::duration took = now - start_;
      end_ = std::min(end_, now + std::max<MonotonicTime::duration>(kGrace, took));
    }
  }

  std::vector<Result<Reply>> finished() {
    std::vector<Result<Reply>> results;
    results.reserve(answers_.size());
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      results.push_back(answers_[i] ? *std::move(answers_[i]) : unanswered(*questions_[i].peer));
    }
    return results;
  }

  [[nodiscard]] tl::unexpected<base::Error> unanswered(const Peer& peer) const {
    const Applied applied = peer.touched() ? Applied::kUnknown : Applied::kNo;
    if (stop_.stop_requested()) {
      return base::fail(ErrorKind::kClientGone, "Stopped while waiting for Redis.", applied);
    }
    return base::fail(ErrorKind::kUpstreamTimeout,
                      fmt::format("Redis at {} did not answer in time.", peer.name()), applied);
  }

  // Its own clock: these are waits for the network, which no decision looks at.
  base::BoottimeClock clock_;
  std::vector<Question> questions_;
  const RoundRules& rules_;
  std::stop_token stop_;
  StopFd stop_fd_;
  MonotonicTime start_;
  MonotonicTime end_;
  std::vector<Answer> answers_;
  std::vector<pollfd> polled_;
  bool enough_ = false;
};

}  // namespace

std::vector<Result<Reply>> ask_round(std::vector<Question> questions, const RoundRules& rules,
                                     std::stop_token stop) {
  return Round(std::move(questions), rules, std::move(stop)).run();
}

bool wait_or_stop(base::Milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return stop.stop_requested();
}

}  // namespace fenceline::client::redis
