#include "tests/campaign/contenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

constexpr std::size_t kPerTenant = 3;
constexpr int kShortWork = 5;   // Pairs of writes; a short lease.
constexpr int kLongWork = 150;  // Longer than a ttl: it has to be renewed.

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct ProcessState {
  char state = 'X';  ///< As in /proc; X: there is none.
  pid_t parent = 0;
};

ProcessState state_of(pid_t pid) {
  const std::string stat = contents_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  ProcessState found;
  if (name_end != std::string::npos) {
    std::istringstream(stat.substr(name_end + 1)) >> found.state >> found.parent;
  }
  return found;
}

bool has_ended(pid_t pid) {
  const char state = state_of(pid).state;
  return state == 'X' || state == 'Z';
}

/// SIGSTOP; false if it has ended. The caller knows that the number is still that process's.
bool stop_process(pid_t pid) {
  ::kill(pid, SIGSTOP);
  wait_until("a process to stop", [&] { return state_of(pid).state == 'T' || has_ended(pid); });
  return !has_ended(pid);
}

TakeoverEvent::Kind kind_of(const std::string& what) {
  if (what == "start") {
    return TakeoverEvent::Kind::kStart;
  }
  return what == "files" ? TakeoverEvent::Kind::kFiles : TakeoverEvent::Kind::kLines;
}

}  // namespace

Contenders::Contenders(SourceServer& source, std::string folder, std::uint16_t port,
                       std::uint64_t seed)
    : source_(source),
      folder_(std::move(folder)),
      port_(port),
      random_(seed),
      log_file_(folder_ + "/takeovers.log") {
  std::ofstream(log_file_).flush();
  contenders_.resize(kPerTenant * kTenants.size());
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    contenders_[i].tenant = i % kTenants.size();
    start(contenders_[i]);
  }
}

Contenders::~Contenders() {
  // What is stopped would outlive the test.
  for (Contender& contender : contenders_) {
    wake(contender);
  }
}

Contenders::Fault Contenders::draw() {
  if (deck_.empty()) {
    deck_.assign(12, Fault::kNone);
    deck_.insert(deck_.end(), 4, Fault::kFreeze);
    deck_.insert(deck_.end(),
                 {Fault::kStopRun, Fault::kKillRun, Fault::kKillRun, Fault::kRestartSource});
    std::ranges::shuffle(deck_, random_);
  }
  const Fault fault = deck_.back();
  deck_.pop_back();
  return fault;
}

void Contenders::start(Contender& contender) {
  const std::size_t place = static_cast<std::size_t>(&contender - contenders_.data());
  const std::size_t tenant = contender.tenant;
  contender = Contender{};
  contender.tenant = tenant;
  contender.run = runs_.size();
  contender.fault = draw();
  // At least one: so that whoever was frozen before is overtaken when this one is frozen, too.
  contender.writes_before_fault = 1 + random_() % 4;
  const bool is_long = contender.fault == Fault::kStopRun || contender.fault == Fault::kFreeze ||
                       contender.fault == Fault::kRestartSource;
  const char* binary = std::getenv("FENCELINE_BINARY");
  const std::string key = fmt::format("exports/{}", kTenants.at(tenant));
  // First: an order cannot be older.
  runs_.push_back({key, now_ns()});
  contender.process = std::make_unique<ChildProcess>(
      std::vector<std::string>{
          binary == nullptr ? "FENCELINE_BINARY?" : binary, "run", "--key", key, "--source",
          source_.url(), "--ttl", fmt::format("{}ms", source_.shortest_ttl_ms()), "--wait", "20s",
          "--", FENCELINE_TAKEOVER_WORKER, std::to_string(port_), kTenants.at(tenant), log_file_,
          std::to_string(contender.run), std::to_string(is_long ? kLongWork : kShortWork)},
      fmt::format("{}/run-{}", folder_, place));
}

void Contenders::step() {
  read_log();
  for (Contender& contender : contenders_) {
    look_at(contender);
  }
}

void Contenders::read_log() {
  std::ifstream log(log_file_);
  log.seekg(log_read_);
  for (std::string line; std::getline(log, line) && !log.eof();) {
    log_read_ += static_cast<std::streamoff>(line.size()) + 1;
    take_in(line);
  }
}

void Contenders::take_in(const std::string& line) {
  TakeoverEvent event;
  pid_t worker = 0;
  pid_t guard = 0;
  std::string what;
  std::istringstream fields(line);
  if (!(fields >> event.run >> worker >> guard >> event.token >> what >> event.status >>
        event.begin_ns >> event.end_ns)) {
    throw std::runtime_error("no line of a worker: " + line);
  }
  event.kind = kind_of(what);
  const auto tenant = static_cast<std::size_t>(
      std::ranges::find_if(kTenants,
                           [&](const char* each) {
                             return runs_.at(event.run).key == fmt::format("exports/{}", each);
                           }) -
      kTenants.begin());
  events_.at(tenant).push_back(event);
  if (event.accepted()) {
    newest_.at(tenant) = std::max(newest_.at(tenant), event.token);
  }
  grants_ += event.kind == TakeoverEvent::Kind::kStart ? 1 : 0;
  for (Contender& contender : contenders_) {
    if (contender.run == event.run) {
      contender.worker = worker;
      contender.token = event.token;
      contender.writes += event.kind == TakeoverEvent::Kind::kStart ? 0 : 1;
      contender.refused = contender.refused || event.status == 412;
      if (contender.guard == 0) {
        contender.guard = guard;
      }
    }
  }
}

bool Contenders::is_overtaken(const Contender& contender) const {
  return newest_.at(contender.tenant) > contender.token;
}

void Contenders::look_at(Contender& contender) {
  switch (contender.state) {
    case State::kGoing:
      if (has_ended(contender.process->pid())) {
        finish(contender);
      } else if (contender.fault != Fault::kNone && contender.worker != 0 &&
                 contender.writes >= contender.writes_before_fault) {
        strike(contender);
      }
      break;
    case State::kFrozen:
      if (is_overtaken(contender)) {
        ++counts_.frozen;
        ::kill(contender.worker, SIGCONT);
        contender.state = State::kAwake;
      }
      break;
    case State::kAwake:
      if (contender.refused || has_ended(contender.worker)) {
        wake(contender);
      }
      break;
    case State::kRunStopped:
      if (is_overtaken(contender)) {
        ++counts_.stopped;
        wake(contender);
      }
      break;
  }
}

void Contenders::strike(Contender& contender) {
  const Fault fault = contender.fault;
  contender.fault = Fault::kNone;
  switch (fault) {
    case Fault::kNone:
      break;
    case Fault::kFreeze:
      contender.state = freeze(contender) ? State::kFrozen : State::kGoing;
      break;
    case Fault::kStopRun:
      contender.state = stop_process(contender.process->pid()) ? State::kRunStopped : State::kGoing;
      break;
    case Fault::kKillRun:
      ++counts_.killed;
      ::kill(contender.process->pid(), SIGKILL);
      break;
    case Fault::kRestartSource:
      ++counts_.restarts;
      source_.kill();
      source_.restart();
      break;
  }
}

// From the top: while its parent is stopped, the number of a child is not given to another process.
bool Contenders::freeze(Contender& contender) {
  const pid_t run = contender.process->pid();
  if (!stop_process(run)) {
    return false;
  }
  if (state_of(contender.guard).parent == run && stop_process(contender.guard) &&
      state_of(contender.worker).parent == contender.guard && stop_process(contender.worker)) {
    return true;
  }
  contender.state = State::kFrozen;
  wake(contender);
  return false;
}

void Contenders::wake(Contender& contender) {
  if (contender.state == State::kGoing) {
    return;
  }
  const pid_t run = contender.process->pid();
  if (state_of(contender.guard).parent == run) {
    if (state_of(contender.worker).parent == contender.guard) {
      ::kill(contender.worker, SIGCONT);
    }
    ::kill(contender.guard, SIGCONT);
  }
  ::kill(run, SIGCONT);
  contender.state = State::kGoing;
}

void Contenders::finish(Contender& contender) {
  const int code = contender.process->wait();
  // Done; lost; others held it for too long; the source could not be reached; killed by us.
  constexpr std::array<int, 5> kAllowed = {0, 123, 124, 125, 128 + SIGKILL};
  if (std::ranges::find(kAllowed, code) == kAllowed.end()) {
    throw std::runtime_error(
        fmt::format("fenceline run ended with {}: {}", code, contender.process->output()));
  }
  if (contender.fault != Fault::kNone) {
    deck_.push_back(contender.fault);  // It had no grant, or ended too soon: the next one's.
  }
  start(contender);
}

void Contenders::end() {
  for (Contender& contender : contenders_) {
    wake(contender);
  }
  for (Contender& contender : contenders_) {
    const pid_t run = contender.process->pid();
    ::kill(run, SIGKILL);
    contender.process->wait();
    // The guard has heard of it by then, or is about to.
    wait_until("a worker to end with its run",
               [&] { return contender.worker == 0 || has_ended(contender.worker); });
  }
  read_log();
}

std::string Contenders::outputs() const {
  std::string text;
  for (const Contender& contender : contenders_) {
    text +=
        fmt::format("run {} of {} (state {}): {}\n", contender.run, kTenants.at(contender.tenant),
                    static_cast<int>(contender.state), contender.process->output());
  }
  return text;
}

}  // namespace fenceline::testing
