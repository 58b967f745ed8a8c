#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "fencing/ledger.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// One implementation of Ledger, as the contract suite needs to know it.
struct LedgerMaker {
  std::string name;
  /// Opens the ledger whose files are in `folder`; a durable one finds there what it had before.
  std::function<std::unique_ptr<fencing::Ledger>(const std::filesystem::path& folder)> open;
  bool durable = false;
};

/// What every ledger must do (fencing/ledger.h). Instantiate with one maker per implementation.
class LedgerContract : public ::testing::TestWithParam<LedgerMaker> {
 protected:
  LedgerContract() { reopen(); }

  /// Closes the ledger and opens it again.
  void reopen() {
    ledger_.reset();
    ledger_ = GetParam().open(folder_.path());
  }

  fencing::Ledger& ledger() { return *ledger_; }

  TempFolder folder_;
  std::unique_ptr<fencing::Ledger> ledger_;
};

}  // namespace fenceline::testing
