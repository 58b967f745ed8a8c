#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/client/source_server.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// The lease service of the real binary, for the contract of token sources.
class FencelineServer final : public SourceServer {
 public:
  /// `leases`: the section, in braces.
  explicit FencelineServer(std::string leases = "{min_ttl: 100ms}");

  [[nodiscard]] std::string url() const override;
  void kill() override { process_.reset(); }
  void restart() override;
  [[nodiscard]] bool is_fair() const override { return true; }

 private:
  const std::string leases_;
  TempFolder folder_;
  std::uint16_t port_ = 0;
  std::optional<ServerProcess> process_;
};

}  // namespace fenceline::testing
