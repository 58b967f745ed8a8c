#pragma once

#include "config/config.h"
#include "config/guarantee.h"
#include "config/problem.h"

namespace fenceline::config {

/// Finds what is wrong between the parts of a configuration, each of which is right alone.
///
/// Does: reports, at the later of the two places and naming the earlier line,
///  - two routes with one name;
///  - matches that are equal, or that overlap with neither more specific;
///  - files roots inside one another, and one root under two routes unless both provably give the
///    same resource the same file and the same key, and sync alike (see `same_data.h`);
///  - one table of documents or one upstream under two routes with keys that are not provably the
///    same, base paths of one upstream inside one another, one database with two tables of marks;
///  - a ledger, a database or a TLS key inside a files root, where a client could overwrite or read
///    it; the ledger as a database;
///  - an admin listener that other machines reach without a token, or on the endpoint of `listen`;
///  - a body limit above what may be staged at all;
///  - a route that takes a path of the lease service; limits of leases that exclude each other;
///  - `require` above the guarantee that the route has.
/// Parts that could not be read (empty paths, no endpoint) are passed over: they were reported.
/// Concurrency: none of its own; `resolve` looks at the file system, and nothing else does.
void validate(const Config& config, const ResolvePath& resolve, Report& report);

}  // namespace fenceline::config
