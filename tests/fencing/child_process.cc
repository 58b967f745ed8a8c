#include "tests/fencing/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace fenceline::testing {
namespace {

constexpr int kPatienceMs = 60'000;

struct Pipe {
  base::UniqueFd out;
  base::UniqueFd in;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  return Pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

}  // namespace

void ChildProcess::Parent::report(std::int64_t number) const {
  // 8 bytes are below PIPE_BUF: written whole or not at all.
  if (::write(reports_, &number, sizeof number) != sizeof number) {
    ::_exit(99);
  }
}

void ChildProcess::Parent::wait_for_go() const {
  char byte = 0;
  while (::read(orders_, &byte, 1) < 0 && errno == EINTR) {
  }
}

ChildProcess::ChildProcess(const std::function<int(const Parent&)>& work) {
  Pipe reports = make_pipe();
  Pipe orders = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid_ == 0) {
    reports.out.reset();
    orders.in.reset();
    int status = 98;
    try {
      status = work(Parent(reports.in.get(), orders.out.get()));
    } catch (const std::exception&) {
      status = 97;
    }
    ::_exit(status);  // not exit: what the parent registered is the parent's
  }
  reports_ = std::move(reports.out);
  orders_ = std::move(orders.in);
}

ChildProcess::~ChildProcess() { kill_now(); }

std::int64_t ChildProcess::next_report() {
  pollfd readable{reports_.get(), POLLIN, 0};
  if (::poll(&readable, 1, kPatienceMs) <= 0) {
    throw std::runtime_error("the child process says nothing");
  }
  std::int64_t number = 0;
  return ::read(reports_.get(), &number, sizeof number) == sizeof number ? number : 0;
}

std::vector<std::int64_t> ChildProcess::remaining_reports() {
  std::vector<std::int64_t> all;
  for (std::int64_t number = next_report(); number != 0; number = next_report()) {
    all.push_back(number);
  }
  return all;
}

void ChildProcess::let_go() { orders_.reset(); }

void ChildProcess::kill_now() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

int ChildProcess::join() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace fenceline::testing
