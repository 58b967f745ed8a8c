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

/// What a store cannot keep to because it is somebody else's server, which does it its own way.
struct StoreLimits {
  bool keeps_stamps = true;
  bool keeps_content_type = true;
  bool tells_tags = true;           ///< In the answer to a PUT.
  bool tells_creations = true;      ///< 201 for what is new, 204 for what was there.
  bool decides_in_one_step = true;  ///< The client's conditions with the effect, on PUT and DELETE.
  bool only_get_has_ranges = true;  ///< As RFC 9110 has it; false: HEAD has them too.
};

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

  [[nodiscard]] virtual StoreLimits limits() const { return {}; }
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
  [[nodiscard]] StoreLimits limits() const { return fixture_->limits(); }

  /// The status of a PUT of what was not there.
  [[nodiscard]] int created() const { return limits().tells_creations ? 201 : 204; }

  /// The entity tag of what is there; every store gives one to reads.
  std::string tag_of(const std::string& name) { return get(backend(), name).field("ETag"); }

 private:
  std::unique_ptr<BackendFixture> fixture_;
};

/// The part for stores that give each write a tag of its own, also of as many bytes in the same
/// second, and decide the client's conditions in one step with the effect, on PUT and DELETE.
/// nginx, written by MOVE, does neither: its tags are made of time and size, `Overwrite: F` is
/// looked at before the MOVE, and a DELETE with conditions is one without.
class VersionContract : public BackendContract {};

}  // namespace fenceline::testing
