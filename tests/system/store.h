#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace fenceline::testing {

/// What stands behind the route of a story, with the servers that it needs.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// The lines of the route's backend, indented by four.
  [[nodiscard]] virtual std::string backend() const = 0;

  /// A place for the resources of this tenant, where the store wants one.
  virtual void add_tenant(const std::string& /*tenant*/) {}

  /// True if a write may have an unknown outcome, and newer ones wait for it.
  [[nodiscard]] virtual bool is_somebody_elses() const { return false; }

  /// True if it writes in place, so that a read beside a write may see a part of it.
  [[nodiscard]] virtual bool tears() const { return false; }

  /// Ends the servers behind it with SIGKILL and starts them again over the same data; nothing
  /// where there is none.
  virtual void kill_and_restart() {}
  [[nodiscard]] virtual bool can_be_paused() const { return false; }
  /// SIGSTOP and SIGCONT to them.
  virtual void pause() {}
  virtual void resume() {}
};

struct StoreCase {
  std::string name;
  std::function<std::unique_ptr<Store>()> make;

  friend std::ostream& operator<<(std::ostream& out, const StoreCase& store_case) {
    return out << store_case.name;
  }
};

/// Every kind of store.
std::vector<StoreCase> all_stores();

/// A configuration with one route, `/exports/{tenant}/{path...}`, whose fence is
/// `exports/{tenant}`, over a store.
std::string config_over(const Store& store);

}  // namespace fenceline::testing
