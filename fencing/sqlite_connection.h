#pragma once

// The names of base's SQLite wrapper, as this room uses them.

#include "base/sqlite_connection.h"

namespace fenceline::fencing {

using base::Aftermath;
using base::aftermath_of;
using base::failure_of;
using base::SqliteConnection;
using base::SqliteFailure;
using base::SqliteResult;
using base::SqliteStatement;

}  // namespace fenceline::fencing
