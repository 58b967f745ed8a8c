#include "client/run/child_tree.h"

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace fenceline::client {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// -1 if it is gone.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything, so the last one counts: "7 (a b) R 1 …".
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) {
    return -1;
  }
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc"));
  if (!folder) {
    return found;
  }
  const pid_t self = ::getpid();
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    char* end = nullptr;
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, &end, 10));
    if (*end == '\0' && pid > 0 && parent_of(pid) == self) {
      found.push_back(pid);
    }
  }
  return found;
}

void signal_all(pid_t leader, int signal) {
  ::kill(-leader, signal);
  for (const pid_t child : children()) {
    if (::getpgid(child) != leader) {
      ::kill(child, signal);
    }
  }
}

bool reap_all_but(pid_t leader) {
  bool none_left = true;
  for (const pid_t child : children()) {
    if (child != leader && ::waitpid(child, nullptr, WNOHANG) != child) {
      none_left = false;
    }
  }
  return none_left;
}

void kill_all_children(const std::vector<pid_t>& spared) {
  while (true) {
    bool any_left = false;
    for (const pid_t child : children()) {
      if (std::ranges::count(spared, child) > 0) {
        continue;
      }
      const bool killed = ::kill(child, SIGKILL) == 0;
      const bool ended = ::waitpid(child, nullptr, WNOHANG) == child;
      any_left = any_left || (killed && !ended);
    }
    if (!any_left) {
      return;
    }
    ::poll(nullptr, 0, 5);
  }
}

}  // namespace fenceline::client
