#include "tests/client/fenceline_server.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::testing {

FencelineServer::FencelineServer(std::string leases) : leases_(std::move(leases)) {
  restart();
  port_ = process_->port();
}

std::string FencelineServer::url() const { return fmt::format("fenceline://127.0.0.1:{}", port_); }

void FencelineServer::restart() {
  process_.reset();
  process_.emplace(folder_.path().string(), fmt::format(R"(
listen: 127.0.0.1:{}
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
leases: {}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: exports, sync: none}}
)",
                                                        port_, leases_));
}

}  // namespace fenceline::testing
