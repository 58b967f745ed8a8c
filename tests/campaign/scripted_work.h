#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/history.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {

/// The same requests each time: new and replaced files, takeovers, a zombie, deletes, fenced reads,
/// new directories, large bodies, and some at once. Their history is kept.
class ScriptedWork {
 public:
  /// `failed` is asked around every request; it says whether something was made to fail so far.
  ScriptedWork(FilesServer& server, std::function<bool()> failed);

  /// Does all of it. Throws if an answer is not in the contract, or if the server ends.
  void run();

  /// Reads everything, writes it again with newer tokens and reads that: a server without faults
  /// must do all of it. Throws if it does not.
  void run_without_faults();

  /// One request, and whether something had been made to fail before it, and by its end.
  struct Step {
    Operation operation;
    bool failed_before = false;
    bool failed_after = false;
    bool alone = true;  ///< No other request ran meanwhile.
  };

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] std::vector<Operation> history() const;

 private:
  Operation make(Operation::Kind kind, const std::string& name, std::int64_t token);
  void one(Operation::Kind kind, const std::string& name, std::int64_t token);
  void at_once(std::vector<Operation> operations);
  void perform(Operation& operation) const;

  FilesServer& server_;
  std::function<bool()> failed_;
  bool faults_ = true;
  std::int64_t clock_ = 0;
  std::int64_t next_value_ = 1;
  std::vector<Step> steps_;
};

}  // namespace fenceline::testing
