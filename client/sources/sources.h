#pragma once

// The makers of the sources, one file each; `make_source` chooses by scheme.

#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "client/source_url.h"
#include "client/token_source.h"

namespace fenceline::client {

using MadeSource = base::Result<std::unique_ptr<TokenSource>>;

/// The lease service of a fenceline server; `url.scheme` is `fenceline` or `fencelines` (TLS).
MadeSource make_fenceline_source(SourceUrl url, const base::Clock& clock);

/// One Redis server; `redis`, or `rediss` (TLS).
MadeSource make_redis_source(SourceUrl url, const base::Clock& clock);

/// N independent Redis servers, with a token by majority; `redlock` or `redlocks`.
MadeSource make_redlock_source(SourceUrl url, const base::Clock& clock);

/// An etcd cluster over its JSON gateway; `etcd` or `etcds`.
MadeSource make_etcd_source(SourceUrl url, const base::Clock& clock);

/// A ZooKeeper ensemble; `zookeeper`.
MadeSource make_zookeeper_source(SourceUrl url, const base::Clock& clock);

/// A PostgreSQL database; `text` is the whole URL, which libpq reads.
MadeSource make_postgres_source(std::string_view text, const base::Clock& clock);

}  // namespace fenceline::client
