// `fenceline run` at a terminal: who reads from it, and whom Ctrl-C and Ctrl-Z reach.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/child_process.h"
#include "tests/support/server_process.h"
#include "tests/system/run_fixture.h"

namespace fenceline::testing {
namespace {

/// A process with a terminal of its own, whose keyboard is the test.
class AtTerminal {
 public:
  explicit AtTerminal(std::vector<std::string> arguments) {
    std::vector<char*> texts;
    texts.reserve(arguments.size() + 1);
    for (std::string& each : arguments) {
      texts.push_back(each.data());
    }
    texts.push_back(nullptr);
    int screen = -1;
    pid_ = ::forkpty(&screen, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::execv(texts.front(), texts.data());
      ::_exit(127);
    }
    screen_ = base::UniqueFd(screen);
    if (pid_ < 0 || ::fcntl(screen, F_SETFL, O_NONBLOCK) != 0) {
      throw std::runtime_error("no terminal can be made");
    }
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;
  ~AtTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  void type(const std::string& keys) {
    ASSERT_EQ(::write(screen_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  void wait_for_text(const std::string& text) {
    wait_until("'" + text + "' on the terminal", [&] {
      look();
      return seen_.find(text) != std::string::npos;
    });
  }

  void wait_for_stop() const { wait_until_stopped(pid_); }

  void go_on() const { ::kill(pid_, SIGCONT); }

  /// The exit code, 128 + n after signal n.
  int wait() {
    int status = 0;
    wait_until("the end of the process", [&] {
      look();  // A full terminal would hold it up.
      return ::waitpid(pid_, &status, WNOHANG) == pid_;
    });
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  void look() {
    std::array<char, 4096> piece;  // NOLINT: filled by the next line.
    for (ssize_t n = 0; (n = ::read(screen_.get(), piece.data(), piece.size())) > 0;) {
      seen_.append(piece.data(), static_cast<std::size_t>(n));
    }
  }

  base::UniqueFd screen_;
  pid_t pid_ = -1;
  std::string seen_;
};

class RunTerminalTest : public RunFixture {
 protected:
  std::vector<std::string> run_of(const std::string& script) {
    const char* binary = std::getenv("FENCELINE_BINARY");
    return {binary == nullptr ? "FENCELINE_BINARY?" : binary,
            "run",
            "--key",
            kKey,
            "--source",
            source(),
            "--",
            "sh",
            "-c",
            script};
  }
};

TEST_F(RunTerminalTest, TheCommandReadsWhatIsTyped) {
  AtTerminal terminal(run_of("echo ready; read line; echo \"got:$line\"; exit 3"));
  terminal.wait_for_text("ready");
  terminal.type("hello\n");
  terminal.wait_for_text("got:hello");
  EXPECT_EQ(terminal.wait(), 3);
  EXPECT_TRUE(is_free());
}

TEST_F(RunTerminalTest, CtrlCReachesTheCommandAndNotRun) {
  AtTerminal terminal(run_of("trap 'echo caught; exit 7' INT; echo ready; read line"));
  terminal.wait_for_text("ready");
  terminal.type("\x03");
  terminal.wait_for_text("caught");
  EXPECT_EQ(terminal.wait(), 7) << "the exit code is the command's, not 130";
  EXPECT_TRUE(is_free()) << "run has lived to release the lease";
}

TEST_F(RunTerminalTest, CtrlZStopsBothAndBothGoOn) {
  AtTerminal terminal(run_of("echo ready; read line; echo \"got:$line\""));
  terminal.wait_for_text("ready");
  terminal.type("\x1a");
  terminal.wait_for_stop();
  EXPECT_FALSE(is_free());
  terminal.go_on();
  terminal.type("again\n");
  terminal.wait_for_text("got:again");
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace fenceline::testing
