#pragma once

// The one suite that every backend must pass. A backend takes part with one line in
// backend_contract_test.cc: INSTANTIATE_TEST_SUITE_P(…, BackendContract, Values(BackendCase{…})).

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "backends/backend.h"
#include "tests/support/backend_driver.h"

namespace fenceline::testing {

/// An empty store with a backend in front, and whatever else both need to live.
class BackendFixture {
 public:
  BackendFixture() = default;
  BackendFixture(const BackendFixture&) = delete;
  BackendFixture& operator=(const BackendFixture&) = delete;
  virtual ~BackendFixture() = default;

  virtual backends::Backend& backend() = 0;

  /// True if nothing of a write is left that was never committed, anywhere in the store.
  virtual bool is_free_of_leftovers() = 0;
};

struct BackendCase {
  std::string name;
  std::function<std::unique_ptr<BackendFixture>()> make;

  friend std::ostream& operator<<(std::ostream& out, const BackendCase& backend_case) {
    return out << backend_case.name;
  }
};

class BackendContract : public ::testing::TestWithParam<BackendCase> {
 protected:
  BackendContract() : fixture_(GetParam().make()) {}

  backends::Backend& backend() { return fixture_->backend(); }
  BackendFixture& fixture() { return *fixture_; }

 private:
  std::unique_ptr<BackendFixture> fixture_;
};

}  // namespace fenceline::testing
