#include "tests/campaign/preload.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "tests/support/child_process.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kFails = " fails ";

ServerProcess::Environment preloaded() {
  const char* asan = std::getenv("ASAN_OPTIONS");
  // Our library comes before the sanitizer's, and is made for that.
  return {fmt::format("LD_PRELOAD={}", FENCELINE_PRELOAD),
          fmt::format("ASAN_OPTIONS={}:verify_asan_link_order=0", asan == nullptr ? "" : asan)};
}

}  // namespace

std::string text_of(const Injection& injection) {
  return fmt::format("{}:{}:{}", kCallNames[static_cast<std::size_t>(injection.call)], injection.n,
                     injection.what);
}

Injection injection_of(const std::string& text) {
  const auto call = static_cast<std::size_t>(std::distance(
      std::begin(kCallNames), std::ranges::find(kCallNames, text.substr(0, text.find(':')))));
  const std::size_t last = text.rfind(':');
  Injection injection{static_cast<Call>(call),
                      std::strtoul(text.c_str() + text.find(':') + 1, nullptr, 10),
                      text.substr(last + 1)};
  if (call == kCalls || text_of(injection) != text) {
    throw std::runtime_error("'" + text + "' is no injection, such as fsync:3:EIO");
  }
  return injection;
}

ServerProcess::Environment CallRecorder::environment() const {
  std::filesystem::remove(log_);
  ServerProcess::Environment variables = preloaded();
  variables.push_back("FENCELINE_FAULT_UNDER=" + folder_);
  variables.push_back("FENCELINE_FAULT_LOG=" + log_);
  return variables;
}

ServerProcess::Environment CallRecorder::environment(const Injection& injection) const {
  ServerProcess::Environment variables = environment();
  variables.push_back("FENCELINE_FAULT=" + text_of(injection));
  return variables;
}

std::map<Call, std::size_t> CallRecorder::counts() const {
  std::map<Call, std::size_t> counts;
  std::istringstream lines(contents_of(log_));
  for (std::string line; std::getline(lines, line);) {
    const auto* const name = std::ranges::find(kCallNames, line.substr(0, line.find(' ')));
    if (name == std::end(kCallNames)) {
      throw std::runtime_error("not a line of a call: " + line);
    }
    ++counts[static_cast<Call>(std::distance(std::begin(kCallNames), name))];
  }
  return counts;
}

std::string CallRecorder::failed_path() const {
  const std::string log = contents_of(log_);
  const std::size_t at = log.find(kFails);
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t begin = at + kFails.size();
  return log.substr(begin, log.find('\n', begin) - begin);
}

bool CallRecorder::worked_later(Call call) const {
  const std::string log = contents_of(log_);
  const std::string path = " works " + failed_path() + "\n";
  std::istringstream lines(log.substr(std::min(log.size(), log.find(kFails))));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(fmt::format("{} ", kCallNames[static_cast<std::size_t>(call)])) &&
        (line + "\n").ends_with(path)) {
      return true;
    }
  }
  return false;
}

WallClock::WallClock(std::string file) : file_(std::move(file)) {
  std::ofstream(file_) << std::string(sizeof(*offset_ns_), '\0') << std::flush;
  const base::UniqueFd fd(::open(file_.c_str(), O_RDWR | O_CLOEXEC));
  void* memory =
      ::mmap(nullptr, sizeof(*offset_ns_), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), file_);
  }
  offset_ns_ = static_cast<std::atomic<std::int64_t>*>(memory);
}

WallClock::~WallClock() { ::munmap(offset_ns_, sizeof(*offset_ns_)); }

ServerProcess::Environment WallClock::environment() const {
  ServerProcess::Environment variables = preloaded();
  variables.push_back("FENCELINE_CLOCK=" + file_);
  return variables;
}

void WallClock::jump_to(std::chrono::seconds from_real_time) {
  offset_ns_->store(std::chrono::nanoseconds(from_real_time).count());
}

}  // namespace fenceline::testing
