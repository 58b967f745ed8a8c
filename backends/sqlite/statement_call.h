#pragma once

// From a POST to the run of a named statement.

#include <memory>
#include <string_view>

#include "backends/backend.h"
#include "backends/sqlite/reading.h"
#include "backends/sqlite/store.h"

namespace fenceline::backends::sqlite {

/// The statement whose name is the last segment of `path`, which is not decoded yet; null if there
/// is none. For the moment before the router's name is there.
const NamedStatement* statement_in_path(const Store& store, std::string_view path);

/// Reads the parameters of a call: the JSON members of the body, and what the route's pattern took
/// from the path, for each name that the statement has.
/// Failure: those of the body and of `parse_parameters`; `kNotFound` if there is no such statement;
/// `kMalformedRequest` that names the parameters that are missing, unknown, or given in the body
/// although the path gives them; for conditions and for content that is encoded.
struct StatementCall {
  std::shared_ptr<const NamedStatement> statement;
  Parameters parameters;
};
base::Awaitable<base::Result<StatementCall>> take_call(std::shared_ptr<Store> store,
                                                       ResourceRequest request,
                                                       base::BodySource* body);

/// The job of a call that reads.
base::Result<std::shared_ptr<ReadJob>> read_call(const Store& store, StatementCall call);

/// Takes a call up to its commit, as `Backend::stage` says.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_call(std::shared_ptr<Store> store,
                                                                       ResourceRequest request,
                                                                       base::BodySource& body,
                                                                       base::Stamp stamp);

}  // namespace fenceline::backends::sqlite
