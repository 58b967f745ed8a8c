#include "tests/campaign/scripted_work.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <future>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tests/system/recorded_request.h"

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

// Larger than the server's buffer for a body, so that a file takes several writes.
constexpr std::size_t kMostBytes = 300'000;
constexpr std::array<const char*, 5> kNames = {"a/file-0", "a/file-1", "a/file-2",
                                               "b/deep/er/file-3", "b/file-4"};

}  // namespace

ScriptedWork::ScriptedWork(FilesServer& server, std::function<bool()> failed)
    : server_(server), failed_(std::move(failed)) {}

void ScriptedWork::run() {
  one(Kind::kWrite, "a/file-0", 5);
  one(Kind::kWrite, "a/file-0", 5);
  one(Kind::kWrite, "a/file-1", 6);
  one(Kind::kWrite, "a/file-0", 5);
  one(Kind::kRead, "a/file-0", 7);
  one(Kind::kWrite, "b/deep/er/file-3", 3);
  one(Kind::kWrite, "b/deep/er/file-3", 3);
  one(Kind::kDelete, "a/file-1", 7);
  one(Kind::kDelete, "b/deep/er/file-3", 4);
  one(Kind::kWrite, "b/deep/er/file-3", 4);
  at_once({make(Kind::kWrite, "a/file-0", 8), make(Kind::kWrite, "a/file-1", 8),
           make(Kind::kWrite, "a/file-2", 8), make(Kind::kWrite, "b/file-4", 5),
           make(Kind::kWrite, "a/file-2", 9)});
  one(Kind::kWrite, "b/file-4", 6);
  one(Kind::kDelete, "a/file-2", 10);
  at_once({make(Kind::kWrite, "a/file-1", 10), make(Kind::kDelete, "b/deep/er/file-3", 7),
           make(Kind::kWrite, "a/file-2", 11), make(Kind::kRead, "a/file-2", 11),
           make(Kind::kWrite, "b/file-4", 6)});
  one(Kind::kWrite, "b/deep/er/file-3", 8);
  one(Kind::kWrite, "a/file-0", 12);
  one(Kind::kWrite, "a/file-0", 12);
  one(Kind::kWrite, "a/file-1", 11);
  for (const char* name : kNames) {
    one(Kind::kRead, name, 0);
  }
}

void ScriptedWork::run_without_faults() {
  faults_ = false;
  for (const std::int64_t token : {0, 20}) {
    for (const char* name : kNames) {
      one(Kind::kRead, name, token);
    }
  }
  for (const char* name : kNames) {
    one(Kind::kWrite, name, 21);
    if (steps_.back().operation.outcome != Outcome::kDone) {
      throw std::runtime_error("after a restart: " + text_of(steps_.back().operation));
    }
    one(Kind::kRead, name, 0);
  }
}

Operation ScriptedWork::make(Kind kind, const std::string& name, std::int64_t token) {
  Operation operation;
  operation.kind = kind;
  operation.key = "exports/" + name.substr(0, name.find('/'));
  operation.resource = "exports/" + name;
  operation.token = token;
  operation.value = kind == Kind::kWrite ? next_value_++ : 0;
  operation.start = ++clock_;
  return operation;
}

void ScriptedWork::one(Kind kind, const std::string& name, std::int64_t token) {
  Step step;
  step.failed_before = failed_();
  step.operation = make(kind, name, token);
  perform(step.operation);
  step.operation.end = ++clock_;
  step.failed_after = failed_();
  steps_.push_back(std::move(step));
}

void ScriptedWork::at_once(std::vector<Operation> operations) {
  const bool failed_before = failed_();
  std::vector<std::future<void>> running;
  running.reserve(operations.size());
  for (Operation& operation : operations) {
    running.push_back(std::async(std::launch::async, [&] { perform(operation); }));
  }
  // All of them end before one is allowed to throw: they use `operations`.
  for (const std::future<void>& each : running) {
    each.wait();
  }
  for (std::future<void>& each : running) {
    each.get();
  }
  const bool failed_after = failed_();
  for (Operation& operation : operations) {
    operation.end = ++clock_;
    steps_.push_back({std::move(operation), failed_before, failed_after, false});
  }
}

void ScriptedWork::perform(Operation& operation) const {
  const std::string request = request_of(operation, kMostBytes);
  Response answer;
  try {
    RawClient client(server_.process().port());
    client.send_as_far_as_possible(request);
    answer = client.receive();
  } catch (const ClientError&) {
    // A read that fails in the middle of its content is cut off; then it says nothing.
    if (!faults_ || operation.kind != Kind::kRead) {
      throw;
    }
    operation.outcome = Outcome::kUnknown;
    return;
  }
  if (!understand(answer, operation, kMostBytes,
                  faults_ ? Trouble::kStorageMayFail : Trouble::kNone)) {
    throw std::runtime_error(fmt::format("{} was answered {}: {}",
                                         request.substr(0, request.find('\r')), answer.status,
                                         answer.body));
  }
}

std::vector<Operation> ScriptedWork::history() const {
  std::vector<Operation> history;
  for (const Step& step : steps_) {
    history.push_back(step.operation);
  }
  return history;
}

}  // namespace fenceline::testing
