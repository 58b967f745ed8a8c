#include "fencing/lease_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace fenceline::fencing {
namespace {

tl::unexpected<SqliteFailure> corrupt(const char* what) {
  return tl::unexpected(SqliteFailure{SQLITE_CORRUPT, 0, what});
}

}  // namespace

SqliteResult<LeaseTable> LeaseTable::prepare(SqliteConnection& connection) {
  LeaseTable table;
  table.database_ = connection.get();
  const std::pair<SqliteStatement*, std::string_view> statements[] = {
      {&table.last_token_, "SELECT last FROM lease_tokens"},
      {&table.store_token_,
       "INSERT INTO lease_tokens (only, last) VALUES (1, ?1) "
       "ON CONFLICT (only) DO UPDATE SET last = excluded.last"},
      {&table.owner_of_id_, "SELECT id FROM leases WHERE id = ?1"},
      {&table.owner_of_key_, "SELECT lease FROM lease_keys WHERE key = ?1"},
      {&table.add_,
       "INSERT INTO leases (id, token, holder, request_id, ttl_ms, lock_delay_ms) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"},
      {&table.add_key_, "INSERT INTO lease_keys (lease, key) VALUES (?1, ?2)"},
      {&table.drop_, "DELETE FROM leases WHERE id = ?1"},
      {&table.drop_keys_, "DELETE FROM lease_keys WHERE lease = ?1"},
      {&table.set_ttl_, "UPDATE leases SET ttl_ms = ?2 WHERE id = ?1"},
      {&table.put_delay_,
       "INSERT INTO lock_delays (key, delay_ms) VALUES (?1, ?2) "
       "ON CONFLICT (key) DO UPDATE SET delay_ms = excluded.delay_ms"},
      {&table.drop_delay_, "DELETE FROM lock_delays WHERE key = ?1"},
      // Left, so that a lease without a key is seen.
      {&table.all_leases_,
       "SELECT id, token, holder, request_id, ttl_ms, lock_delay_ms, key FROM leases "
       "LEFT JOIN lease_keys ON lease = id ORDER BY id, key"},
      {&table.all_delays_, "SELECT key, delay_ms FROM lock_delays ORDER BY key"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = connection.prepare(sql);
    if (!prepared) {
      return tl::unexpected(std::move(prepared.error()));
    }
    *statement = std::move(*prepared);
  }
  return table;
}

SqliteResult<LeaseTable::Applied> LeaseTable::apply(const LeaseChange& change, MarkTable& marks) {
  return std::visit(
      [this, &marks](const auto& order) {
        using Order = std::decay_t<decltype(order)>;
        if constexpr (std::is_same_v<Order, GrantOrder>) {
          return grant(order, marks);
        } else if constexpr (std::is_same_v<Order, EndOrder>) {
          return end(order, marks);
        } else {
          return change_ttl(order);
        }
      },
      change);
}

SqliteResult<LeaseTable::Applied> LeaseTable::grant(const GrantOrder& order, MarkTable& marks) {
  const auto conflict = conflicts(order);
  if (!conflict) {
    return tl::unexpected(conflict.error());
  }
  if (*conflict) {
    return Applied{tl::unexpected(granted_twice()), false};
  }
  auto token = take_token(order.lease.keys, order.lease.holder, order.above, marks);
  if (!token) {
    return tl::unexpected(std::move(token.error()));
  }
  if (!*token) {
    return Applied{std::move(*token), false};
  }
  if (const auto dropped = drop(order.ended, order.delays_over); !dropped) {
    return tl::unexpected(dropped.error());
  }
  if (const auto added = add(order.lease, **token); !added) {
    return tl::unexpected(added.error());
  }
  return Applied{std::move(*token), true};
}

SqliteResult<LeaseTable::Applied> LeaseTable::end(const EndOrder& order, MarkTable& marks) {
  Applied applied;
  if (!order.fenced.empty()) {
    auto token = take_token(order.fenced, {}, order.above, marks);
    if (!token) {
      return tl::unexpected(std::move(token.error()));
    }
    applied.answer = std::move(*token);
    if (!applied.answer) {
      return applied;
    }
    applied.changed = true;
  }
  const auto dropped = drop(order.ids, order.delays_over);
  if (!dropped) {
    return tl::unexpected(dropped.error());
  }
  for (const LockDelay& delay : order.delays) {
    if (const auto put = put_delay(delay); !put) {
      return tl::unexpected(put.error());
    }
  }
  applied.changed = applied.changed || *dropped || !order.delays.empty();
  return applied;
}

SqliteResult<LeaseTable::Applied> LeaseTable::change_ttl(const TtlOrder& order) {
  set_ttl_.bind_text(1, order.id);
  set_ttl_.bind_number(2, order.ttl.count());
  return run(set_ttl_).map([](bool changed) { return Applied{base::Token(), changed}; });
}

SqliteResult<bool> LeaseTable::conflicts(const GrantOrder& order) {
  const auto taken = [&order](SqliteStatement& owner, std::string_view of) -> SqliteResult<bool> {
    owner.bind_text(1, of);
    auto row = owner.step();
    if (!row || !*row) {
      return row;
    }
    const bool found = std::ranges::find(order.ended, owner.text(0)) == order.ended.end();
    owner.reset();
    return found;
  };
  auto conflict = taken(owner_of_id_, order.lease.id);
  for (const base::FenceKey& key : order.lease.keys) {
    if (!conflict || *conflict) {
      break;
    }
    conflict = taken(owner_of_key_, key.text());
  }
  return conflict;
}

SqliteResult<base::Result<base::Token>> LeaseTable::take_token(const Keys& keys,
                                                               std::string_view holder,
                                                               base::Token above,
                                                               MarkTable& marks) {
  const auto last = last_token();
  if (!last) {
    return tl::unexpected(last.error());
  }
  base::Token highest = std::max(*last, above);
  for (const base::FenceKey& key : keys) {
    const auto mark = marks.find(key.text());
    if (!mark) {
      return tl::unexpected(mark.error());
    }
    highest = std::max(highest, mark->token);
  }
  auto token = token_after(highest);
  if (!token) {
    return token;
  }
  if (const base::Token next = sequence_after(*last, *token); next != *last) {
    store_token_.bind_number(1, next.value());
    if (const auto stored = run(store_token_); !stored) {
      return tl::unexpected(stored.error());
    }
  }
  for (const base::FenceKey& key : keys) {
    const Mark mark{*token, std::string(holder)};
    if (const auto stored = marks.store(key.text(), mark); !stored) {
      return tl::unexpected(stored.error());
    }
  }
  return token;
}

SqliteResult<base::Token> LeaseTable::last_token() {
  const auto row = last_token_.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (!*row) {
    return base::Token();
  }
  const std::int64_t last = last_token_.number(0);
  last_token_.reset();
  if (last <= 0) {
    return corrupt("the last token of a lease is not positive");
  }
  // Earlier versions remembered every token.
  return base::Token::of(std::min(last, kHighestRemembered));
}

SqliteResult<void> LeaseTable::add(const Lease& lease, base::Token token) {
  add_.bind_text(1, lease.id);
  add_.bind_number(2, token.value());
  add_.bind_text(3, lease.holder);
  add_.bind_text(4, lease.request_id);
  add_.bind_number(5, lease.ttl.count());
  add_.bind_number(6, lease.lock_delay.count());
  if (const auto added = run(add_); !added) {
    return tl::unexpected(added.error());
  }
  for (const base::FenceKey& key : lease.keys) {
    add_key_.bind_text(1, lease.id);
    add_key_.bind_text(2, key.text());
    if (const auto added = run(add_key_); !added) {
      return tl::unexpected(added.error());
    }
  }
  return {};
}

SqliteResult<bool> LeaseTable::drop(const std::vector<std::string>& ids, const Keys& delays_over) {
  bool changed = false;
  const auto drop_one = [this, &changed](SqliteStatement& statement, std::string_view what) {
    statement.bind_text(1, what);
    return run(statement).map([&changed](bool dropped) { changed = changed || dropped; });
  };
  for (const std::string& id : ids) {
    for (SqliteStatement* statement : {&drop_, &drop_keys_}) {
      if (const auto dropped = drop_one(*statement, id); !dropped) {
        return tl::unexpected(dropped.error());
      }
    }
  }
  for (const base::FenceKey& key : delays_over) {
    if (const auto dropped = drop_one(drop_delay_, key.text()); !dropped) {
      return tl::unexpected(dropped.error());
    }
  }
  return changed;
}

SqliteResult<void> LeaseTable::put_delay(const LockDelay& delay) {
  put_delay_.bind_text(1, delay.key.text());
  put_delay_.bind_number(2, delay.delay.count());
  return run(put_delay_).map([](bool) {});
}

SqliteResult<LeaseRecords> LeaseTable::all() {
  auto leases = all_leases();
  if (!leases) {
    return tl::unexpected(std::move(leases.error()));
  }
  auto delays = all_delays();
  if (!delays) {
    return tl::unexpected(std::move(delays.error()));
  }
  return LeaseRecords{std::move(*leases), std::move(*delays)};
}

SqliteResult<std::vector<Lease>> LeaseTable::all_leases() {
  std::vector<Lease> leases;
  while (true) {
    const auto row = all_leases_.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      return leases;
    }
    auto key = base::FenceKey::parse(std::string(all_leases_.text(6)));
    const std::int64_t token = all_leases_.number(1);
    if (!key || token <= 0) {
      all_leases_.reset();
      return corrupt("a lease has no positive token or no valid key");
    }
    const std::string_view id = all_leases_.text(0);
    if (leases.empty() || leases.back().id != id) {
      Lease lease;
      lease.id = id;
      lease.token = base::Token::of(token);
      lease.holder = all_leases_.text(2);
      lease.request_id = all_leases_.text(3);
      lease.ttl = base::Milliseconds(all_leases_.number(4));
      lease.lock_delay = base::Milliseconds(all_leases_.number(5));
      leases.push_back(std::move(lease));
    }
    leases.back().keys.push_back(std::move(*key));
  }
}

SqliteResult<std::vector<LockDelay>> LeaseTable::all_delays() {
  std::vector<LockDelay> delays;
  while (true) {
    const auto row = all_delays_.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      return delays;
    }
    auto key = base::FenceKey::parse(std::string(all_delays_.text(0)));
    if (!key) {
      all_delays_.reset();
      return corrupt("a lock-delay has no valid key");
    }
    delays.push_back({std::move(*key), base::Milliseconds(all_delays_.number(1))});
  }
}

SqliteResult<bool> LeaseTable::run(SqliteStatement& statement) {
  const auto row = statement.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return sqlite3_changes(database_) > 0;
}

}  // namespace fenceline::fencing
