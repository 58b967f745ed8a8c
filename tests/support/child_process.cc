#include "tests/support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

base::UniqueFd open_or_throw(const std::string& file, int flags) {
  base::UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    throw std::system_error(errno, std::generic_category(), file);
  }
  return fd;
}

/// A pipe that no other child inherits; the end that is read first.
std::pair<base::UniqueFd, base::UniqueFd> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> arguments, std::string output_file, Input input)
    : output_file_(std::move(output_file)) {
  const base::UniqueFd output = open_or_throw(output_file_, O_WRONLY | O_CREAT | O_TRUNC);
  base::UniqueFd source;
  if (input == Input::kFed) {
    std::tie(source, input_) = make_pipe();
    ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  } else {
    source = open_or_throw("/dev/null", O_RDONLY);
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(source.get(), STDIN_FILENO);
    ::dup2(output.get(), STDOUT_FILENO);
    ::dup2(output.get(), STDERR_FILENO);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void ChildProcess::feed(std::string_view bytes) const {
  // A reader that is gone must be an error here, and not the end of the test program.
  std::signal(SIGPIPE, SIG_IGN);
  const auto timeout = std::chrono::milliseconds(ServerProcess::kTimeout);
  while (!bytes.empty()) {
    pollfd entry{.fd = input_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&entry, 1, static_cast<int>(timeout.count())) == 0) {
      throw std::runtime_error("a child process does not read its input; it said:\n" + output());
    }
    const ssize_t written = ::write(input_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(),
                              "feeding a child process, which said:\n" + output());
    }
    bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
}

void ChildProcess::pause() const {
  ::kill(pid_, SIGSTOP);
  wait_until_stopped(pid_);
}

void ChildProcess::resume() const { ::kill(pid_, SIGCONT); }

int ChildProcess::wait() {
  int status = 0;
  wait_until("a child process to end; it said:\n" + output(),
             [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ChildProcess::output() const { return contents_of(output_file_); }

void wait_until_stopped(pid_t pid) {
  wait_until("process " + std::to_string(pid) + " to stop", [pid] {
    siginfo_t info{};
    const int flags = WSTOPPED | WEXITED | WNOHANG | WNOWAIT;
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, flags) != 0 ||
        (info.si_pid == pid && info.si_code != CLD_STOPPED)) {
      throw std::runtime_error("process " + std::to_string(pid) + " ended instead of stopping");
    }
    return info.si_pid == pid;
  });
}

std::string contents_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace fenceline::testing
