#include "tests/system/run_fixture.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/server_process.h"

namespace fenceline::testing {

bool is_running(pid_t pid) {
  const std::string stat = contents_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") Z") != 0;
}

RunFixture::RunFixture() {
  // So that the next process listens where the first one does.
  std::string config = LeaseServer::config();
  const std::string any = "listen: 127.0.0.1:0";
  config.replace(config.find(any), any.size(),
                 fmt::format("listen: 127.0.0.1:{}", server_.process().port()));
  server_.set_config(config);
}

void RunFixture::restart_server() { server_.kill_and_restart(); }

std::string RunFixture::source() {
  return fmt::format("fenceline://127.0.0.1:{}", server_.process().port());
}

std::unique_ptr<ChildProcess> RunFixture::run(std::vector<std::string> options,
                                              const std::string& script) {
  std::vector<std::string> arguments = {"run", "--key", kKey, "--source", source()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", script});
  return fenceline(std::move(arguments));
}

std::unique_ptr<ChildProcess> RunFixture::fenceline(std::vector<std::string> arguments) {
  const char* binary = std::getenv("FENCELINE_BINARY");
  arguments.insert(arguments.begin(), binary == nullptr ? "FENCELINE_BINARY?" : binary);
  return std::make_unique<ChildProcess>(std::move(arguments),
                                        folder_.at("output-" + std::to_string(runs_++)),
                                        ChildProcess::Input::kFed);
}

void RunFixture::wait_for(const ChildProcess& process, const std::string& text) {
  try {
    wait_until("'" + text + "'", [&] { return process.output().find(text) != std::string::npos; });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() + std::string("; it said:\n") + process.output());
  }
}

pid_t RunFixture::number(const ChildProcess& process, const std::string& name) {
  // With the end of the line, so that the number is whole.
  const std::string prefix = name + "=";
  std::string output;
  wait_until("'" + prefix + "'", [&] {
    output = process.output();
    const std::size_t at = output.find(prefix);
    return at != std::string::npos && output.find('\n', at) != std::string::npos;
  });
  return static_cast<pid_t>(
      std::strtol(output.c_str() + output.find(prefix) + prefix.size(), nullptr, 10));
}

}  // namespace fenceline::testing
