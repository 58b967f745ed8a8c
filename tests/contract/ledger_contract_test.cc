#include "tests/contract/ledger_contract.h"

#include <gtest/gtest.h>

#include <utility>

#include "fencing/sqlite_ledger.h"

namespace fenceline::testing {
namespace {

const LedgerMaker kMemory{
    "Memory", [](const std::filesystem::path&) { return fencing::make_memory_ledger(); }, false};

const LedgerMaker kSqlite{"Sqlite",
                          [](const std::filesystem::path& folder) {
                            fencing::SqliteLedgerOptions options;
                            options.path = folder / "ledger.db";
                            auto ledger = fencing::open_sqlite_ledger(std::move(options));
                            return std::move(ledger.value());
                          },
                          true};

// One raise per commit and nothing shared: the answers must not depend on the grouping.
const LedgerMaker kSqliteUngrouped{"SqliteUngrouped",
                                   [](const std::filesystem::path& folder) {
                                     fencing::SqliteLedgerOptions options;
                                     options.path = folder / "ledger.db";
                                     options.max_group = 1;
                                     auto ledger = fencing::open_sqlite_ledger(std::move(options));
                                     return std::move(ledger.value());
                                   },
                                   true};

INSTANTIATE_TEST_SUITE_P(Every, LedgerContract,
                         ::testing::Values(kMemory, kSqlite, kSqliteUngrouped),
                         [](const auto& maker) { return maker.param.name; });

}  // namespace
}  // namespace fenceline::testing
