#include "tests/system/store.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"

namespace fenceline::testing {
namespace {

class FixedStore final : public Store {
 public:
  explicit FixedStore(std::string backend) : backend_(std::move(backend)) {}
  [[nodiscard]] std::string backend() const override { return backend_; }

 private:
  std::string backend_;
};

/// An upstream of Debian's packages, with the lines of the route that follow its URL.
class UpstreamStore final : public Store {
 public:
  UpstreamStore(UpstreamKind kind, std::string settings)
      : kind_(kind), upstream_(kind), settings_(std::move(settings)) {}

  [[nodiscard]] std::string backend() const override {
    return fmt::format("    http: {{upstream: \"http://127.0.0.1:{}\", {}}}\n", upstream_.port(),
                       settings_);
  }
  void add_tenant(const std::string& tenant) override {
    // Apache has no collection that nobody has made; its processes are not root.
    std::filesystem::create_directories(upstream_.root() / tenant);
    std::filesystem::permissions(upstream_.root() / tenant, std::filesystem::perms::all);
  }
  [[nodiscard]] bool is_somebody_elses() const override { return true; }
  void kill_and_restart() override {
    upstream_.stop();
    upstream_.start();
  }
  [[nodiscard]] bool can_be_paused() const override { return true; }
  void pause() override { upstream_.pause(); }
  void resume() override { upstream_.resume(); }

  [[nodiscard]] bool tears() const override { return kind_ == UpstreamKind::kApache; }

 private:
  UpstreamKind kind_;
  RealUpstream upstream_;
  std::string settings_;
};

/// Our own, which does conditions rightly.
class ConditionalStore final : public Store {
 public:
  [[nodiscard]] bool is_somebody_elses() const override { return true; }
  [[nodiscard]] std::string backend() const override {
    return fmt::format(
        "    http: {{upstream: \"http://127.0.0.1:{}\", commit: conditional, settle: 3s}}\n",
        upstream_.port());
  }

 private:
  ConditionalUpstream upstream_;
};

StoreCase upstream(std::string name, UpstreamKind kind, std::string settings) {
  return {std::move(name), [kind, settings = std::move(settings)] {
            return std::make_unique<UpstreamStore>(kind, settings);
          }};
}

StoreCase fixed(std::string name, std::string backend) {
  return {std::move(name),
          [backend = std::move(backend)] { return std::make_unique<FixedStore>(backend); }};
}

}  // namespace

std::vector<StoreCase> all_stores() {
  return {fixed("Files", "    files: {root: exports}\n"),
          fixed("Sqlite", "    sqlite: {database: data/exports.db}\n"),
          upstream("NginxByMove", UpstreamKind::kNginx, "commit: auto, settle: 3s, timeout: 2s"),
          upstream("NginxPlain", UpstreamKind::kNginx, "commit: plain, settle: 3s, timeout: 2s"),
          upstream("ApachePlain", UpstreamKind::kApache, "commit: auto, settle: 3s, timeout: 2s"),
          {"Conditional", [] { return std::make_unique<ConditionalStore>(); }}};
}

std::string config_over(const Store& store) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
{})",
                     store.backend());
}

}  // namespace fenceline::testing
