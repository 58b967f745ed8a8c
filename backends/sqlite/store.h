#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/sqlite/database.h"
#include "backends/sqlite/document_table.h"
#include "backends/sqlite/etag.h"
#include "backends/sqlite/statement.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/worker_pool.h"

namespace fenceline::backends::sqlite {

/// What the reads and writes of one backend share. Held by each of them that is under way on
/// another thread. Thread-safe.
struct Store {
  std::shared_ptr<Database> database;
  base::WorkerPool& pool;
  std::shared_ptr<const DocumentTable> documents;  ///< Null: the route has none.
  std::map<std::string, std::shared_ptr<const NamedStatement>, std::less<>> statements;
  std::size_t max_body_bytes = 0;
  base::Milliseconds statement_timeout;
  bool keeps_answers = false;
  std::unique_ptr<TagSource> tags;
};

/// Checks the name of a document before any SQL sees it.
/// Failure: `kMalformedRequest` for what the router should have refused (an empty or dot segment,
/// a NUL byte, text that is not UTF-8), `kTargetTooLong` above 4096 bytes. Pure.
base::Result<void> check_name(std::string_view name);

/// True if a request could name it. Pure.
bool can_be_named(std::string_view name);

}  // namespace fenceline::backends::sqlite
