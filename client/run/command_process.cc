#include "client/run/command_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace fenceline::client {
namespace {

/// Never returns: the child is the command now, or has said in `report` why not.
[[noreturn]] void become_command(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment,
                                 const SignalState& signals, const Terminal& terminal, pid_t parent,
                                 int report) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  for (const std::string& variable : environment) {
    ::putenv(const_cast<char*>(variable.c_str()));  // NOLINT(concurrency-mt-unsafe)
  }
  ::setpgid(0, 0);
  terminal.give_to(::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {
    signals.restore();
    ::execvp(pointers[0], pointers.data());
  }
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

StartedCommand start_command(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment,
                             const SignalState& signals, const Terminal& terminal) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {-1, errno};
  }
  const base::UniqueFd reader(ends[0]);
  base::UniqueFd writer(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return {-1, errno};
  }
  if (pid == 0) {
    become_command(arguments, environment, signals, terminal, parent, writer.get());
  }
  ::setpgid(pid, pid);  // Whoever of both is first: afterwards the group is there.
  writer.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(reader.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    return {-1, error};
  }
  return {pid, 0};
}

}  // namespace fenceline::client
