#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// `application_id` of a ledger: "FENC".
inline constexpr std::int32_t kLedgerApplicationId = 0x46454E43;

/// `user_version` of the format that this program writes. 1: marks and identity; 2: also the audit
/// of resets; 3: also intents; 4: also leases and kept answers.
inline constexpr std::int32_t kLedgerFormat = 4;

/// Page size of a ledger, and so the size of the smallest one.
inline constexpr std::int32_t kLedgerPageBytes = 4096;

/// Files up to this size are checked page by page when they are opened (well under a second); a
/// larger one shows its damage when the damaged page is read.
inline constexpr std::uintmax_t kFullyCheckedBytes = 64U << 20U;

/// What is read of a ledger when it is opened.
struct LedgerContents {
  std::string identity;   ///< See `Ledger::identity`.
  bool no_marks = false;  ///< Not one key has a mark.
  /// The format it had until this opening brought it to `kLedgerFormat`; 0 if it had that already.
  std::int32_t upgraded_from = 0;
};

/// Writes a complete, empty ledger with an identity of its own to the file at `path`, which must
/// not exist. Durable, but for the name in its folder.
SqliteResult<void> write_empty_ledger(const std::string& path);

/// Checks that what `connection` has open is a ledger of a format this program knows, the present
/// one or an older one, and sound.
///
/// Does: reads only. `path` is for the messages. Success: its format.
/// Failure: `kLedgerUnavailable`: held by another process, not a SQLite database, a database of
/// another program, a format of a newer version, tables or an identity that are not ours, damaged.
base::Result<std::int32_t> check_ledger_format(SqliteConnection& connection,
                                               const std::string& path);

/// Brings a ledger of the format `from`, which has been checked, to the present one: in one
/// durable transaction, so that a crash leaves the one or the other. Marks stay as they are.
SqliteResult<void> upgrade_ledger(SqliteConnection& connection, std::int32_t from);

/// Reads what `connection` has open, which has been checked and made durable.
/// Failure: as `check_ledger_format`.
base::Result<LedgerContents> read_ledger_contents(SqliteConnection& connection,
                                                  const std::string& path);

/// The error of a ledger file that cannot be opened: the file, what failed, why.
base::Error cannot_open(const std::string& path, const SqliteFailure& failure);

}  // namespace fenceline::fencing
