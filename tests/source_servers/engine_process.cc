#include "tests/source_servers/engine_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <utility>

namespace fenceline::testing {
namespace {

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child = 0; list >> child;) {
    children.push_back(child);
  }
  return children;
}

}  // namespace

EngineProcess::EngineProcess(std::vector<std::string> arguments, std::string output_file,
                             std::string user)
    : output_file_(std::move(output_file)) {
  // setpriv becomes the program, so the pid stays.
  arguments_ = {"setpriv", "--pdeathsig", "KILL"};
  if (!user.empty() && ::geteuid() == 0) {
    for (const char* each : {"--reuid", user.c_str(), "--regid", user.c_str(), "--init-groups"}) {
      arguments_.emplace_back(each);
    }
  }
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
}

void EngineProcess::start() { process_ = std::make_unique<ChildProcess>(arguments_, output_file_); }

void EngineProcess::kill() {
  if (process_ == nullptr) {
    return;
  }
  const std::vector<pid_t> children = children_of(process_->pid());
  ::kill(process_->pid(), SIGKILL);
  process_->wait();
  process_.reset();
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    wait_until("a child of the server to end", [&] { return ::kill(child, 0) != 0; });
  }
}

void EngineProcess::wait_for_success() {
  if (process_->wait() != 0) {
    throw std::runtime_error("a program of the server failed; it said:\n" + process_->output());
  }
  process_.reset();
}

void EngineProcess::check_that_it_runs(std::string_view what) const {
  siginfo_t info{};
  const int flags = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(process_->pid()), &info, flags) != 0 || info.si_pid != 0) {
    throw std::runtime_error(fmt::format("ended instead of {}", what));
  }
}

}  // namespace fenceline::testing
