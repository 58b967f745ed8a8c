#include "client/sources/postgres/lease_sql.h"

#include <fmt/format.h>

namespace fenceline::client {
namespace {

// `expires` of a lease that was given back is the epoch and not now: now would be in the future
// again if the server's clock is set back.
constexpr std::string_view kAcquire = R"(
WITH taken AS (
  INSERT INTO {0} AS l (key, token, attempt, holder, expires)
  VALUES ($1, 1, $2, $3, clock_timestamp() + $4::bigint * interval '1 millisecond')
  ON CONFLICT (key) DO UPDATE SET
    token = CASE WHEN l.attempt = $2 AND l.expires > clock_timestamp()
                 THEN l.token ELSE l.token + 1 END,
    attempt = $2, holder = $3,
    expires = clock_timestamp() + $4::bigint * interval '1 millisecond'
  WHERE l.expires <= clock_timestamp() OR l.attempt = $2
  RETURNING token)
SELECT true, token, '', 0::bigint FROM taken
UNION ALL
SELECT false, token, holder,
       ceil(extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint
  FROM {0} WHERE key = $1 AND NOT EXISTS (SELECT FROM taken))";

constexpr std::string_view kSetup = R"(
SELECT current_setting('fsync'), current_setting('full_page_writes'),
       current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
       (SELECT count(*) FROM pg_stat_replication), pg_is_in_recovery(),
       (SELECT relpersistence FROM pg_class WHERE oid = to_regclass($1)))";

}  // namespace

LeaseSql make_lease_sql(std::string_view table) {
  LeaseSql sql;
  sql.create = fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (key text COLLATE \"C\" PRIMARY KEY, token bigint NOT NULL, "
      "attempt text NOT NULL, holder text NOT NULL, expires timestamptz NOT NULL)",
      table);
  sql.acquire = fmt::format(kAcquire, table);
  sql.renew = fmt::format(
      "UPDATE {} SET expires = greatest(expires, clock_timestamp() + $4::bigint * interval "
      "'1 millisecond') WHERE key = $1 AND attempt = $2 AND token = $3::bigint AND expires > "
      "clock_timestamp() RETURNING true",
      table);
  sql.release = fmt::format(
      "UPDATE {} SET expires = 'epoch' WHERE key = $1 AND attempt = $2 AND token = $3::bigint AND "
      "expires > clock_timestamp() RETURNING true",
      table);
  sql.give_back =
      fmt::format("UPDATE {} SET expires = 'epoch' WHERE key = $1 AND attempt = $2", table);
  sql.was_released = fmt::format(
      "SELECT true FROM {} WHERE key = $1 AND attempt = $2 AND token = $3::bigint AND expires = "
      "'epoch'",
      table);
  sql.show = fmt::format(
      "SELECT token, holder, ceil(extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint "
      "FROM {} WHERE key = $1 AND expires > clock_timestamp()",
      table);
  sql.setup = std::string(kSetup);
  return sql;
}

}  // namespace fenceline::client
