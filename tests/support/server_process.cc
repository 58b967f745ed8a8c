#include "tests/support/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace fenceline::testing {
namespace {

/// The number after `name=<address>:` in `log`; 0 if there is none.
std::uint16_t port_in(const std::string& log, const std::string& name) {
  const std::size_t at = log.find(" " + name + "=127.0.0.1:");
  if (at == std::string::npos) {
    return 0;
  }
  const std::size_t colon = log.find(':', at);
  return static_cast<std::uint16_t>(std::strtoul(log.c_str() + colon + 1, nullptr, 10));
}

}  // namespace

void breathe() { ::poll(nullptr, 0, 1); }

ServerProcess::ServerProcess(std::string folder, std::string_view config,
                             const Environment& environment)
    : ServerProcess(NoWait{}, std::move(folder), config, environment) {
  wait_for_log("serving: ");
  read_ports();
}

ServerProcess::ServerProcess(NoWait, std::string folder, std::string_view config,
                             const Environment& environment)
    : folder_(std::move(folder)) {
  start(config, environment);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill_hard();
  }
}

void ServerProcess::start(std::string_view config, const Environment& environment) {
  const char* binary = std::getenv("FENCELINE_BINARY");
  if (binary == nullptr) {
    throw std::runtime_error("FENCELINE_BINARY is not set: run the tests through ctest");
  }
  const std::string config_file = folder_ + "/fenceline.yaml";
  std::ofstream(config_file) << config;
  const std::string log_file = folder_ + "/stderr.log";
  std::ofstream(log_file, std::ios::trunc).flush();
  std::vector<char*> variables;
  for (const std::string& variable : environment) {
    variables.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    // A test program that dies must not leave a server behind.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = ::open(log_file.c_str(), O_WRONLY | O_APPEND);
    ::dup2(log, STDERR_FILENO);
    if (::chdir(folder_.c_str()) == 0) {
      ::execle(binary, binary, "serve", "--config", config_file.c_str(), nullptr, variables.data());
    }
    ::_exit(127);
  }
  if (pid_ < 0) {
    throw std::runtime_error("fork failed");
  }
}

void ServerProcess::read_ports() {
  const std::string text = log();
  port_ = port_in(text, "listen");
  admin_port_ = port_in(text, "admin");
}

void ServerProcess::signal(int number) const {
  if (pid_ <= 0) {
    // kill(2) would take -1 for everybody.
    throw std::logic_error("the server has ended already");
  }
  ::kill(pid_, number);
}

int ServerProcess::wait() {
  int status = 0;
  wait_until(
      "the server to end; its log:\n" + log(),
      [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, kTimeout);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ServerProcess::kill_hard() {
  signal(SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
}

int ServerProcess::stop() {
  signal(SIGTERM);
  return wait();
}

std::string ServerProcess::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_ + "/stderr.log").rdbuf();
  return text.str();
}

void ServerProcess::wait_for_log(std::string_view text) const {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (log().find(text) == std::string::npos) {
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    const bool ended =
        ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
    if (ended || std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("the server did not say '" + std::string(text) + "'; its log:\n" +
                               log());
    }
    breathe();
  }
}

}  // namespace fenceline::testing
